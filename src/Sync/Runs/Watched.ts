/** Shows a run's progress. */
import { Effect } from "effect"
import { inStage } from "../../Common/Progress.ts"
import { count } from "../../Common/Text.ts"
import { Run } from "../../Run.ts"

/** `what`: `sync`, `backfill`, `replay`. */
export const watched =
  (what: string) =>
  <A, E, R>(reading: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Run> =>
    Effect.flatMap(Run, ({ connection, counters, progress: { clients, statements } }) =>
      inStage(`${what} ${connection}`, () =>
        [
          `${count(counters.entries)} new statement entries`,
          ...(statements.all === 0 ? [] : [`${count(statements.done)} of ${count(statements.all)} accounts`]),
          ...(clients.all === 0 ? [] : [`${count(clients.done)} of ${count(clients.all)} clients`]),
        ].join(", "),
      )(reading),
    )
