/** What the page says of the rates of a month that is valued without any. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { assignNumbers, openBook, partner, post } from "../Export/Books.ts"
import { base, deposit, ecbRate } from "../Export/Exporting.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { reporting, sheet, textOf } from "./Reports.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("the rates of a month", (it) => {
  it.effect("are none where all that moved left at cost, which the page does not deny", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("ORG")
      yield* deposit(bookId, "2026-09-15", "100.00")
      yield* post(bookId, {
        ...{
          date: "2026-10-02",
          kind: "withdrawal",
          partner: partner.usd,
          cash: "-100.00",
          description: "Paid",
        },
        lines: [
          ["cash", "", "USD", "-100.00"],
          ["withdrawals_clearing", "", "USD", "100.00"],
        ],
      })
      yield* assignNumbers(bookId)
      yield* addRates([ecbRate("2026-09-15", "0.9"), ecbRate("2026-09-30", "0.91")])
      const { folder } = yield* reporting("2026-10", temporaryFolder(), { base })
      expect(sheet(folder, "base-rates.csv")).toEqual([])
      expect(textOf(folder, "report.html")).toContain("None: nothing was valued by the rate of a day.")
      expect(textOf(folder, "report.html")).not.toContain("came since")

      // Before its first entry there is nothing to value, and the page does not advise to.
      const empty = yield* reporting("2026-07", temporaryFolder(), { base })
      expect(textOf(empty.folder, "report.html")).toContain("there is nothing to value")
      expect(textOf(empty.folder, "report.html")).not.toContain("--base")

      for (const [day, came] of [
        ["2026-10-05", "1 entry came since and is not in it"],
        ["2026-10-06", "2 entries came since and are not in it"],
      ] as const) {
        yield* deposit(bookId, day, "1.00")
        yield* assignNumbers(bookId)
        const later = yield* reporting("2026-10", temporaryFolder())
        expect(textOf(later.folder, "report.html")).toContain(
          `${came}: tieout report --base values the month again.`,
        )
      }
    }),
  )
})
