/** Exports of every kind; each batch is verified from its files. */
import { Effect, Option } from "effect"
import type { Book } from "../../../src/Book.ts"
import { Database } from "../../../src/Database.ts"
import type { ExportRequest } from "../../../src/Export/Request.ts"
import * as Export from "../../../src/Export.ts"
import { Ledger } from "../../../src/Ledger.ts"
import { Settings } from "../../../src/Settings.ts"
import * as Verify from "../../../src/Verify.ts"
import type { Operation } from "../History.ts"
import type { Site } from "../Site.ts"

/** A defect: a batch does not verify. */
class Unverified extends Error {}

/** The database's clock: what was recorded before it counts as recorded. */
const now = Effect.flatMap(Database, (database) =>
  database.query(
    "Campaign.now",
    (sql) => sql<Array<{ now: string }>>`
      select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
  ),
).pipe(Effect.map(([row]) => row?.now ?? ""))

const numbered = (site: Site, books: ReadonlyArray<Book>) =>
  Effect.gen(function* () {
    const database = yield* Database
    const ledger = yield* Ledger
    yield* database
      .withSessionLock(`sync:${site.connection}`, ledger.assignNumbers(books))
      .pipe(Effect.catchTag("LockBusy", () => Effect.void))
  })

const currencies = ["EUR", "GBP", "JPY", "USD", "USDC", "USDT"]

/** Currencies that a system's files refuse, and that are therefore left out. */
const lackedBy = (format: string, baseCurrency: string): ReadonlyArray<string> => {
  if (format === "xero") return currencies.filter((currency) => currency !== baseCurrency)
  return format === "qbo" || format === "datev" ? ["USDC", "USDT"] : []
}

type Asked = Omit<Extract<Operation, { readonly do: "export" }>, "do">

export const exportBooks = (site: Site, books: ReadonlyArray<Book>, { days, format, kind }: Asked) =>
  Effect.gen(function* () {
    if (books.length === 0) return "no books"
    const { accounting, chart, formats } = yield* Settings
    const { baseCurrency, timeZone, valuation } = accounting
    const [, moment] = [site.moments.push(yield* now), site.moments[0]]
    yield* numbered(site, books)
    const base: Partial<ExportRequest> =
      kind === "base" ? { base: { baseCurrency, settings: valuation, chart } } : {}
    const then: Partial<ExportRequest> =
      kind === "as-of" && moment !== undefined ? { asOf: { kind: "moment", text: moment } } : {}
    const { batches } = yield* Export.run({
      ...{ formats: [format], connection: Option.some(site.connection), book: Option.none(), out: site.out },
      ...{
        scope:
          days === undefined
            ? { kind: kind === "since-last" ? "since-last" : "all" }
            : { kind: "range", ...days },
        who: "jane",
        keepFiles: false,
        timeZone,
      },
      ...{ tables: { settings: { ...formats, leaveOut: lackedBy(format, baseCurrency) }, baseCurrency } },
      ...{ again: kind === "again", ...base, ...then },
    })
    for (const { folder } of batches) {
      const { ok, problems } = yield* Verify.run(folder)
      if (!ok) {
        const told = problems.map((problem) => JSON.stringify(problem)).join(", ")
        return yield* Effect.die(new Unverified(`the ${kind} export ${format} does not verify: ${told}`))
      }
    }
    return `${batches.length} batches`
  }).pipe(Effect.provide(site.services))
