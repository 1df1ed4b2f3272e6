/** The current status, without reading history: last runs, accounts, open items. */
import { Effect, type Option } from "effect"
import { allBooks } from "../Book.ts"
import { Database } from "../Database.ts"
import { type OpenCounts, openCounts } from "../Reconcile/Summary.ts"
import { bookTieOuts, combined, type TieOut } from "../Reconcile/TieOut.ts"
import { type NotRead, notReadBySync } from "../Reconcile/Unread.ts"
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
}

export class Status extends Effect.Service<Status>()("tieout/Status", {
  effect: Effect.gen(function* () {
    const database = yield* Database
    const settings = yield* Settings

    /** All connections, or one. */
    const read = Effect.fn("Status.read")(
      function* (connection: Option.Option<string>) {
        const books = yield* allBooks(connection)
        const { newEntries, runs } = yield* lastRuns(connection)
        const accounts = yield* accountStandings(books, newEntries)
        const tieOut = combined(yield* bookTieOuts(books.map(({ bookId }) => bookId)))
        const notRead = yield* notReadBySync(books)
        return { runs, accounts, open: yield* openCounts(books), tieOut, notRead } satisfies StatusSummary
      },
      Effect.provideService(Settings, settings),
      Effect.provideService(Database, database),
      // One snapshot: the counts are those of the accounts that are shown.
      (effect) => database.transaction(effect, { isolation: "repeatable read", readOnly: true }),
    )

    return { read }
  }),
}) {}
