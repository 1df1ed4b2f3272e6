/** The books: what the rest of Tieout may ask of them. */
import { Effect } from "effect"
import type { Book } from "./Book.ts"
import { inStage } from "./Common/Progress.ts"
import { int4, int8, nullable, text } from "./Database/Columns.ts"
import { Database } from "./Database.ts"
import { Conversions } from "./Ledger/Conversions/WholeConversions.ts"
import { type BookFacts, counterpartyBy, isLoanBy } from "./Ledger/Facts.ts"
import { Journal, type PreparedEntries } from "./Ledger/Journal.ts"
import type { JournalEntry } from "./Ledger/JournalEntry.ts"
import { Accounts } from "./Ledger/LedgerAccounts.ts"
import type { PostingContext } from "./Ledger/Posting.ts"
import { ruleFor } from "./Ledger/PostingRules.ts"
import type { Commit } from "./Run/Lease.ts"
import { Settings } from "./Settings.ts"

/** As many entries are numbered at once by a first sync, hardly by a night's. */
const manyNumbers = 10_000

export class Ledger extends Effect.Service<Ledger>()("tieout/Ledger", {
  dependencies: [Accounts.Default, Conversions.Default, Journal.Default],
  effect: Effect.gen(function* () {
    const database = yield* Database
    const settings = yield* Settings
    const accounts = yield* Accounts
    const journal = yield* Journal
    const conversions = yield* Conversions

    /** Outside any transaction; ledger accounts that are missing are made in a transaction of `commit`. */
    const prepare = Effect.fn("Ledger.prepare")(function* (
      book: Book,
      entries: ReadonlyArray<JournalEntry>,
      commit: Commit,
    ) {
      const lines = entries.flatMap((entry) => entry.lines)
      return {
        entries,
        accounts: yield* accounts.idsOf(book, lines, commit),
        ids: yield* journal.takeIds(entries.length),
      } satisfies PreparedEntries
    })

    /** Part of the caller's transaction. */
    const post = (book: Book, runId: number, prepared: PreparedEntries) => journal.post(book, runId, prepared)

    /**
     * Books what has become of conversions, then gives every entry of the books that waits its journal number: gapless per
     * book and period, in reading order. In one transaction, the caller's where there is one. `runId`: the run that does it.
     */
    const assignNumbers = Effect.fn("Ledger.assignNumbers")(function* (
      books: ReadonlyArray<Book>,
      runId: number | null = null,
    ) {
      const ids = `{${books.map((book) => book.bookId).join(",")}}`
      const number = Effect.gen(function* () {
        // Against postings of these books: what is planned from here on is of entries that no other one can join.
        yield* database.execute(
          "Ledger.assignNumbers.lock",
          (sql) => sql`
            select 1 from ledger.locks where book_id = any (${ids}::text::integer[]) order by book_id for update`,
        )
        yield* conversions.settle(books, runId)
        return yield* database.row(
          "Ledger.assignNumbers",
          { given: int8 },
          (sql) => sql`select ledger.assign_numbers(${ids}::text::integer[]) as given`,
        )
      })
      const { given } = yield* database.transaction(number).pipe(inStage("number"))
      return Number(given)
    })

    /**
     * Hands the room of queues back, which hold everything that a first sync books until it is numbered. Outside any
     * transaction; what somebody else is just using waits for the server's own cleaning.
     */
    const sweepQueues = (numbered: number) =>
      // Behind a pooler everything is in a transaction.
      numbered < manyNumbers || database.settings.pooled === true
        ? Effect.void
        : Effect.asVoid(
            database.execute(
              "Ledger.sweepQueues",
              (sql) => sql`
                vacuum (skip_locked) ledger.unnumbered, ledger.touched_conversions, ledger.transit`,
            ),
          )

    /**
     * Dates books in the accounting time zone of the settings, for good: entries of one book in two zones would put the
     * same hour into two months. Gives those that have another zone, the first by number first. What it writes is written in
     * a transaction of `commit`.
     */
    const dateIn = Effect.fn("Ledger.dateIn")(function* (books: ReadonlyArray<Book>, commit: Commit) {
      const ids = `{${books.map(({ bookId }) => bookId).join(",")}}`
      const { timeZone } = settings.accounting
      const others = database.rows(
        "Ledger.dateIn",
        { book_id: int4, time_zone: nullable(text) },
        (sql) => sql`
          select book_id, time_zone from ledger.locks
          where book_id = any (${ids}::text::integer[]) and time_zone is distinct from ${timeZone} order by book_id`,
      )
      const found = yield* others
      if (found.length === 0) return []
      const rows = yield* commit(
        Effect.zipRight(
          database.execute(
            "Ledger.dateIn.first",
            (sql) => sql`
              update ledger.locks set time_zone = ${timeZone}
              where book_id = any (${ids}::text::integer[]) and time_zone is null`,
          ),
          others,
        ),
      )
      return rows.flatMap(({ book_id: id, time_zone: zone }) => {
        const book = books.find(({ bookId }) => bookId === id)
        return book === undefined ? [] : [{ book, zone }]
      })
    })

    const contextFor = (book: Book, facts: BookFacts): PostingContext => {
      const counterparty = counterpartyBy(facts.destinations)
      return {
        flatWithdrawalFee: settings.accounting.flatWithdrawalFee,
        rule: ruleFor(settings.rules, book.clientId, counterparty),
        isLoan: isLoanBy(facts.loanTransactions),
        counterparty,
      }
    }

    return { prepare, post, assignNumbers, sweepQueues, dateIn, contextFor }
  }),
}) {}
