/**
 * Our clock beside the database's. Entries, closes and findings bear the database's time; what was read of the service, ours. A month's
 * close and `--as-of` compare both, so clocks that disagree make them say of a movement what was known earlier or later.
 */
import { Effect } from "effect"
import { spanText } from "../Common/Time.ts"
import { float8 } from "../Database/Columns.ts"
import { Database } from "../Database.ts"

/** Milliseconds by which two clocks may differ without a word: the time that a query takes on its way, and what time servers leave. */
const agree = 30_000

/** `database`: its clock just now, epoch milliseconds. */
export const warnOfClock = (database: number): Effect.Effect<void> =>
  Effect.clockWith((clock) =>
    Effect.flatMap(clock.currentTimeMillis, (ours) => {
      const apart = Math.abs(ours - database)
      return apart <= agree
        ? Effect.void
        : Effect.logWarning(
            `This machine's clock is ${spanText(apart / 1_000)} ${ours > database ? "ahead of" : "behind"} the database's: what a close and --as-of say of movements under way may be of an earlier or later time. Set the clocks by a time server.`,
          )
    }),
  )

/** The same for a process that begins no run of its own. */
export const compareClocks = Effect.flatMap(Database, (database) =>
  Effect.flatMap(
    database.row(
      "Run.clock",
      { now: float8 },
      (sql) => sql`select (extract(epoch from clock_timestamp()) * 1000)::float8 as now`,
    ),
    ({ now }) => warnOfClock(now),
  ),
)
