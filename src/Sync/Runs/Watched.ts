/** Reports a run's progress. */
import { Effect } from "effect"
import { count } from "../../Common/Text.ts"
import { Run } from "../../Run.ts"
import { Progress } from "../../Terminal/Progress.ts"

const every = "200 millis"

export const watched = <A, E, R>(reading: Effect.Effect<A, E, R>): Effect.Effect<A, E, R | Run> =>
  Effect.gen(function* () {
    const { connection, counters, reading: so } = yield* Run
    const progress = yield* Progress
    const line = (): string => {
      const { clients, statements } = so
      return [
        `${count(counters.entries)} statement entries`,
        `${count(statements.done)} of ${count(statements.all)} accounts`,
        ...(clients.all === 0 ? [] : [`${count(clients.done)} of ${count(clients.all)} clients`]),
      ].join(", ")
    }
    const ticking = Effect.forever(
      Effect.zipRight(
        Effect.sleep(every),
        Effect.suspend(() => progress.report({ stage: `sync ${connection}`, text: line() })),
      ),
    )
    return yield* Effect.raceFirst(reading, ticking)
  })
