/** Files with rates where all that moved of a currency is worth nothing in the base currency: it has no file, and is listed. */
import { readdirSync } from "node:fs"
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
import { assignNumbers, type Movement, openBook, partner, post } from "./Books.ts"
import { rowsOf } from "./Cells.ts"

const deposit = (date: string, currency: "USD" | "JPY", amount: string): Movement => ({
  ...{ date, kind: "deposit", cash: amount, description: "Deposit" },
  partner: currency === "USD" ? partner.usd : partner.jpy,
  lines: [
    ["cash", "", currency, amount],
    ["deposits_clearing", "", currency, `-${amount}`],
  ],
})

const rates = [30, 31].flatMap((days, month) =>
  Array.from({ length: days }, (_, day) =>
    ["USD", "JPY"].map((from) => ({
      date: `2026-${month === 0 ? "09" : "10"}-${String(day + 1).padStart(2, "0")}`,
      ...{ from, to: "EUR", rate: from === "JPY" ? `0.00${month + 1}` : "0.9", source: "test" },
    })),
  ).flat(),
)

const exported = Effect.fnUntraced(function* (book: string, client: number) {
  const { accounting, chart, formats } = decodeUnknownSync(Content)({
    formats: {
      datev: { consultant: 1001, client: 1 },
      books: { [book]: { datev: { client } } },
    },
  })
  const { batches } = yield* Export.run({
    formats: ["netsuite", "intacct", "datev"],
    scope: { kind: "period", period: "2026-10" },
    ...{ connection: Option.none(), book: Option.some(book), out: temporaryFolder(), rated: true },
    tables: { settings: formats, baseCurrency: "EUR" },
    base: { baseCurrency: "EUR", settings: accounting.valuation, chart },
  })
  expect(batches.length).toBeGreaterThan(0)
  for (const { folder } of batches) {
    expect((yield* Verify.run(folder)).problems).toEqual([])
    // Nothing of it cancels.
    expect(readdirSync(folder).filter((name) => name.startsWith("cancelled"))).toEqual([])
  }
  return batches
})

/** What the files of each format are said to lack of the yen: account and amount. */
const listedYen = (batches: ReadonlyArray<Export.ExportSummary["batches"][number]>) =>
  batches.flatMap(({ folder, manifest }) =>
    manifest.formats.map((format) =>
      rowsOf(join(folder, `rate_differences_${format}.csv`))
        .filter(([, , currency]) => currency === "JPY")
        .map(([, account, , amount]) => `${account} ${amount}`),
    ),
  )

layer(TestDatabase.layer, { excludeTestServices: true })(
  "what is worth nothing in the base currency",
  (it) => {
    it.effect(
      "is listed with the differences where a currency has nothing else, and the batch is whole",
      () =>
        Effect.gen(function* () {
          // The month's end revalues the yen of September, so that the account is one of the batch.
          const bookId = yield* openBook("RATED")
          yield* post(bookId, deposit("2026-09-02", "JPY", "10000"))
          yield* post(bookId, deposit("2026-10-02", "USD", "10.00"))
          yield* post(bookId, deposit("2026-10-03", "JPY", "1"))
          yield* assignNumbers(bookId)
          yield* addRates(rates)
          const batches = yield* exported("RATED", 1)
          expect(
            batches.flatMap(({ manifest: { files } }) => files).some(({ currency }) => currency === "JPY"),
          ).toBe(false)
          expect(listedYen(batches)).toEqual(Array(3).fill(["1010 1", "1020 -1"]))
        }),
    )

    it.effect("is listed where nothing of its accounts moved, and a line of it stands in the files", () =>
      Effect.gen(function* () {
        const bookId = yield* openBook("SMALL", "44444444-0000-4000-8000-000000000001")
        yield* post(bookId, deposit("2026-10-02", "USD", "10.00"))
        yield* post(bookId, deposit("2026-10-03", "JPY", "1"))
        yield* assignNumbers(bookId)
        yield* addRates(rates)
        expect(listedYen(yield* exported("SMALL", 2))).toEqual(Array(3).fill(["1010 1", "1020 -1"]))
        const other = yield* openBook("PART", "44444444-0000-4000-8000-000000000002")
        const whole = deposit("2026-10-03", "JPY", "9999")
        yield* post(other, {
          ...whole,
          lines: [
            ["cash", "", "JPY", "9999"],
            ["deposits_clearing", "", "JPY", "-10000"],
            ["deposits_clearing", "4120", "JPY", "1"],
          ],
        })
        yield* assignNumbers(other)
        const [netsuite = ""] = (yield* exported("PART", 3)).map(({ folder }) =>
          join(folder, "netsuite-JPY.csv"),
        )
        expect(rowsOf(netsuite).map((row) => [row[6], row[7], row[8]].join(" "))).toContain("4120 1.00 ")
      }),
    )
  },
)
