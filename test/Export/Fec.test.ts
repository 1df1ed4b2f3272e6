/** The layout of the FEC, over the months of a book: an account number has one name, and a name one number. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { assignNumbers, type Movement, openBook, partner, post, postMonths } from "./Books.ts"

const { accounting, chart, formats } = decodeUnknownSync(Content)({
  formats: { fec: { siren: "732829320" } },
})
const base = { baseCurrency: "EUR", settings: accounting.valuation, chart }

const rates = [30, 31].flatMap((days, at) =>
  Array.from({ length: days }, (_, day) =>
    ["USD", "JPY", "USDT"].map((from) => ({
      date: `2026-${at === 0 ? "09" : "10"}-${String(day + 1).padStart(2, "0")}`,
      ...{ from, to: "EUR", rate: from === "JPY" ? "0.0061" : `0.9${at}`, source: "test" },
    })),
  ).flat(),
)

/** The rows of a month's file. */
const exported = Effect.fnUntraced(function* (period: string) {
  const { batches } = yield* Export.run({
    formats: ["fec"],
    scope: { kind: "period", period },
    ...{ connection: Option.none(), book: Option.some("FEC"), out: temporaryFolder(), base },
    tables: { settings: formats, baseCurrency: "EUR" },
  })
  const { folder, manifest } = batches[0] ?? expect.fail("no batch")
  expect((yield* Verify.run(folder)).problems).toEqual([])
  const [file] = manifest.files.filter(({ format }) => format === "fec")
  const [, ...rows] = readFileSync(join(folder, file?.name ?? ""), "utf8")
    .trimEnd()
    .split("\r\n")
  return rows.map((row) => row.split("\t"))
})

/** Both ways: what stands beside each text of a column, as a set. */
const pairs = (rows: ReadonlyArray<ReadonlyArray<string>>, code: number, label: number) => {
  const found = new Map<string, Set<string>>()
  for (const row of rows) {
    for (const [key, value] of [
      [`${code}: ${row[code]}`, row[label] ?? ""],
      [`${label}: ${row[label]}`, row[code] ?? ""],
    ] as const) {
      found.set(key, (found.get(key) ?? new Set()).add(value))
    }
  }
  return found
}

layer(TestDatabase.layer, { excludeTestServices: true })("the layout of the FEC", (it) => {
  it.effect("has the same name for an account in every month, whichever currencies moved in it", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("FEC"))
      yield* addRates(rates)
      const [september, october] = [yield* exported("2026-09"), yield* exported("2026-10")]
      const rows = [...september, ...october]
      const accounts = pairs(rows, 4, 5)
      expect([...accounts].filter(([, values]) => values.size > 1)).toEqual([])
      // In September no yen came in; the account has those of October, too.
      expect(new Set(september.map((row) => `${row[4]} ${row[5]}`))).toContain(
        "1020 Assets:Clearing:Deposits",
      )
      const journals = pairs(rows, 0, 1)
      expect([...journals.keys()].toSorted()).toEqual(["0: TO", "0: TOX", "1: Tieout", "1: Tieout X"])
      expect([...journals].filter(([, values]) => values.size > 1)).toEqual([])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("the days of the FEC", (it) => {
  it.effect("are the book's own, also when an entry was recorded", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("FEC")
      yield* unruled(`update ledger.locks set time_zone = 'Europe/Paris' where book_id = ${bookId}`)
      yield* postMonths(bookId)
      yield* addRates(rates)
      // Half past midnight of the first of November in Paris, which is still October in UTC.
      yield* unruled(
        `update ledger.journal_entries set recorded_at = '2026-10-31 23:30Z' where book_id = ${bookId}`,
      )
      const rows = yield* exported("2026-10")
      expect(new Set(rows.filter(([journal]) => journal === "TO").map((row) => row[15]))).toEqual(
        new Set(["20261101"]),
      )
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("the document of the FEC", (it) => {
  const deposit = (date: string, reference: string): Movement => ({
    ...{ date, kind: "deposit", partner: partner.usd, cash: "10.00", description: "Deposit", reference },
    lines: [
      ["cash", "", "USD", "10.00"],
      ["deposits_clearing", "", "USD", "-10.00"],
    ],
  })

  it.effect("is the whole reference, or else the number of the journal: never a part of it, nor a word", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("FEC")
      const hash = `0x${"ce6d449ee1b548bc12f2df637308c760".repeat(2)}`
      const references = [
        "INV-7",
        hash,
        "---",
        "Invoice 2026-10/000123 of the twelfth of October, second part",
      ]
      for (const [at, reference] of references.entries()) {
        yield* post(bookId, deposit(`2026-10-0${at + 1}`, reference))
      }
      yield* assignNumbers(bookId)
      yield* addRates(rates)
      const rows = (yield* exported("2026-10")).filter(([journal]) => journal === "TO")
      expect([...new Set(rows.map((row) => row[8]))]).toEqual([
        ...["INV-7", "FEC-2026-10-000002", "FEC-2026-10-000003", "FEC-2026-10-000004"],
      ])
    }),
  )
})
