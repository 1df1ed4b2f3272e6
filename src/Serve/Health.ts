/** Whether the process can do its work: the database answers, has this version's tables, and may be written to. */
import { Effect } from "effect"
import { counted } from "../Common/Text.ts"
import { type DatabaseError, onlyReads } from "../Database/DatabaseError.ts"
import { pendingMigrations } from "../Database/Migrations/Pending.ts"
import { Database } from "../Database.ts"

const within = "5 seconds"

/** Refused where every write would be. It needs a right to write, and so a session that may: one that may not is not used again. */
const refuseReaders = Effect.flatMap(Database, (database) =>
  database.execute("Serve.mayWrite", (sql) => sql`select from sync.nights where false for update`),
)

const reasonOf = ({ reason, sqlstate }: DatabaseError): string => {
  if (sqlstate === onlyReads) return "the database may only be read at the moment"
  return reason === "Settings"
    ? "the database does not fit these settings or this version: see the log"
    : "the database cannot be reached: see the log"
}

/** Why the process is not ready; undefined if it is. Never names the database, since anybody may ask. */
export const unreadyReason = Effect.fn("Serve.unreadyReason")(
  function* () {
    const pending = yield* pendingMigrations()
    if (pending.length > 0) {
      return `the database lacks ${counted(pending.length, "migration")}: run tieout migrate`
    }
    yield* refuseReaders
    return undefined
  },
  // A statement must end before it can be interrupted, and under a silent server none ends for a while.
  Effect.disconnect,
  Effect.timeoutTo({
    duration: within,
    onTimeout: () => `the database does not answer within ${within}`,
    onSuccess: (reason: string | undefined) => reason,
  }),
  Effect.catchAll((error) => Effect.as(Effect.logWarning(`Not ready: ${error.message}`), reasonOf(error))),
)
