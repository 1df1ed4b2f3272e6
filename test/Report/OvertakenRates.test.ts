/** What the page says of a month whose kept valuation is no longer what valuing it would give. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { assignNumbers, openBook } from "../Export/Books.ts"
import { base, deposit, ecbRate } from "../Export/Exporting.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { reporting, textOf } from "./Reports.ts"

const former =
  "Its rates or settings have changed since, or those of a month before, and it has the former ones"

const pageOf = (period: string, options: Parameters<typeof reporting>[2] = {}) =>
  Effect.map(reporting(period, temporaryFolder(), options), ({ folder }) => textOf(folder, "report.html"))

layer(TestDatabase.layer, { excludeTestServices: true })("rates that are corrected", (it) => {
  it.effect(
    "are said to be missing in what was valued before, in the months after it too, until it is valued again",
    () =>
      Effect.gen(function* () {
        const bookId = yield* openBook("ORG")
        yield* deposit(bookId, "2026-09-15", "100.00")
        yield* deposit(bookId, "2026-10-15", "100.00")
        yield* assignNumbers(bookId)
        yield* addRates([
          ecbRate("2026-09-15", "0.9"),
          ecbRate("2026-09-30", "0.91"),
          ecbRate("2026-10-15", "0.92"),
          ecbRate("2026-10-31", "0.93"),
        ])
        yield* reporting("2026-10", temporaryFolder(), { base })
        expect(yield* pageOf("2026-09")).toContain("The month as tieout export --base has it")
        yield* addRates([ecbRate("2026-09-15", "0.8")])
        for (const period of ["2026-09", "2026-10"]) {
          const page = yield* pageOf(period)
          expect(page).toContain("The month as it was last valued")
          expect(page).toContain(former)
        }
        expect(yield* pageOf("2026-09", { base })).not.toContain(former)
        expect(yield* pageOf("2026-10")).toContain(former)
        expect(yield* pageOf("2026-10", { base })).toContain("The month as tieout export --base has it")
      }),
  )
})
