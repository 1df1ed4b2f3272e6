/** An entry that was read with two contents stays a finding: nothing that a person does takes it back. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Status } from "../../src/Inquiry/Status.ts"
import { needsAttention, tieOutSentence } from "../../src/Reconcile/TieOut.ts"
import { Settings } from "../../src/Settings.ts"
import { sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing, threeMonths } from "./Months.ts"

const standing = Effect.flatMap(Status, (status) => status.read(Option.none())).pipe(
  Effect.provide(Layer.provide(Status.Default, Settings.from({ variables: {} }))),
  Effect.map(({ tieOut }) => ({ asks: needsAttention(tieOut), said: tieOutSentence(tieOut) })),
)

const blockersOf = (period: string, accept: ReadonlyArray<{ id: string; reason: string }> = []) =>
  Effect.map(closing(period, { accept }), (books) => books.flatMap(({ blockers }) => blockers))

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a statement entry that was read with two contents",
  (it) => {
    it.scoped("is accepted once, until it is read with a third", () =>
      Effect.gen(function* () {
        const { held, service } = yield* threeMonths
        const [, entry] = held.statement
        const shownAt = (occurredAt: string) => {
          held.statement[1] = { ...entry, occurredAt }
          return sync(service.url)
        }
        yield* sync(service.url)
        yield* shownAt("2026-09-10T12:00:01Z")
        const [blocker, ...others] = yield* blockersOf("2026-08")
        expect(others).toEqual([])
        expect(blocker?.what).toContain("was read again with another content: occurredAt differs")
        expect((yield* standing).asks).toBe(true)
        expect(yield* blockersOf("2026-08", [{ id: blocker?.id ?? "", reason: "A second later" }])).toEqual(
          [],
        )
        for (const month of ["2026-09", "2026-10"]) {
          expect(yield* standing).toEqual({ asks: false, said: "Cash ties out; 1 accepted finding is open" })
          if (month === "2026-10") yield* shownAt("2026-09-10T12:00:02Z")
          expect((yield* blockersOf(month)).length).toBe(month === "2026-10" ? 1 : 0)
        }
        expect((yield* standing).asks).toBe(true)
      }),
    )
  },
)
