/**
 * The scheduled work: a sync of every connection, then an export of what is new, then alerts. Once, however many processes keep the
 * schedule on one database: each takes the connections that no other has, and takes over from those that are gone.
 */
import { eq, max } from "drizzle-orm"
import { Cause, Effect, Layer, Option } from "effect"
import { allBooks } from "../Book.ts"
import { firstOf } from "../Common/Effects/FirstOf.ts"
import { errorOf } from "../Common/ErrorKind.ts"
import { changedOver } from "../Database/DatabaseError.ts"
import { runs } from "../Database/Tables/Sync.ts"
import { Database } from "../Database.ts"
import { openCounts } from "../Reconcile/Summary.ts"
import { bookTieOuts, combined } from "../Reconcile/TieOut.ts"
import { Settings } from "../Settings.ts"
import { isWaitedFor } from "../Sync/Runs/Failures.ts"
import type { Sync } from "../Sync.ts"
import { Alerts } from "./Alerts.ts"
import { type Claim, databaseNow, isOver, lookAt, type Night } from "./Nightly/Claim.ts"
import { syncConnection } from "./Nightly/ConnectionSync.ts"
import { exportNew } from "./Nightly/NightExport.ts"
import { keepNight, type Tried } from "./Nightly/Turns.ts"
import { attentionTo, failureOf } from "./Nightly/Wording.ts"
import { inboxTrouble } from "./Overview/InboxEvents.ts"

/** Further tries after part of a connection was read: such a failure is not an outage of the whole service. */
const mostPartial = 4

export class Nightly extends Effect.Service<Nightly>()("tieout/Serve/Nightly", {
  effect: Effect.gen(function* () {
    const settings = yield* Settings
    const alerts = yield* Alerts
    const database = yield* Database
    const services = yield* Effect.context<Settings | Sync | Alerts | Database>()

    const report = (what: string, connection: string) => (cause: Cause.Cause<unknown>) =>
      Effect.gen(function* () {
        if (Cause.isInterruptedOnly(cause)) return
        yield* Effect.logError(`The ${what} failed.`, cause)
        yield* alerts.raise(failureOf(what, connection, errorOf(cause)))
      })

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

    /** If the database does not answer, nothing is known and its last committed state holds. */
    const stillOwn = (own: Claim) =>
      own.holds.pipe(
        Effect.orElseSucceed(() => true),
        Effect.provideService(Database, database),
      )

    /**
     * Reports the failure of a part of a night: an outage only the first time, and nothing if this process was overtaken, since
     * the other one reports. Returns whether it was an outage.
     */
    const failed =
      (what: string, connection: string, isFirst: boolean, own: Claim) =>
      (cause: Cause.Cause<unknown>): Effect.Effect<boolean> => {
        const away = isWaitedFor(errorOf(cause))
        const alerted =
          away && !isFirst ? Effect.void : ofLastRun(connection)(report(what, connection)(cause))
        return Effect.as(Effect.whenEffect(alerted, stillOwn(own)), away)
      }

    /** One connection's sync and export. */
    const readAndExport = (connection: string, tries: number, own: Claim) => {
      const isFirst = tries === 0
      const exported = exportNew(connection).pipe(
        Effect.provide(services),
        Effect.mapError(changedOver),
        Effect.as(false),
        Effect.catchAllCause(failed("export", connection, isFirst, own)),
        ofLastRun(connection),
        Effect.whenEffect(stillOwn(own)),
        Effect.map(Option.getOrElse(() => false)),
      )
      return firstOf(syncConnection(connection, isFirst), own.lost).pipe(
        Effect.provide(services),
        Effect.catchAllCause((cause) =>
          Effect.map(failed("sync", connection, isFirst, own)(cause), (away) => ({
            read: false,
            tried: away ? ("away" as const) : ("done" as const),
          })),
        ),
        // A connection that is tried again is exported once now, and again when it is complete.
        Effect.flatMap(({ read, tried }) =>
          Effect.map(
            read && (isFirst || tried === "done") ? exported : Effect.succeed(false),
            (exportAway): Tried =>
              exportAway ? "away" : read && tried === "away" && tries >= mostPartial ? "done" : tried,
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
     * A failing connection does not stop the others. A connection whose service or database is away is tried again after ever
     * longer waits, until the deadline of a run. Never fails: problems go to the log and to an alert.
     */
    const run = (night: Night, stopping: Effect.Effect<void> = Effect.never) =>
      keepNight(night, settings.connectionNames, {
        stopping,
        deadline: settings.limits.runDeadline,
        attempt: readAndExport,
        unclaimed: (connection, cause) => report("sync", connection)(cause),
        givenUp: (connection, why) => {
          const text =
            why === "busy"
              ? `Another run had connection ${connection} until limits.runDeadline: the night did not read it.`
              : `The service or the database of connection ${connection} stayed away until limits.runDeadline. The next sync goes on where this one stopped.`
          return Effect.zipRight(
            Effect.logError(text),
            alerts.raise({ kind: "failure", connection, text, counts: {} }),
          )
        },
        attention: raiseAttention,
      }).pipe(Effect.provideService(Database, database))

    /** Whether a night has to be made up for: some connection was not read since, or its night began and never ended. */
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
