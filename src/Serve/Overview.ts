/** The data of the status page and the metrics, read in one snapshot; its cost does not grow with history. */
import { Clock, Effect, Option } from "effect"
import { allBooks } from "../Book.ts"
import { Database } from "../Database.ts"
import { type NotRead, notReadBySync } from "../Reconcile/Unread.ts"
import { type JobQueue, jobQueues } from "../Run/JobQueue.ts"
import { vanishedRuns } from "../Run/Vanished.ts"
import { Settings } from "../Settings.ts"
import { keptFor } from "./Kept.ts"
import { type Balance, type BookStanding, bookStandings, cashBalances } from "./Overview/BookStandings.ts"
import { type InboxOverview, inboxOverview } from "./Overview/InboxEvents.ts"
import {
  type FindingCount,
  type FindingRow,
  findingCounts,
  openFindings,
  type QuarantineRow,
  quarantined,
} from "./Overview/OpenFindings.ts"
import { type BatchRow, recentBatches } from "./Overview/RecentBatches.ts"
import { type ConnectionRuns, connectionRuns, type RunRow, recentRuns } from "./Overview/Runs.ts"

export interface Snapshot {
  /** Our clock, epoch milliseconds. */
  readonly at: number
  /** All books with accounts, the worst first. */
  readonly books: ReadonlyArray<BookStanding>
  /** The balances of the books listed on the page, by code. */
  readonly balances: ReadonlyMap<string, ReadonlyArray<Balance>>
  readonly connections: ReadonlyArray<ConnectionRuns>
  /** What the surfaces of the settings' connections leave out, although the books hold it: no sync reads it any more. */
  readonly leftOut: ReadonlyArray<NotRead>
  readonly runs: ReadonlyArray<RunRow>
  readonly findings: ReadonlyArray<FindingRow>
  readonly findingCounts: ReadonlyArray<FindingCount>
  readonly quarantine: ReadonlyArray<QuarantineRow>
  readonly batches: ReadonlyArray<BatchRow>
  readonly inbox: InboxOverview | null
  /** The jobs that wait for workers, by connection. */
  readonly jobs: ReadonlyArray<JobQueue>
}

/** The most books that the page lists one by one. */
export const listedBooks = 15

/** How long a snapshot is reused: many readers cost no more than one. */
const goodFor = "3 seconds"
/** A database that does not answer within this counts as down. */
const within = "8 seconds"

const leftOutBySettings = Effect.fn("Overview.leftOut")(function* () {
  const { connectionNames } = yield* Settings
  const books = (yield* allBooks(Option.none())).filter(({ connection }) =>
    connectionNames.includes(connection),
  )
  return (yield* notReadBySync(books)).filter(({ leftOut }) => leftOut)
})

const readSnapshot = Effect.fn("Overview.read")(function* (vanished: ReadonlyArray<number>) {
  const at = yield* Clock.currentTimeMillis
  const books = yield* bookStandings()
  const snapshot: Snapshot = {
    at,
    books,
    balances: yield* cashBalances(books.slice(0, listedBooks).map(({ code }) => code)),
    connections: yield* connectionRuns(vanished),
    leftOut: yield* leftOutBySettings(),
    runs: yield* recentRuns(vanished),
    findings: yield* openFindings(),
    findingCounts: yield* findingCounts(),
    quarantine: yield* quarantined(),
    batches: yield* recentBatches(),
    inbox: yield* inboxOverview(),
    jobs: yield* jobQueues(),
  }
  return snapshot
})

export class Overview extends Effect.Service<Overview>()("tieout/Serve/Overview", {
  scoped: Effect.gen(function* () {
    const database = yield* Database
    const settings = yield* Settings
    const fresh = vanishedRuns().pipe(
      Effect.flatMap((vanished) =>
        database.transaction(readSnapshot(vanished), { isolation: "repeatable read", readOnly: true }),
      ),
      Effect.provideService(Settings, settings),
      Effect.provideService(Database, database),
      Effect.disconnect,
      Effect.timeoutOption(within),
    )
    /** A recent snapshot; none if the database takes too long. */
    const read = yield* keptFor(goodFor, fresh)
    return { read }
  }),
}) {}
