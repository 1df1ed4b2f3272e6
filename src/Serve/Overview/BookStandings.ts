/** The standing of every book, a row each, the worst first. */
import { isNotNull } from "drizzle-orm"
import { Effect } from "effect"
import { printed } from "../../Common/AmountText.ts"
import { text } from "../../Database/Columns.ts"
import { locks } from "../../Database/Tables/Ledger.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { type ReadState, readStates } from "../../Reconcile/ReadStates.ts"
import { type BookTieOut, bookTieOuts, openParts } from "../../Reconcile/TieOut.ts"

/** How far a book was read, and which parts of it cannot be read. */
export type BookReadState = Omit<ReadState, "bookId" | "code" | "connection">

/** Without the book's name: it may be a client's, which is not shown. */
export type BookStanding = Omit<BookTieOut, "bookId"> & {
  /** Whether the settings read anything of it. */
  readonly isRead: boolean
  readonly reading: BookReadState
  /** The last month that is closed, `2026-09`; null: none is. */
  readonly closedThrough: string | null
}

export interface Balance {
  readonly currency: string
  /** Major unit, at the currency's scale. */
  readonly amount: string
}

/** Of a book of which the settings read nothing. */
const noStreams: BookReadState = {
  failing: 0,
  failingSince: null,
  stream: null,
  trouble: null,
  status: null,
  lag: null,
  knownFor: 0,
}

/**
 * The worst first: books that are off, are blocked, cannot be read, have rows in quarantine, have open items; then by code.
 * Nothing that merely ages or passes counts, so that books keep their places.
 */
const worst: ReadonlyArray<(book: BookStanding) => number> = [
  ({ off }) => off,
  ({ blockingFindings }) => blockingFindings,
  ({ reading }) => reading.failing,
  ({ quarantined }) => quarantined,
  (book) => openParts({ ...book, beingRead: 0 }).length,
  ({ otherWarnings }) => otherWarnings,
]

const byWorst = (a: BookStanding, b: BookStanding): number => {
  for (const badness of worst) {
    const [first, second] = [badness(a), badness(b)]
    if (first !== second) return first > second ? -1 : 1
  }
  return a.code < b.code ? -1 : 1
}

/** The last closed month of every book that has one. */
const closedMonths = Effect.fn("Overview.closed")(function* () {
  const database = yield* Database
  const rows = yield* database.orm("Overview.closed", (orm) =>
    orm
      .select({ bookId: locks.bookId, first: locks.closedThrough })
      .from(locks)
      .where(isNotNull(locks.closedThrough)),
  )
  return new Map(rows.map(({ bookId, first }) => [bookId, first?.slice(0, "2026-10".length)]))
})

/** The books with accounts or open items, or of which something cannot be read. */
export const bookStandings = Effect.fn("Overview.books")(function* () {
  const books = yield* bookTieOuts(null)
  const closed = yield* closedMonths()
  const read = new Map((yield* readStates(null)).map((reading) => [reading.bookId, reading]))
  return books
    .map(
      ({ bookId, ...book }): BookStanding => ({
        ...book,
        isRead: read.has(bookId),
        reading: read.get(bookId) ?? noStreams,
        closedThrough: closed.get(bookId) ?? null,
      }),
    )
    .filter(
      (book) => book.accounts + book.otherWarnings + book.reading.failing > 0 || openParts(book).length > 0,
    )
    .sort(byWorst)
})

/** The ledger's cash of some books, by book and currency. */
export const cashBalances = Effect.fn("Overview.balances")(function* (codes: ReadonlyArray<string>) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Overview.balances",
    { code: text, currency: text, amount: text },
    (sql) => sql`
      select b.code, l.currency, sum(t.debit - t.credit)::text as amount
      from mirror.books b
      join ledger.accounts l on l.book_id = b.book_id and l.role = 'cash'
      join ledger.balances t on t.book_id = l.book_id and t.account_id = l.account_id
      where b.code = any (${textArray(sql, codes)})
      group by b.code, l.currency order by b.code, l.currency`,
  )
  const balances = new Map<string, Array<Balance>>()
  for (const { amount, code, currency } of rows) {
    const own = balances.get(code) ?? []
    own.push({ currency, amount: printed(amount, currency) })
    balances.set(code, own)
  }
  return balances
})
