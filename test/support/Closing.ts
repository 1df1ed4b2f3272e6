/** Closing and reopening in plain SQL, all that the database asks for, in one statement text: one transaction. */

const last = (bookId: number, of: string): string =>
  `(select ${of} from ledger.closes c where c.book_id = ${bookId})`

/** The number of the next close, as a hash: each has its own. */
const nextHash = (bookId: number): string =>
  `lpad(${last(bookId, "(coalesce(max(c.sequence), 0) + 1)::text")}, 64, '0')`

const lastHash = (bookId: number, which: string): string =>
  last(bookId, `(array_agg(c.hash order by c.sequence desc) filter (where ${which}))[1]`)

/** The row of `ledger.closes` alone. `month`: `2026-10`. */
export const closeRow = (
  bookId: number,
  month: string,
  hash: string = nextHash(bookId),
  previous: string = lastHash(bookId, "c.action = 'close'"),
): string =>
  `insert into ledger.closes (book_id, sequence, period, action, hash, previous_hash, entries, who, accepted)
   select ${bookId}, ${last(bookId, "coalesce(max(c.sequence), 0) + 1")}, p.period, 'close', ${hash},
     ${previous}, p.last_number, 'test', '[]'
   from ledger.periods p where p.book_id = ${bookId} and p.period = '${month}-01'`

export const stateOf = (bookId: number, month: string, status: "open" | "closed"): string =>
  `update ledger.periods set status = '${status}' where book_id = ${bookId} and period = '${month}-01'`

export const closeBalances = (bookId: number, month: string): string =>
  `insert into ledger.close_balances
   select ${bookId}, ${last(bookId, "max(c.sequence)")}, b.* from ledger.balances_at(${bookId}, '${month}-01') b`

export const closePeriod = (bookId: number, month: string): string =>
  [
    `insert into ledger.periods (book_id, period) select ${bookId}, '${month}-01'
     where not exists (select 1 from ledger.periods where book_id = ${bookId} and period = '${month}-01')`,
    stateOf(bookId, month, "closed"),
    closeRow(bookId, month),
    closeBalances(bookId, month),
  ].join(";\n")

export const reopenRow = (bookId: number, month: string): string =>
  `insert into ledger.closes (book_id, sequence, period, action, previous_hash, entries, who, reason, accepted)
   values (${bookId}, ${last(bookId, "max(c.sequence) + 1")}, '${month}-01', 'reopen',
     ${lastHash(bookId, `c.action = 'close' and c.period = '${month}-01'`)}, 0, 'test', 'because', '[]')`

export const reopenPeriod = (bookId: number, month: string): string =>
  [stateOf(bookId, month, "open"), reopenRow(bookId, month)].join(";\n")
