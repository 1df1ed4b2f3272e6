/** The books: what the rest of Tieout may ask of them. */
import { Effect } from "effect"
import type { Book } from "./Book.ts"
import { traced } from "./Common/Effects/Traced.ts"
import { inStage } from "./Common/Progress.ts"
import { int4, int8, nullable, text } from "./Database/Columns.ts"
import { Database } from "./Database.ts"
import { Conversions } from "./Ledger/Conversions/WholeConversions.ts"
import { type BookFacts, counterpartyBy, isLoanBy } from "./Ledger/Facts.ts"
import { Journal, type PreparedEntries } from "./Ledger/Journal.ts"
import type { JournalEntry } from "./Ledger/JournalEntry.ts"
import { Accounts } from "./Ledger/LedgerAccounts.ts"
import { lockBooks } from "./Ledger/LockBooks.ts"
import { ruleFor } from "./Ledger/PostingRules.ts"
import type { PostingContext } from "./Ledger/Subject.ts"
import type { Commit } from "./Run/Lease.ts"
import { Settings } from "./Settings.ts"

/** What numbering came to. */
export interface Numbered {
  readonly numbered: number
  /** Entries of conversions that became whole, were reversed or changed, by book. */
  readonly conversionEntries: ReadonlyMap<number, number>
}

export const noneNumbered: Numbered = { numbered: 0, conversionEntries: new Map() }

/** A first sync numbers as many entries at once; a nightly sync hardly does. */
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
    const prepare = traced("Ledger.prepare")(function* (
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
     * Books the conversions that became whole or changed, then gives every waiting entry of the books its journal number:
     * gapless per book and period, in reading order. In one transaction, the caller's if there is one. `runId`: the run that
     * does it. Returns how many numbers it gave, and how many entries of conversions it booked, by book.
     */
    const assignNumbers = Effect.fn("Ledger.assignNumbers")(function* (
      books: ReadonlyArray<Book>,
      runId: number | null = null,
    ) {
      const ids = `{${books.map((book) => book.bookId).join(",")}}`
      const number = Effect.gen(function* () {
        // Excludes postings into these books: no entry can join those that the following plans are made from.
        yield* lockBooks(books)
        const conversionEntries = yield* conversions.settle(books, runId)
        const { given } = yield* database.row(
          "Ledger.assignNumbers",
          { given: int8 },
          (sql) => sql`select ledger.assign_numbers(${ids}::integer[]) as given`,
        )
        return { numbered: Number(given), conversionEntries } satisfies Numbered
      })
      return yield* database.transaction(number).pipe(inStage("number"))
    })

    /**
     * Returns the disk space of queues, which hold all entries of a first sync until they are numbered. Outside any
     * transaction; a queue in use is left to autovacuum.
     */
    const sweepQueues = (numbered: number) =>
      // Behind a pooler every statement is in a transaction.
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
     * Sets the accounting time zone of the settings as that of the books, for good: with entries in two zones, the same hour
     * would belong to two months. Returns the books that have another zone already, by number. Writes in a transaction of
     * `commit`.
     */
    const dateIn = Effect.fn("Ledger.dateIn")(function* (books: ReadonlyArray<Book>, commit: Commit) {
      const ids = `{${books.map(({ bookId }) => bookId).join(",")}}`
      const { timeZone } = settings.accounting
      const others = database.rows(
        "Ledger.dateIn",
        { book_id: int4, time_zone: nullable(text) },
        (sql) => sql`
          select book_id, time_zone from ledger.locks
          where book_id = any (${ids}::integer[]) and time_zone is distinct from ${timeZone} order by book_id`,
      )
      const found = yield* others
      if (found.length === 0) return []
      const rows = yield* commit(
        Effect.zipRight(
          database.execute(
            "Ledger.dateIn.first",
            (sql) => sql`
              update ledger.locks set time_zone = ${timeZone}
              where book_id = any (${ids}::integer[]) and time_zone is null`,
          ),
          others,
        ),
      )
      return rows.flatMap(({ book_id: id, time_zone: zone }) => {
        const book = books.find(({ bookId }) => bookId === id)
        return book === undefined ? [] : [{ book, zone }]
      })
    })

    let run: Commit | undefined

    /**
     * Each run begins with it, for all of its books or book by book. What is remembered of an earlier run is forgotten: the database may
     * be a restored one, in which others have taken the same ids.
     */
    const followChart = (books: ReadonlyArray<Book>, commit: Commit) =>
      Effect.suspend(() => {
        if (run !== commit) journal.forget()
        run = commit
        return accounts.follow(books, commit)
      })

    const ruleOf = ruleFor(settings.rules)

    const contextFor = (book: Book, facts: BookFacts): PostingContext => {
      const counterparty = counterpartyBy(facts.destinations)
      return {
        flatWithdrawalFee: settings.accounting.flatWithdrawalFee,
        rule: ruleOf(book.clientId, counterparty),
        isLoan: isLoanBy(facts.loanTransactions),
        counterparty,
      }
    }

    return {
      prepare,
      post,
      assignNumbers,
      sweepQueues,
      dateIn,
      followChart,
      namesOf: accounts.namesOf,
      contextFor,
    }
  }),
}) {}
