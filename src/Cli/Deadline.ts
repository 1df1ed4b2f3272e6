/** The bound on a run: `limits.runDeadline` of the settings. */
import { Data, Duration, Effect } from "effect"
import { Settings } from "../Settings.ts"

class DeadlineReached extends Data.TaggedError("DeadlineReached")<{ readonly message: string }> {}

/** What a sync and a replay say: the same command goes on. A backfill has no checkpoint, and begins again. */
const whats = {
  run: "run it again to go on",
  backfill: "run it again with a longer one, for fewer days, or one --client at a time",
} as const

/** Stops a connection's run at the deadline; everything that it has committed stays. */
export const withinDeadline =
  (connection: string, what: keyof typeof whats = "run") =>
  <A, E, R>(run: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Settings, ({ limits }) =>
      Effect.timeoutFail(run, {
        duration: limits.runDeadline,
        onTimeout: () =>
          new DeadlineReached({
            message: `The ${what} of connection ${connection} took longer than limits.runDeadline (${Duration.format(limits.runDeadline)}) and was stopped. What it has committed stays; ${whats[what]}.`,
          }),
      }),
    )
