/** The bound on a run: `limits.runDeadline` of the settings. */
import { Data, Duration, Effect } from "effect"
import { Settings } from "../Settings.ts"

class DeadlineReached extends Data.TaggedError("DeadlineReached")<{ readonly message: string }> {}

/** Stops a connection's run at the deadline; everything that it has committed stays. */
export const withinDeadline =
  (connection: string) =>
  <A, E, R>(run: Effect.Effect<A, E, R>) =>
    Effect.flatMap(Settings, ({ limits }) =>
      Effect.timeoutFail(run, {
        duration: limits.runDeadline,
        onTimeout: () =>
          new DeadlineReached({
            message: `The run of connection ${connection} took longer than limits.runDeadline (${Duration.format(limits.runDeadline)}) and was stopped. What it has committed stays; run it again to go on.`,
          }),
      }),
    )
