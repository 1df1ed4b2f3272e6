/** The standing of every book, a row each, the worst first. */
import { Effect } from "effect"
import { text } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { printed } from "../../Reconcile/Printed.ts"
import { type BookTieOut, bookTieOuts, openParts } from "../../Reconcile/TieOut.ts"

/** Without the book's name: it may be a client's, which is not shown. */
export type BookStanding = Omit<BookTieOut, "bookId">

export interface Balance {
  readonly currency: string
  /** Major unit, at the currency's scale. */
  readonly amount: string
}

/** The worst first: what is off, what blocks, what waits in quarantine, what is open; then the longest unread. */
const worst: ReadonlyArray<(book: BookStanding) => number> = [
  ({ off }) => off,
  ({ blockingFindings }) => blockingFindings,
  ({ quarantined }) => quarantined,
  (book) => openParts(book).length,
  ({ otherWarnings }) => otherWarnings,
  ({ lag }) => lag ?? Number.POSITIVE_INFINITY,
]

const byWorst = (a: BookStanding, b: BookStanding): number => {
  for (const badness of worst) {
    const [first, second] = [badness(a), badness(b)]
    if (first !== second) return first > second ? -1 : 1
  }
  return a.code < b.code ? -1 : 1
}

/** The books with accounts or open items. */
export const bookStandings = Effect.fn("Overview.books")(function* () {
  const books = yield* bookTieOuts(null)
  return books
    .filter((book) => book.accounts + book.otherWarnings > 0 || openParts(book).length > 0)
    .map(({ bookId: _, ...book }): BookStanding => book)
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
