/**
 * The scheduled work: a sync of every connection, then an export of what is new, then alerts. Once, however many processes keep the
 * schedule on one database: each takes the connections that no other has, and takes over from those that are gone.
 */
import { eq, max } from "drizzle-orm"
import { Cause, Clock, Duration, Effect, Either, Layer, Option } from "effect"
import { allBooks } from "../Book.ts"
import { errorOf } from "../Common/ErrorKind.ts"
import { counted } from "../Common/Text.ts"
import { clockText } from "../Common/Time.ts"
import { changedOver } from "../Database/DatabaseError.ts"
import { runs } from "../Database/Tables/Sync.ts"
import { Database } from "../Database.ts"
import { run as runExport } from "../Export.ts"
import { failingText, readings } from "../Reconcile/Readings.ts"
import { openCounts } from "../Reconcile/Summary.ts"
import { bookTieOuts, combined } from "../Reconcile/TieOut.ts"
import { Settings } from "../Settings.ts"
import { isAway } from "../Sync/Runs/Failures.ts"
import { readNothing, SyncIncomplete, unreadText } from "../Sync/Runs/RunReport.ts"
import { Sync } from "../Sync.ts"
import { Alerts } from "./Alerts.ts"
import { type Claim, databaseNow, isOver, lookAt, type Night } from "./Nightly/Claim.ts"
import { keepNight } from "./Nightly/Turns.ts"
import { attentionTo, failureOf, unreadWhole } from "./Nightly/Wording.ts"
import { inboxTrouble } from "./Overview/Inbox.ts"

/** Further tries where a part of a connection was read: what fails then is no outage of the service as a whole. */
const mostPartial = 4

/** Books that are logged by name after a night. */
const unreadLogged = 10

