/** What is exported since the last time continues batches that the settings of then left a currency out of. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook, postMonths } from "./Books.ts"
import { client, deposit, exporting, formatSettings, october, september } from "./Exporting.ts"

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

  it.effect("names the batches that lack something alone, also where another export came after them", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("WHICH", client(1))
      yield* postMonths(bookId)
      const write = exporting("WHICH", temporaryFolder())
      const leaving = (leaveOut: ReadonlyArray<string>) => ({
        tables: { settings: { ...formatSettings, leaveOut }, baseCurrency: "EUR" },
      })
      const since = (leaveOut: ReadonlyArray<string>) =>
        Effect.map(write({ kind: "since-last" }, ["qbo"], leaving(leaveOut)), ({ batches, lacking }) => ({
          written: batches.map(({ manifest }) => manifest.batch),
          lacking,
        }))
      // September has no yen.
      yield* write(september, ["qbo"], leaving(["USDT"]))
      yield* write(october, ["qbo"], leaving(["JPY", "USDT"]))
      yield* deposit(bookId, "2026-11-20")
      yield* write({ kind: "period", period: "2026-11" }, ["qbo"], leaving(["USDT"]))
      const lacking = [{ book: "WHICH", formats: ["qbo"], batches: [2], currencies: ["JPY"] }]
      expect(yield* since(["USDT"])).toEqual({ written: [], lacking })
      yield* deposit(bookId, "2026-11-21")
      expect(yield* since(["USDT"])).toEqual({ written: [4], lacking })
      expect(yield* since(["USDT"])).toEqual({ written: [], lacking: [] })
    }),
  )
})
