/** What all parts of one backfill share. */
import { Context, type Effect } from "effect"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import type { LeaseLost } from "../../Run/Lease.ts"
import type { AccountBackfill } from "./BackfilledStatements.ts"
import type { Window } from "./Window.ts"

export class BackfillWindow extends Context.Tag("tieout/Backfill/Window")<
  BackfillWindow,
  {
    readonly window: Window
    /** Runs an effect while no sync of the connection can write; waits until that is so. */
    readonly exclusively: <A, E, R>(
      effect: Effect.Effect<A, E, R>,
    ) => Effect.Effect<A, E | DatabaseError | LeaseLost, R>
    /** The result for each account, as it is done. */
    readonly results: Array<AccountBackfill>
  }
>() {}
