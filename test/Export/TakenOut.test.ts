/** A batch is superseded as a whole: what only it had is in no batch then, and the export that does it says so. */
import { expect, layer } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook } from "./Books.ts"
import { all, base, client, deposit, ecbRate, exporting, october, september } from "./Exporting.ts"

/** What was logged of a batch that has more. */
const toldIn = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    yield* effect.pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
    return lines.filter((line) => line.includes("has entries for"))
  })

const lacks = (batch: string, scope: string, days: string): string =>
  `${batch} has entries for qbo that are not in ${scope}: those ${days}. Where it is superseded they stand in no batch: export them as well, or everything at once with --all --again.`

const again = { again: true }

layer(TestDatabase.layer, { excludeTestServices: true })("what a superseded batch had beside", (it) => {
  it.effect("is named once, in the books' own currencies and in the base currency", () =>
    Effect.gen(function* () {
      yield* addRates([
        ...[ecbRate("2026-09-10", "0.90"), ecbRate("2026-09-30", "0.95")],
        ...[ecbRate("2026-10-05", "0.91"), ecbRate("2026-10-31", "0.92")],
      ])
      const bookId = yield* openBook("BESIDE", client(81))
      yield* deposit(bookId, "2026-09-10", "1000.00")
      yield* deposit(bookId, "2026-10-05", "10.00")
      const native = exporting("BESIDE", temporaryFolder())
      const inBase = (...[scope, formats, more]: Parameters<typeof native>) =>
        native(scope, formats, { ...more, base })
      yield* native(all, ["qbo"])
      expect(yield* toldIn(native(october, ["qbo"], again))).toEqual([
        lacks("BESIDE/1", "2026-10", "until 2026-09-30"),
      ])
      // September is there, and so is all that October's batch had.
      yield* native(september, ["qbo"])
      expect(yield* toldIn(native(october, ["qbo"], again))).toEqual([])
      expect(yield* toldIn(native(all, ["qbo"], again))).toEqual([])
      expect(yield* toldIn(inBase(september, ["qbo"], again))).toEqual([
        lacks("BESIDE/5", "2026-09", "from 2026-10-01 on"),
      ])
      yield* inBase(all, ["qbo"], again)
      expect(yield* toldIn(inBase(october, ["qbo"], again))).toEqual([
        lacks("BESIDE/7", "2026-10", "until 2026-09-30"),
      ])
    }),
  )
})
