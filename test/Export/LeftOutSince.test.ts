/** What is exported since the last time continues batches that the settings of then left a currency out of. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook, postMonths } from "./Books.ts"
import { deposit, exporting, formatSettings } from "./Exporting.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("an export since the last time", (it) => {
  it.effect("says once what its format lacks since the settings leave out less", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("SINCE")
      yield* postMonths(bookId)
      const write = exporting("SINCE", temporaryFolder())
      const since = (leaveOut: ReadonlyArray<string>) =>
        Effect.map(
          write({ kind: "since-last" }, ["qbo"], {
            tables: { settings: { ...formatSettings, leaveOut }, baseCurrency: "EUR" },
          }),
          ({ batches, lacking }) => ({ written: batches.map(({ manifest }) => manifest.batch), lacking }),
        )
      const lacking = [{ book: "SINCE", formats: ["qbo"], batches: [1], currencies: ["JPY"] }]
      expect(yield* since(["JPY", "USDT"])).toEqual({ written: [1], lacking: [] })
      expect(yield* since(["JPY", "USDT"])).toEqual({ written: [], lacking: [] })
      expect(yield* since(["USDT"])).toEqual({ written: [], lacking })
      yield* deposit(bookId, "2026-10-20")
      expect(yield* since(["USDT"])).toEqual({ written: [2], lacking })
      expect(yield* since(["USDT"])).toEqual({ written: [], lacking: [] })
    }),
  )
})
