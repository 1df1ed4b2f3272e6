/**
 * Checks at the start and every few minutes whether the books have become stale, and alerts once until they are current again.
 * The alert is not stored: a process that starts while the books are stale alerts again, since the previous process may have
 * ended before its alert was delivered. Twice is better than never.
 */
import { Clock, Duration, Effect } from "effect"
import { spanText } from "../Common/Time.ts"
import { Settings } from "../Settings.ts"
import { Alerts } from "./Alerts.ts"
import { connectionRuns } from "./Overview/Runs.ts"

/** The oldest of the connections' last complete reads, epoch milliseconds; undefined: one was never read completely. */
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

/** One check. `reported`: the connections that are stale and have been reported. */
const look = Effect.fn("Serve.staleness")(function* (reported: Set<string>, startedAt: number) {
  const { alerts: settings, connectionNames } = yield* Settings
  const alerts = yield* Alerts
  const now = yield* Clock.currentTimeMillis
  const known = yield* connectionRuns()
  for (const connection of connectionNames) {
    // A connection that was never read counts from the start of this process.
    const last = known.find((row) => row.connection === connection)?.lastSuccessAt ?? startedAt
    const age = now - last
    if (age <= Duration.toMillis(settings.staleAfter)) reported.delete(connection)
    else if (!reported.has(connection)) {
      reported.add(connection)
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
  const reported = new Set<string>()
  const startedAt = yield* Clock.currentTimeMillis
  const once = look(reported, startedAt).pipe(
    Effect.catchAll(({ message }) =>
      Effect.logWarning(`It is unknown whether the books are stale: ${message}`),
    ),
  )
  yield* Effect.forkScoped(Effect.interruptible(Effect.forever(Effect.zipLeft(once, Effect.sleep(every)))))
})
