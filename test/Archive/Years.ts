/** Three years of one book of a small service, closed month by month, and the questions that are asked before and after a year is archived. */
import { createHash } from "node:crypto"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { Effect, Option } from "effect"
import { decodeSync } from "effect/Schema"
import { type ArchiveRequest, archive } from "../../src/Archive.ts"
import type { ExportScope } from "../../src/Export/Request/ExportScope.ts"
import * as Export from "../../src/Export.ts"
import { reclassify } from "../../src/Reclassify.ts"
import { report } from "../../src/Report.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { closing } from "../Close/Months.ts"
import { base } from "../Export/Exporting.ts"
import { credit, debit, deposit, id, partnership, withdrawal } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { services } from "../support/BookServices.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

/** The months with entries, in the order in which they are closed. */
const closedMonths = ["2024-03", "2024-06", "2024-12", "2025-01", "2025-06", "2026-02"]

/** The movements that leave with 2024: the deposit 111, the withdrawal 112, the payout 915, and the adjustment 21 that a person moved. */
const statement = () => {
  let balance = 1000
  const at = (day: string) => ({ occurredAt: `${day}T12:00:00Z` })
  const after = (amount: number) => {
    balance += amount
    return `${balance}.00`
  }
  const payout = { relatedResourceType: "PAYOUT", relatedResourceId: id(915) }
  return [
    { ...credit(11, "100.00", after(100), id(111)), ...at("2024-03-10") },
    { ...debit(12, "41.00", after(-41), id(112)), ...at("2024-03-12") },
    { ...credit(21, "7.00", after(7)), ...at("2024-06-05") },
    // This entry stays in suspense and is accepted each month.
    { ...credit(22, "3.00", after(3)), ...at("2024-06-06") },
    { ...debit(15, "5.00", after(-5)), ...payout, ...at("2024-06-10") },
    // This movement is returned in the next year.
    { ...credit(31, "50.00", after(50), id(131)), ...at("2024-12-20") },
    // This movement is not final until then.
    { ...credit(32, "20.00", after(20), id(132)), ...at("2024-12-28") },
    { ...debit(33, "50.00", after(-50), id(131)), relatedResourceType: "DEPOSIT", ...at("2025-01-08") },
    { ...credit(41, "30.00", after(30), id(141)), ...at("2025-01-15") },
    { ...debit(42, "9.00", after(-9), id(142)), ...at("2025-06-15") },
    { ...credit(51, "10.00", after(10), id(151)), ...at("2026-02-10") },
    { ...credit(61, "11.00", after(11), id(161)), ...at("2026-10-10") },
  ]
}

const made = (day: string) => ({ createdAt: `${day}T11:00:00Z` })

export const threeYears = Effect.gen(function* () {
  const entries = statement()
  return yield* partnership({
    balance: "1126.00",
    statement: entries,
    deposits: [
      deposit(111, "100.00", made("2024-03-10")),
      deposit(131, "50.00", made("2024-12-20")),
      deposit(132, "20.00", { ...made("2024-12-28"), status: "PENDING" }),
      deposit(141, "30.00", made("2025-01-15")),
      deposit(151, "10.00", made("2026-02-10")),
      deposit(161, "11.00", made("2026-10-10")),
    ],
    withdrawals: [
      withdrawal(112, "40.00", "1.00", made("2024-03-12")),
      withdrawal(142, "9.00", "0.00", made("2025-06-15")),
    ],
  })
})

const moving = (entry: string) =>
  reclassify({
    id: entry,
    to: "4400",
    name: Option.some("Income:Interest"),
    reason: "Bank interest",
    who: "controller",
  }).pipe(Effect.provide(services))

const openFindings = rows(
  "select 'F' || finding_id as id from reconcile.open_findings where check_name in ('adjustment', 'clearing-movement') order by 1",
)

/** Closes a month and accepts everything that stands in suspense. */
export const closeAll = Effect.fn("Test.closeAll")(function* (months: ReadonlyArray<string>) {
  for (const month of months) {
    const accept = (yield* openFindings).map(({ id: finding }) => ({ id: String(finding), reason: "known" }))
    const tried = yield* closing(month, { accept })
    if (tried[0]?.state !== "closed") {
      // A month ignores an acceptance that it does not need.
      const again = yield* closing(month)
      if (again[0]?.state !== "closed") return yield* Effect.dieMessage(JSON.stringify(tried[0]?.blockers))
    }
  }
})

/** Syncs, moves what a person moves, and closes. */
export const closedYears = Effect.gen(function* () {
  const { held, service } = yield* threeYears
  yield* sync(service.url)
  yield* moving(id(21))
  yield* closeAll(closedMonths)
  return { held, service }
})

