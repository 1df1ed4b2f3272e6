/**
 * Plays a few histories of the service against the connector. `README.md` says what a history is and how to read a failure. CI
 * plays 300 of this seed and 50 of a new one, in processes of their own.
 */
import { it } from "@effect/vitest"
import { Effect } from "effect"
import { expect, inject } from "vitest"
import { argumentsOf } from "./Arguments.ts"
import { lineOf } from "./History.ts"
import { freshDatabase } from "./Server.ts"
import { type Told, work } from "./Worker.ts"

const readable = ({ history, problem, seed }: Told): string =>
  [
    `seed ${seed}: ${problem}`,
    ...(history === null ? [] : [JSON.stringify(history.settings), ...history.steps.map(lineOf)]),
  ].join("\n  ")

/** Plays so many histories of a seed, two shares at a time. Answers the failures as a person reads them. */
const failing = (histories: number, seed: string) =>
  Effect.gen(function* () {
    const asked = argumentsOf(["--histories", String(histories), "--seed", seed])
    const told: Array<Told> = []
    const template = yield* freshDatabase(inject("testServerUrl"))
    yield* Effect.forEach([0, 1], (worker) => work(asked, worker, template, (one) => told.push(one)), {
      concurrency: 2,
    })
    const played = told.reduce((sum, { books }) => sum + books, 0)
    expect(played).toBeGreaterThanOrEqual(histories)
    return told.filter(({ problem }) => problem !== null).map(readable)
  }).pipe(Effect.scoped)

it.live("histories of a fixed seed come to the books that the oracle expects", () =>
  Effect.map(failing(24, "ci"), (found) => expect(found).toEqual([])),
)
