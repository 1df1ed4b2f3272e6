/** Exports of the small ledger, and what their folders hold. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import { Database } from "../../src/Database.ts"
import type { ExportScope } from "../../src/Export/Request/ExportScope.ts"
import type { ExportRequest } from "../../src/Export/Request.ts"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { assignNumbers, partner, post } from "./Books.ts"

export const september: ExportScope = { kind: "period", period: "2026-09" }
export const october: ExportScope = { kind: "period", period: "2026-10" }
export const all: ExportScope = { kind: "all" }
export const range = (from: string, to: string): ExportScope => ({ kind: "range", from, to })

export const client = (last: number): string => `66666666-0000-4000-8000-${String(last).padStart(12, "0")}`

const { accounting, chart } = decodeUnknownSync(Content)({})

/** Valuation in EUR by the default settings. */
export const base = { baseCurrency: "EUR", settings: accounting.valuation, chart }

export const ecbRate = (date: string, rate: string) => ({ date, from: "USD", to: "EUR", rate, source: "ECB" })

/** Why an effect fails. Where it does not, the test says so without printing a whole batch. */
export const failureOf = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.flip(Effect.asVoid(effect))

/** Settings with which every format takes the months of `postMonths` in dollars. */
export const formatSettings = decodeUnknownSync(Content)({
  formats: { leaveOut: ["JPY", "USDT"], datev: { consultant: 1001, client: 1 } },
}).formats

/** Stablecoins are left out for systems that do not know them. */
const tables = {
  settings: decodeUnknownSync(Content)({ formats: { leaveOut: ["USDT"] } }).formats,
  baseCurrency: "EUR",
}

export const exporting =
  (book: string, out: string) =>
  (scope: ExportScope, formats: ReadonlyArray<string>, more: Partial<ExportRequest> = {}) =>
    Export.run({
      ...{ formats, scope, out, tables, connection: Option.none(), book: Option.some(book), who: "jane" },
      ...more,
    })

export const deposit = Effect.fnUntraced(function* (bookId: number, date: string, amount = "7.00") {
  yield* post(bookId, {
    ...{ date, kind: "deposit", partner: partner.usd, cash: amount, description: "Late" },
    lines: [
      ["cash", "", "USD", amount],
      ["deposits_clearing", "", "USD", `-${amount}`],
    ],
  })
  yield* assignNumbers(bookId)
})

/** Journal numbers in the rows of all of a batch's qbo files. */
export const imported = (folder: string): ReadonlyArray<string> => [
  ...new Set(
    readdirSync(folder)
      .filter((name) => name.startsWith("qbo"))
      .flatMap((name) => readFileSync(join(folder, name), "utf8").split(/\r?\n/).slice(1))
      .map((line) => line.split(",")[0] ?? "")
      .filter((number) => number !== ""),
  ),
]

export const states = Effect.fnUntraced(function* (bookId: number) {
  const database = yield* Database
  const rows = yield* database.query(
    "Test.states",
    (sql) => sql<Array<{ batch: number; state: string; through: bigint }>>`
      select b.batch, export.batch_state(b.book_id, b.batch) as state
      from export.batches b where b.book_id = ${bookId} order by b.batch`,
  )
  return rows.map(({ batch, state }) => `${batch} ${state}`)
})

export const everything = (folder: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(folder)
      .sort()
      .map((name) => [name, readFileSync(join(folder, name), "base64")]),
  )
