/** A run around a piece of work: its number, its lease, and how it ended, written down. */
import { Effect, Exit, Layer } from "effect"
import { wasInterrupted } from "./Failures.ts"
import { connectionParts, shared } from "./Parts.ts"
import { SyncIncomplete } from "./Report.ts"
import { beginRun, endRun, Run } from "./Run.ts"
import { watched } from "./Watched.ts"

/** Does work as a run of the connection. The caller holds the connection's session lock. */
export const leased = <A, E, R>(
  connection: string,
  command: string,
  work: Effect.Effect<A, E, R>,
  ended: (done: A) => { readonly code: number; readonly newEntries: ReadonlyMap<string, number> },
) =>
  Effect.gen(function* () {
    const run = yield* beginRun(connection, command)
    return yield* watched(work).pipe(
      Effect.provide(Layer.provideMerge(connectionParts, shared)),
      Effect.provideService(Run, run),
      Effect.onExit((exit) => {
        const stopped =
          wasInterrupted(exit) ||
          (Exit.isFailure(exit) &&
            exit.cause._tag === "Fail" &&
            exit.cause.error instanceof SyncIncomplete &&
            exit.cause.error.reason === "Stopped")
        const state = Exit.isSuccess(exit) ? "done" : stopped ? "stopped" : "failed"
        const end = Exit.isSuccess(exit)
          ? ended(exit.value)
          : { code: stopped ? 75 : 1, newEntries: new Map<string, number>() }
        const newEntries = Object.fromEntries(end.newEntries)
        return Effect.ignore(endRun(run.runId, state, end.code, { counters: run.counters, newEntries }))
      }),
    )
  })
