/** What the settings leave out is read by nobody: each close asks for it, and between closes it waits for nobody. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Status } from "../../src/Inquiry/Status.ts"
import { needsAttention, tieOutSentence } from "../../src/Reconcile/TieOut.ts"
import { Settings } from "../../src/Settings.ts"
import { findings, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { closing, threeMonths } from "./Months.ts"

/** The connection was taken out of the settings. */
const without = { TIEOUT_CONNECTIONS: "{other: {surfaces: [organization]}}" }

const standing = Effect.flatMap(Status, (status) => status.read(Option.none())).pipe(
  Effect.provide(Layer.provide(Status.Default, Settings.from({ variables: without }))),
  Effect.map(({ tieOut }) => ({ asks: needsAttention(tieOut), said: tieOutSentence(tieOut) })),
)

const blockersOf = (period: string, accept: ReadonlyArray<{ id: string; reason: string }> = []) =>
  Effect.map(closing(period, { variables: without, accept }), (books) =>
    books.flatMap(({ blockers }) => blockers),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("a connection that the settings lost", (it) => {
  it.scoped("is accepted once for each close, and nothing is asked between closes", () =>
    Effect.gen(function* () {
      const { service } = yield* threeMonths
      yield* sync(service.url)
      yield* closing("2026-08")
      yield* unruled("update sync.stream_reads set began_at = '2026-09-15T00:00:00Z'")
      for (const month of ["2026-09", "2026-10"]) {
        const blockers = yield* blockersOf(month)
        expect(blockers.map(({ what }) => what)).toContainEqual(
          expect.stringMatching(
            /^stream-unread: The list of accounts was last read to its end on 2026-09-15T00:00:00Z, before the month was over \(2026-1[01]-01T00:00:00Z\)\. The settings leave it out \(connections\.default\.surfaces\)\.$/,
          ),
        )
        expect((yield* standing).asks).toBe(true)
        const accept = blockers.flatMap(({ id }) => (id === null ? [] : [{ id, reason: "Sold" }]))
        expect(yield* blockersOf(month, accept)).toEqual([])
        expect(yield* standing).toEqual({ asks: false, said: "Cash ties out; 4 accepted findings are open" })
      }
      // In the settings again, and read: nothing is open any more.
      yield* sync(service.url)
      expect(yield* findings).toEqual([])
    }),
  )
})