export class Nightly extends Effect.Service<Nightly>()("tieout/Serve/Nightly", {
  effect: Effect.gen(function* () {
    const settings = yield* Settings
    const sync = yield* Sync
    const alerts = yield* Alerts
    const database = yield* Database

    const report = (what: string, connection: string) => (cause: Cause.Cause<unknown>) =>
      Effect.gen(function* () {
        if (Cause.isInterruptedOnly(cause)) return
        yield* Effect.logError(`The ${what} failed.`, cause)
        yield* alerts.raise(failureOf(what, connection, errorOf(cause)))
      })

    /** Logs the books that cannot be read, the longest first, and raises one alert for all of them. */
    const raiseUnread = Effect.fn("Nightly.unread")(
      function* (connection: string, runId: number) {
        const failing = (yield* readings(null))
          .flatMap((book) =>
            book.connection === connection && book.failingSince !== null
              ? [{ book, since: book.failingSince }]
              : [],
          )
          .sort((a, b) => a.since - b.since)
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
      },
      Effect.provideService(Settings, settings),
      Effect.provideService(Database, database),
    )

    /**
     * `read`: the connection's books can be exported; it was read, though perhaps not every book of it. `away`: it is to be
     * tried again. What was said the first time is not said again.
     */
    const syncOne = Effect.fn("Nightly.sync")(function* (
      connection: string,
      isFirst: boolean,
      { isTakeover }: Claim,
    ) {
      const started = yield* sync
        .run({ connection, full: false })
        .pipe(Effect.mapError(changedOver), Effect.timeoutOption(settings.limits.runDeadline), Effect.either)
      if (Either.isLeft(started)) {
        // The other sync does the same work.
        if (started.left._tag === "SyncBusy") {
          yield* Effect.logInfo("Another sync of the connection is running; this one is left to it.")
          // It may be that of who is gone, whose lock is not free yet.
          return { read: false, away: isTakeover }
        }
        if (!(started.left instanceof SyncIncomplete)) return yield* started.left
        const { failures, report: reported } = started.left
        const away = isAway(started.left)
        const read = !readNothing(started.left)
        if (away && !isFirst) return { read, away }
        for (const failure of failures.slice(0, unreadLogged))
          yield* Effect.logWarning(`Not read: ${unreadText(failure)}: ${failure.why}`)
        yield* Effect.annotateLogs(raiseUnread(connection, reported.runId), { run: reported.runId })
        return { read, away }
      }
      if (Option.isNone(started.right)) {
        yield* Effect.logWarning(
          `The sync was stopped after limits.runDeadline (${Duration.format(settings.limits.runDeadline)}); the next one goes on from there.`,
        )
        return { read: false, away: false }
      }
      const { blockingFindings, clientFailures, counters, requests, runId, seconds } = started.right.value
      const asked = Object.values(requests).reduce((sum, value) => sum + value, 0)
      yield* Effect.logInfo(
        `Read ${counted(counters.entries, "new entry", "new entries")} with ${counted(asked, "request")} in ${seconds.toFixed(1)} s; ${counted(blockingFindings, "blocking finding")} open.`,
      ).pipe(Effect.annotateLogs({ run: runId }))
      if (clientFailures.length > 0)
        yield* Effect.annotateLogs(raiseUnread(connection, runId), { run: runId })
      return { read: true, away: false }
    })

    const exportOne = Effect.fn("Nightly.export")(
      function* (connection: string) {
        const formats = settings.schedule.export
        if (formats === null) return
        const { batches, unchanged } = yield* runExport({
          perFormat: true,
          formats,
          scope: { kind: "since-last" },
          connection: Option.some(connection),
          book: Option.none(),
          out: settings.schedule.out,
          keepFiles: settings.export.keepFiles,
        })
        yield* Effect.logInfo(
          `Exported ${counted(batches.length, "batch", "batches")}; nothing new in ${counted(unchanged.length, "book")}.`,
        )
      },
      Effect.provideService(Database, database),
    )

    const raiseOpen = Effect.fn("Nightly.attention")(
      function* () {
        const open = yield* openCounts(yield* allBooks(Option.none()))
        const attention = attentionTo(open, combined(yield* bookTieOuts(null)), yield* inboxTrouble())
        if (attention.text === "") return
        yield* alerts.raise({ kind: "findings", connection: null, ...attention })
      },
      Effect.provideService(Settings, settings),
      Effect.provideService(Database, database),
    )

    /** Annotates log lines with the connection's last run, where it is known. */
    const ofLastRun =
      (connection: string) =>
      <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
        database
          .orm("Nightly.lastRun", (orm) =>
            orm
              .select({ run: max(runs.runId) })
              .from(runs)
              .where(eq(runs.connection, connection)),
          )
          .pipe(
            Effect.map(([row]) => row?.run ?? null),
            Effect.orElseSucceed(() => null),
            Effect.flatMap((run) => (run === null ? effect : Effect.annotateLogs(effect, { run }))),
          )

    /** Of a database that does not answer nobody knows: what it committed last holds. */
    const stillOwn = (own: Claim) =>
      own.holds.pipe(
        Effect.orElseSucceed(() => true),
        Effect.provideService(Database, database),
      )

    /**
     * What a part of a night failed with: an outage is told of the first time alone, and who was overtaken has nothing to say,
     * for the other one does. Whether it was an outage.
     */
    const failed =
      (what: string, connection: string, isFirst: boolean, own: Claim) =>
      (cause: Cause.Cause<unknown>): Effect.Effect<boolean> => {
        const away = isAway(changedOver(errorOf(cause)))
        const alerted =
          away && !isFirst ? Effect.void : ofLastRun(connection)(report(what, connection)(cause))
        return Effect.as(Effect.whenEffect(alerted, stillOwn(own)), away)
      }

    /** One connection's sync and export. Whether something was away, and is to be tried again. */
    const readAndExport = (connection: string, tries: number, own: Claim) => {
      const isFirst = tries === 0
      const exported = exportOne(connection).pipe(
        Effect.mapError(changedOver),
        Effect.as(false),
        Effect.catchAllCause(failed("export", connection, isFirst, own)),
        ofLastRun(connection),
        Effect.whenEffect(stillOwn(own)),
        Effect.map(Option.getOrElse(() => false)),
      )
      return Effect.raceFirst(syncOne(connection, isFirst, own), own.lost).pipe(
        Effect.catchAllCause((cause) =>
          Effect.map(failed("sync", connection, isFirst, own)(cause), (away) => ({ read: false, away })),
        ),
        // What is tried again is exported once, and again when it is whole.
        Effect.flatMap(({ away, read }) =>
          Effect.map(
            read && (isFirst || !away) ? exported : Effect.succeed(false),
            (exportAway) => exportAway || (away && (!read || tries < mostPartial)),
          ),
        ),
      )
    }

    const raiseAttention = Effect.catchAllCause(raiseOpen(), (cause) =>
      Cause.isInterruptedOnly(cause)
        ? Effect.void
        : Effect.logError("What is open could not be counted.", cause),
    )

    /**
     * A failing connection does not stop the others. One whose service, or whose database, is away is tried again after a
     * while, and after longer ones, until the deadline of a run. Never fails: problems go to the log and to an alert.
     */
    const run = (night: Night) =>
      keepNight(night, settings.connectionNames, {
        deadline: settings.limits.runDeadline,
        attempt: readAndExport,
        unclaimed: (connection, cause) => report("sync", connection)(cause),
        givenUp: (connection) => {
          const text = `The service or the database of connection ${connection} stayed away until limits.runDeadline. The next sync goes on where this one stopped.`
          return Effect.zipRight(
            Effect.logError(text),
            alerts.raise({ kind: "failure", connection, text, counts: {} }),
          )
        },
        attention: raiseAttention,
      }).pipe(Effect.provideService(Database, database))

    /** Whether a night is to be made up for: a connection was not read since, or its night was begun and never ended. */
    const isMissed = Effect.fn("Nightly.isMissed")(
      function* (due: number) {
        const night: Night = { due, isMissed: true }
        const known = yield* Effect.forEach(settings.connectionNames, (name) => lookAt(name, night))
        return known.some((one) => !isOver(night, one))
      },
      Effect.provideService(Database, database),
    )

    const now = Effect.provideService(databaseNow(), Database, database)

    return { run, isMissed, now }
  }),
}) {
  static readonly layer = Layer.provideMerge(Nightly.Default, Alerts.Default)
}
