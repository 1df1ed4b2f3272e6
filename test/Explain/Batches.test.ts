/** A batch's explanation says of its state what the list of batches says. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Explain } from "../../src/Explain.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { openBook } from "../Export/Books.ts"
import { base, client, deposit, ecbRate, exporting, september } from "../Export/Exporting.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("explaining a batch", (it) => {
  it.scoped("says that it is of the books as of a time, or out of date", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("STATES", client(3))
      yield* deposit(bookId, "2026-09-10", "1000.00")
      yield* addRates([ecbRate("2026-09-10", "0.9"), ecbRate("2026-09-30", "0.9")])
      const write = exporting("STATES", temporaryFolder())
      yield* write(september, ["journal"], { asOf: { kind: "moment", text: "2026-10-01T00:00:00Z" } })
      yield* write(september, ["qbo"], { base })
      const { explain } = yield* Effect.provide(Explain, Explain.Default)
      const stateOf = (id: string) =>
        Effect.map(explain(id), ({ steps }) =>
          steps[0]?.facts.filter(([label]) => /^(?:state|changed since)$/.test(label)),
        )
      expect(yield* stateOf("STATES/1")).toEqual([["state", "committed, as of 2026-10-01T00:00:00.000000Z"]])
      expect(yield* stateOf("STATES/2")).toEqual([["state", "committed"]])
      yield* deposit(bookId, "2026-09-10", "5.00")
      expect(yield* stateOf("STATES/2")).toEqual([
        ["state", "committed, out of date"],
        ["changed since", "2026-09"],
      ])
    }),
  )
})
