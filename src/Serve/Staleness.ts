/**
 * Checks at the start and every few minutes whether the books have become stale, and alerts once until they are current again; an
 * alert that nobody took is sent again with the next check. It is not stored: a process that starts while the books are stale alerts
 * again, since the previous process may have ended before its alert was delivered. Twice is better than never.
 */
import { Clock, Duration, Effect } from "effect"
import { messageOf } from "../Common/ErrorKind.ts"
import { counted } from "../Common/Text.ts"
import { spanText } from "../Common/Time.ts"
import { type ReadState, readStates, unreadFor } from "../Reconcile/ReadStates.ts"
import { Settings } from "../Settings.ts"
import { Alerts } from "./Alerts.ts"
import { connectionRuns } from "./Overview/Runs.ts"

/** The books of a connection whose sync itself is recent: one alert for all books that became stale since the last check. */
const lookAtBooks = Effect.fn("Serve.staleBooks")(function* (
  connection: string,
  books: ReadonlyArray<ReadState>,
  reported: Set<string>,
) {
  const { staleAfter } = (yield* Settings).alerts
  const { raise } = yield* Alerts
  const key = ({ bookId }: ReadState) => `${connection} ${bookId}`
  const isStale = (book: ReadState) => unreadFor(book) * 1_000 > Duration.toMillis(staleAfter)
  for (const book of books) if (!isStale(book)) reported.delete(key(book))
  const stale = books.filter(isStale)
  const fresh = stale.filter((book) => !reported.has(key(book)))
  if (fresh.length === 0) return
  for (const book of fresh) reported.add(key(book))
  const seconds = Math.max(...stale.map(unreadFor))
  yield* raise(
    {
      kind: "staleness",
      connection,
      text: `${counted(stale.length, "book")} of connection ${connection} ${stale.length === 1 ? "has" : "have"} not been read whole for up to ${spanText(seconds)}. See the status page, or the log of the last runs.`,
      counts: { books: stale.length, seconds: Math.round(seconds) },
    },
    Effect.sync(() => {
      for (const book of fresh) reported.delete(key(book))
    }),
  )
})

/** One check. `reported`: the connections, and the books of others, that are stale and have been reported. */
const look = Effect.fn("Serve.staleness")(function* (reported: Set<string>, startedAt: number) {
  const { alerts: settings, connectionNames } = yield* Settings
  const alerts = yield* Alerts
  const now = yield* Clock.currentTimeMillis
  const known = yield* connectionRuns([])
  const books = yield* readStates(null)
  for (const connection of connectionNames) {
    // A connection that was never read counts from the start of this process.
    const last = known.find((row) => row.connection === connection)?.lastSuccessAt ?? startedAt
    const age = now - last
    if (age <= Duration.toMillis(settings.staleAfter)) {
      reported.delete(connection)
      yield* lookAtBooks(
        connection,
        books.filter((book) => book.connection === connection),
        reported,
      )
    } else if (!reported.has(connection)) {
      reported.add(connection)
      yield* alerts.raise(
        {
          kind: "staleness",
          connection,
          text: `Connection ${connection} has not been read for ${spanText(age / 1_000)}. See tieout status, or the log of the last runs.`,
          counts: { seconds: Math.round(age / 1_000) },
        },
        Effect.sync(() => void reported.delete(connection)),
      )
    }
  }
})

/** Watches until the scope closes. */
export const watchStaleness = Effect.fn("Serve.watchStaleness")(function* (every: Duration.DurationInput) {
  const reported = new Set<string>()
  const startedAt = yield* Clock.currentTimeMillis
  const once = look(reported, startedAt).pipe(
    Effect.catchAllCause((cause) =>
      Effect.logWarning(`It is unknown whether the books are stale: ${messageOf(cause)}`),
    ),
  )
  yield* Effect.forkScoped(Effect.interruptible(Effect.forever(Effect.zipLeft(once, Effect.sleep(every)))))
})
