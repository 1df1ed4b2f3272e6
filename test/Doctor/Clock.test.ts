import { expect, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import type { Ask } from "../../src/Doctor/Ask.ts"
import { watching } from "../../src/Doctor/Clock.ts"

const requestedAt = Date.parse("2026-10-31T23:00:00Z")

/** What the doctor says of answers that took two seconds, dated so many seconds after they were asked for. */
const saidOf = (...dates: ReadonlyArray<number | undefined>) =>
  Effect.gen(function* () {
    const waiting = [...dates]
    const answering: Ask = () => {
      const seconds = waiting.shift()
      const servedAt = seconds === undefined ? undefined : requestedAt + seconds * 1_000
      const source = { text: "{}", suspect: false, replaced: false }
      return Effect.succeed(Either.right({ value: {}, source, requestedAt, servedAt, took: 2_000 }))
    }
    const { ask, verdict } = watching(answering)
    for (const _ of dates) yield* ask("page", "/accounts")
    const said = verdict()
    return said === undefined ? undefined : [said.verdict, said.severity, said.detail]
  })

it.effect("the doctor says how far the service's clock is from this machine's", () =>
  Effect.gen(function* () {
    const text = (apart: string) =>
      `the service's clock is ${apart} this machine's: a read counts for a close by the clock that is behind`
    // Within what a time server leaves, and what the answer took.
    expect(yield* saidOf(0, 1, 2, -29, 31)).toBeUndefined()
    expect(yield* saidOf(0, -45)).toEqual(["wrong", "warning", text("45 seconds behind")])
    expect(yield* saidOf(-7_200)).toEqual(["wrong", "warning", text("2 hours behind")])
    // The furthest one counts.
    expect(yield* saidOf(122, 3_602, 600)).toEqual(["wrong", "warning", text("60 minutes ahead of")])
    expect(yield* saidOf(undefined, -7_200)).toEqual([
      "wrong",
      "warning",
      "only 1 of the 2 answers has a Date header: nothing proves when a list or a statement was read",
    ])
  }),
)
