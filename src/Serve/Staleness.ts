/**
 * Looks at the start and every few minutes whether the books have become stale, and says so once until they are current
 * again. What was said is not kept: a process that starts while they are stale says it again, since nobody knows whether
 * the alert of the one before was delivered when it ended. Told twice is better than never.
 */
import { Clock, Duration, Effect } from "effect"
import { spanText } from "../Common/Time.ts"
import { Settings } from "../Settings.ts"
import { Alerts } from "./Alerts.ts"
import { connectionRuns } from "./Overview/Runs.ts"

/** When every connection of the settings was last read as a whole, epoch milliseconds; undefined: not all of them ever were. */
export const lastSuccess = Effect.fn("Serve.lastSuccess")(function* () {
  const { connectionNames } = yield* Settings
  const known = yield* connectionRuns()
  const times = connectionNames.map(
    (name) => known.find(({ connection }) => connection === name)?.lastSuccessAt ?? undefined,
  )
  return times.reduce((oldest, time) =>
    oldest === undefined || time === undefined ? undefined : Math.min(oldest, time),
  )
})

/** One look. `told`: the connections that were reported already and are stale still. */
const look = Effect.fn("Serve.staleness")(function* (told: Set<string>, startedAt: number) {
  const { alerts: settings, connectionNames } = yield* Settings
  const alerts = yield* Alerts
  const now = yield* Clock.currentTimeMillis
  const known = yield* connectionRuns()
  for (const connection of connectionNames) {
    // One that was never read is as old as this process: it gets the same time as the others.
    const last = known.find((row) => row.connection === connection)?.lastSuccessAt ?? startedAt
    const age = now - last
    if (age <= Duration.toMillis(settings.staleAfter)) told.delete(connection)
    else if (!told.has(connection)) {
      told.add(connection)
      yield* alerts.raise({
        kind: "staleness",
        connection,
        text: `Connection ${connection} has not been read for ${spanText(age / 1_000)}. See tieout status, or the log of the last runs.`,
        counts: { seconds: Math.round(age / 1_000) },
      })
    }
  }
})

/** Watches until the scope closes. */
export const watchStaleness = Effect.fn("Serve.watchStaleness")(function* (every: Duration.DurationInput) {
  const told = new Set<string>()
  const startedAt = yield* Clock.currentTimeMillis
  const once = look(told, startedAt).pipe(
    Effect.catchAll(({ message }) =>
      Effect.logWarning(`Whether the books are stale cannot be told: ${message}`),
    ),
  )
  yield* Effect.forkScoped(Effect.interruptible(Effect.forever(Effect.zipLeft(once, Effect.sleep(every)))))
})
