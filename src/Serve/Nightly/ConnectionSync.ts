/** One connection's sync within a night: what it logs, and the alert where it cannot read everything. */
import { Clock, Duration, Effect, Either, Option } from "effect"
import { counted } from "../../Common/Text.ts"
import { clockText } from "../../Common/Time.ts"
import { changedOver } from "../../Database/DatabaseError.ts"
import { failingText, readStates, unreadBooks } from "../../Reconcile/ReadStates.ts"
import { Settings } from "../../Settings.ts"
import { isAway } from "../../Sync/Runs/Failures.ts"
import { readNothing, SyncIncomplete, unreadText } from "../../Sync/Runs/RunReport.ts"
import { Sync } from "../../Sync.ts"
import { Alerts } from "../Alerts.ts"
import type { Tried } from "./Turns.ts"
import { unreadWhole } from "./Wording.ts"

/** Books that are logged by name after a night. */
const unreadLogged = 10

/** Logs the books that cannot be read, the longest first, and raises one alert for all of them. */
const raiseUnread = Effect.fn("Nightly.unread")(function* (connection: string, runId: number) {
  const settings = yield* Settings
  const alerts = yield* Alerts
  const states = yield* readStates(null)
  const failing = unreadBooks(states.filter((book) => book.connection === connection))
  const now = yield* Clock.currentTimeMillis
  for (const { book, since } of failing.slice(0, unreadLogged)) {
    yield* Effect.logWarning(
      `Book ${book.code}: ${failingText(book)}, since ${clockText(since, settings.accounting.timeZone)}.`,
    )
  }
  if (failing.length > unreadLogged)
    yield* Effect.logWarning(`… and ${counted(failing.length - unreadLogged, "more book")}.`)
  const seconds = Math.round((now - (failing[0]?.since ?? now)) / 1_000)
  yield* alerts.raise({
    kind: "failure",
    connection,
    text: `The sync of connection ${connection} could not read everything (run ${runId}): ${unreadWhole(failing.length, seconds)}. What was read stays; the log and the status page say more.`,
    counts: { booksUnread: failing.length, seconds },
  })
})

/** `read`: the connection was read, though perhaps not every book of it, and its books can be exported. */
interface Synced {
  readonly read: boolean
  readonly tried: Tried
}

const result = (read: boolean, tried: Tried): Synced => ({ read, tried })

/** Messages of the first try are not repeated. */
export const syncConnection = Effect.fn("Nightly.sync")(function* (connection: string, isFirst: boolean) {
  const settings = yield* Settings
  const sync = yield* Sync
  const started = yield* sync
    .run({ connection, full: false })
    .pipe(Effect.mapError(changedOver), Effect.timeoutOption(settings.limits.runDeadline), Effect.either)
  if (Either.isLeft(started)) {
    // It may be no sync of everything, or that of a vanished process whose lock is not free yet; and it exports nothing.
    if (started.left._tag === "SyncBusy") return result(false, "busy")
    if (!(started.left instanceof SyncIncomplete)) return yield* started.left
    const { failures, report: reported } = started.left
    const away = isAway(started.left)
    const read = !readNothing(started.left)
    if (away && !isFirst) return result(read, "away")
    for (const failure of failures.slice(0, unreadLogged))
      yield* Effect.logWarning(`Not read: ${unreadText(failure)}: ${failure.why}`)
    yield* Effect.annotateLogs(raiseUnread(connection, reported.runId), { run: reported.runId })
    return result(read, away ? "away" : "done")
  }
  if (Option.isNone(started.right)) {
    yield* (yield* Alerts).raise({
      kind: "failure",
      connection,
      text: `The sync of connection ${connection} was stopped after limits.runDeadline (${Duration.format(settings.limits.runDeadline)}) and nothing was exported. What was read stays, and the next one goes on from there.`,
      counts: {},
    })
    return result(false, "done")
  }
  const { blockingFindings, clientFailures, counters, requests, runId, seconds } = started.right.value
  const asked = Object.values(requests).reduce((sum, value) => sum + value, 0)
  yield* Effect.logInfo(
    `Read ${counted(counters.entries, "new entry", "new entries")} with ${counted(asked, "request")} in ${seconds.toFixed(1)} s; ${counted(blockingFindings, "blocking finding")} open.`,
  ).pipe(Effect.annotateLogs({ run: runId }))
  if (clientFailures.length > 0) yield* Effect.annotateLogs(raiseUnread(connection, runId), { run: runId })
  return result(true, "done")
})
