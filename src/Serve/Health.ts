/** Whether the process can do its work: the database answers and has this version's tables. */
import { Effect } from "effect"
import { counted } from "../Common/Text.ts"
import { pendingMigrations } from "../Database/Migrations/Pending.ts"

const within = "5 seconds"

/** Why the process is not ready; undefined if it is. Never names the database, since anybody may ask. */
export const unreadyReason = Effect.fn("Serve.unreadyReason")(
  function* () {
    const pending = yield* pendingMigrations()
    return pending.length === 0
      ? undefined
      : `the database lacks ${counted(pending.length, "migration")}: run tieout migrate`
  },
  // A statement must end before it can be interrupted, and under a silent server none ends for a while.
  Effect.disconnect,
  Effect.timeoutTo({
    duration: within,
    onTimeout: () => `the database does not answer within ${within}`,
    onSuccess: (reason: string | undefined) => reason,
  }),
  Effect.catchAll((error) =>
    Effect.as(
      Effect.logWarning(`Not ready: ${error.message}`),
      error.reason === "Settings"
        ? "the database does not fit these settings or this version: see the log"
        : "the database cannot be reached: see the log",
    ),
  ),
)
