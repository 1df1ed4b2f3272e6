/** A batch of what is new stands on the closes of its own months, not on all that the book ever had. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { batchesOnClose } from "../../src/Export/Request/StandingBatches.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closeMonth, openBook, postMonths } from "./Books.ts"
import { deposit, exporting } from "./Exporting.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("an export since the last time", (it) => {
  it.effect("names the closes of the months that it has entries of", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("YEARS")
      yield* postMonths(bookId)
      yield* closeMonth(bookId, "2026-09")
      const write = exporting("YEARS", temporaryFolder())
      const since = Effect.map(write({ kind: "since-last" }, ["qbo"]), ({ batches }) =>
        batches.map(({ manifest }) => manifest.lineage?.closes ?? []),
      )
      const [first = []] = yield* since
      expect(first.map(({ period }) => period)).toEqual(["2026-09"])
      yield* deposit(bookId, "2026-10-20")
      expect(yield* since).toEqual([[]])
      // Who opens September again hears of the batch that has entries of it.
      expect((yield* batchesOnClose("YEARS", first[0]?.hash ?? "")).map(({ batch }) => batch)).toEqual([1])
      yield* deposit(bookId, "2026-10-21")
      yield* closeMonth(bookId, "2026-10")
      const [third = []] = yield* since
      expect(third.map(({ period }) => period)).toEqual(["2026-10"])
    }),
  )
})
