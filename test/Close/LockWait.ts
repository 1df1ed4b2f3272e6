import { Effect } from "effect"
import type { Database } from "../../src/Database.ts"
import { rows } from "../Sync/Runs.ts"

/** Waits until a statement of the database waits for a lock. */
export const someoneWaits: Effect.Effect<void, never, Database> = Effect.suspend(() =>
  Effect.flatMap(
    rows(`select count(*)::integer as waiting from pg_stat_activity
      where datname = current_database() and wait_event_type = 'Lock'`),
    ([row]) => (row?.waiting === 0 ? Effect.delay(someoneWaits, "20 millis") : Effect.void),
  ),
)
