/** Rates that DATEV's Kurs cannot hold: a digit from 1 to 9 first, at most four before the comma. Such journals are in the base currency. */
import { readdirSync, readFileSync } from "node:fs"
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

const rate = (day: number, from: string, worth: string) => ({
  ...{ date: `2026-10-${String(day).padStart(2, "0")}`, from, to: "EUR", rate: worth, source: "test" },
})

const rates = Array.from({ length: 31 }, (_, at) => [
  // 0.8 and 1.25 dollars are worth a euro; 250 and 20,000 yen.
  rate(at + 1, "USD", at < 10 ? "1.25" : "0.8"),
  rate(at + 1, "JPY", at < 10 ? "0.004" : "0.00005"),
]).flat()

layer(TestDatabase.layer, { excludeTestServices: true })("a Kurs in DATEV's form", (it) => {
  it.effect("is in the file, and a journal with another one is in the base currency", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("KURS")
      yield* post(bookId, deposit("2026-10-02", "USD", "100.00"))
      yield* post(bookId, deposit("2026-10-03", "JPY", "1000"))
      yield* post(bookId, deposit("2026-10-12", "USD", "100.00"))
      yield* post(bookId, deposit("2026-10-13", "JPY", "20000"))
      yield* assignNumbers(bookId)
      yield* addRates(rates)
      const { accounting, chart, formats } = decodeUnknownSync(Content)({
        formats: { datev: { consultant: 1001, client: 1 } },
      })
      const { batches } = yield* Export.run({
        formats: ["datev", "netsuite"],
        scope: { kind: "period", period: "2026-10" },
        ...{ connection: Option.none(), book: Option.some("KURS"), out: temporaryFolder(), rated: true },
        tables: { settings: formats, baseCurrency: "EUR" },
        base: { baseCurrency: "EUR", settings: accounting.valuation, chart },
      })
      for (const { folder } of batches) expect((yield* Verify.run(folder)).problems).toEqual([])
      const folderOf = (format: string) =>
        batches.find(({ manifest: { formats: own } }) => own.includes(format))?.folder ?? ""
      const [datev, netsuite] = [folderOf("datev"), folderOf("netsuite")]
      const of = (currency: string) =>
        readFileSync(join(datev, `EXTF_2026-10_${currency}.csv`), "latin1")
          .split("\r\n")
          .slice(2, -1)
          .map((row) => row.split(";").slice(0, 6).join(" "))
      expect(of("USD")).toEqual(['100,00 "S" "USD" 1,250000 80,00 "EUR"'])
      expect(of("JPY")).toEqual(['1000,00 "S" "JPY" 250,000000 4,00 "EUR"'])
      expect(of("EUR")).toEqual(['125,00 "S" "EUR"   ""', '1,00 "S" "EUR"   ""'])
      expect(rowsOf(join(datev, "rate_differences_datev.csv")).map((row) => row.slice(1).join(" "))).toEqual([
        "account currency amount base_amount reason",
        ...["1010 USD 100.00 0.00 difference", "1020 USD -100.00 0.00 difference"],
        ...["1010 JPY 20000 0.00 difference", "1020 JPY -20000 0.00 difference"],
        ...["1010 EUR 0.00 -3.95 omitted", "7920 EUR 0.00 3.95 omitted"],
        ...["1010 EUR 0.00 -45.00 omitted", "7920 EUR 0.00 45.00 omitted"],
      ])
      expect(readdirSync(datev).filter((name) => name.startsWith("cancelled"))).toEqual([])
      expect(rowsOf(join(netsuite, "netsuite-USD.csv")).map((row) => row[4])).toContain("1.2500000000")
    }),
  )
})
