/** The current status, without reading history: last runs, accounts, open items. */
import { Effect, Option } from "effect"
import { allBooks } from "../Book.ts"
import { Database } from "../Database.ts"
import { type OpenCounts, openCounts } from "../Reconcile/Summary.ts"
import { bookTieOuts, combined, type TieOut } from "../Reconcile/TieOut.ts"
import { type NotRead, notReadBySync } from "../Reconcile/Unread.ts"
import { type JobQueue, jobQueues } from "../Run/JobQueue.ts"
import { vanishedRuns } from "../Run/Vanished.ts"
import { Settings } from "../Settings.ts"
import { accountStandings, type Standing } from "./AccountStandings.ts"
import { type LastRun, lastRuns } from "./LastRuns.ts"

export interface StatusSummary {
  readonly runs: ReadonlyArray<LastRun>
  readonly accounts: ReadonlyArray<Standing>
  readonly open: OpenCounts
  /** The requested books combined. */
  readonly tieOut: TieOut
  /** What the last sync left out. */
  readonly notRead: ReadonlyArray<NotRead>
  /** What waits for workers, by connection. */
  readonly jobs: ReadonlyArray<JobQueue>
}

export class Status extends Effect.Service<Status>()("tieout/Status", {
  effect: Effect.gen(function* () {
    const database = yield* Database
    const settings = yield* Settings

    const shown = Effect.fn("Status.shown")(
      function* (
        connection: Option.Option<string>,
        vanished: ReadonlyArray<number>,
        newEntries: ReadonlyMap<string, number> | undefined,
      ) {
        const books = yield* allBooks(connection)
        const { brought, runs } = yield* lastRuns(connection, vanished)
        const now = newEntries === undefined ? brought : { newEntries, partly: new Set<string>() }
        const accounts = yield* accountStandings(books, now)
        const tieOut = combined(yield* bookTieOuts(books.map(({ bookId }) => bookId)))
        const notRead = yield* notReadBySync(books)
        const jobs = (yield* jobQueues()).filter((queue) =>
          Option.match(connection, { onNone: () => true, onSome: (name) => queue.connection === name }),
        )
        const open = yield* openCounts(books)
        return { runs, accounts, open, tieOut, notRead, jobs } satisfies StatusSummary
      },
      // One snapshot: the counts are those of the accounts that are shown.
      (effect) => database.transaction(effect, { isolation: "repeatable read", readOnly: true }),
    )

    /** All connections, or one. `newEntries`: by `accountKey`; absent: those of each connection's last sync. */
    const read = Effect.fn("Status.read")(
      function* (connection: Option.Option<string>, newEntries?: ReadonlyMap<string, number>) {
        return yield* shown(connection, yield* vanishedRuns(), newEntries)
      },
      Effect.provideService(Settings, settings),
      Effect.provideService(Database, database),
    )

    return { read }
  }),
}) {}