const { formats: formatSettings } = decodeSync(Content)({})

/** For every second day of the years. */
export const rates = addRates(
  Array.from({ length: 500 }, (_, at) => ({
    date: new Date(Date.UTC(2024, 1, 20 + 2 * at)).toISOString().slice(0, 10),
    from: "USD",
    to: "EUR",
    rate: `0.${90 + (at % 7)}`,
    source: "test",
  })),
)

/** A bank statement says when it was made, and by which batch. */
const ofTheBatch = /<(MsgId|CreDtTm|Id|ElctrncSeqNb|LglSeqNb)>[^<]*<\/\1>/g

const filesBelow = (folder: string): Record<string, string> =>
  Object.fromEntries(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && !entry.name.includes("manifest"))
      .map((entry) => [
        entry.name,
        readFileSync(join(entry.parentPath, entry.name), "utf8").replaceAll(ofTheBatch, ""),
      ]),
  )

/** The files of an export of days, as a preview, by name. */
export const exported = Effect.fn("Test.exported")(function* (from: string, to: string, inBase = false) {
  const out = temporaryFolder()
  yield* Export.run({
    formats: inBase ? ["journal", "hledger"] : ["journal", "hledger", "trial-balance", "camt.053"],
    scope: { kind: "range", from, to },
    connection: Option.none(),
    book: Option.none(),
    out,
    preview: true,
    again: true,
    ...(inBase ? { tables: { settings: formatSettings, baseCurrency: "EUR" }, base } : {}),
  })
  return filesBelow(out)
})

export const committed = (scope: ExportScope, inBase = false, formats = ["journal"]) =>
  Export.run({
    formats,
    scope,
    connection: Option.none(),
    book: Option.none(),
    out: temporaryFolder(),
    ...(inBase ? { tables: { settings: formatSettings, baseCurrency: "EUR" }, base } : {}),
  })

export const reported = Effect.fn("Test.reported")(function* (period: string) {
  const out = temporaryFolder()
  yield* report({ period, book: Option.none(), out, asOf: Option.none() }).pipe(Effect.provide(services))
  // The page and the workbook say when they were made.
  const { "close-package.xlsx": _workbook, "report.html": _page, ...files } = filesBelow(out)
  return files
})

const digest = (value: unknown): string =>
  createHash("sha256")
    .update(JSON.stringify(value, (_, one: unknown) => (typeof one === "bigint" ? String(one) : one)))
    .digest("hex")

/** A digest of each answer and each of its files: a difference is named, not printed. */
const digested = (answers: Record<string, Record<string, unknown> | ReadonlyArray<unknown>>) =>
  Object.fromEntries(
    Object.entries(answers).flatMap(([name, answer]) =>
      Array.isArray(answer)
        ? [[name, `${answer.length} ${digest(answer)}`]]
        : Object.entries(answer).map(([file, content]) => [`${name}/${file}`, digest(content)]),
    ),
  )

/** The answers for the remaining years, which must be as before. */
export const answers = Effect.gen(function* () {
  return digested({
    january: yield* exported("2025-01-01", "2025-01-31"),
    later: yield* exported("2025-01-01", "2026-10-31"),
    halfMonth: yield* exported("2025-01-10", "2025-06-20"),
    report: yield* reported("2025-01"),
    latest: yield* reported("2026-02"),
    closes: yield* rows(
      "select sequence, period, hash, previous_hash, entries from ledger.closes order by sequence",
    ),
    balances: yield* rows(
      "select account_id, period, debit, credit from ledger.balances order by account_id, period",
    ),
    items: yield* rows("select * from ledger.open_items(1) order by account_id, period, item_id"),
    itemsThen: yield* rows(
      "select * from ledger.open_items(1, '2025-01-01') order by account_id, period, item_id",
    ),
    standing: yield* rows(
      "select account_id, service, statement, ledger, held, off from reconcile.account_standings",
    ),
    findings: yield* rows("select finding_id from reconcile.open_findings order by 1"),
    statement: yield* rows(
      "select entry_id, position, balance_after from mirror.statement_entries order by position",
    ),
  })
})

export const archiving = (year: number, over: Partial<ArchiveRequest> = {}) =>
  archive({
    ...{
      year,
      connection: Option.none(),
      book: Option.none(),
      dryRun: false,
      neverValued: true,
      who: "owner",
    },
    file: join(temporaryFolder(), `tieout-${year}.gz`),
    ...over,
  }).pipe(Effect.provide(services))
