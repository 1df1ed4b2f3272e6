/** A close keeps the rates that are known by then: it says so where none of the month is. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing, threeMonths } from "./Months.ts"

const told = (variables: Record<string, string> = {}) =>
  Effect.map(closing("2026-08", { dryRun: true, variables }), ([found]) =>
    (found?.notes ?? []).filter((note) => note.startsWith("No rate")),
  )

const rateOf = (date: string) => addRates([{ date, from: "USD", to: "EUR", rate: "0.9", source: "test" }])

layer(TestDatabase.layer, { excludeTestServices: true })("a close", (it) => {
  it.scoped("says that no rate of the month is imported, where others are and the book needs some", () =>
    Effect.gen(function* () {
      const { service } = yield* threeMonths
      yield* sync(service.url)
      // The base currency is not in use.
      expect(yield* told()).toEqual([])
      yield* rateOf("2026-07-31")
      yield* rateOf("2026-09-01")
      expect(yield* told()).toEqual([
        "No rate of 2026-08 is imported: in the base currency its first days would keep the last rates of the month before. Before the close: tieout rates import FILE",
      ])
      expect(yield* told({ TIEOUT_ACCOUNTING_BASE_CURRENCY: "USD" })).toEqual([])
      expect(yield* told({ TIEOUT_ACCOUNTING_VALUATION_RATES: "conversions" })).toEqual([])
      yield* rateOf("2026-08-31")
      expect(yield* told()).toEqual([])
    }),
  )
})
