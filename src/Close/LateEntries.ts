/** Late entries, which came after their month was closed: those of a given month, and those that are dated in it. */
import { Effect } from "effect"
import { byBook } from "../Book/ByBook.ts"
import { printed } from "../Common/AmountText.ts"
import { bool, int4, nullable, text, uuid } from "../Database/Columns.ts"
import { plainArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { journalNumber } from "../Format/Entry.ts"
import type { Month } from "./Month.ts"

export interface LateEntry {
  readonly accountId: string
  readonly currency: string
  readonly amount: string
  /** Null: not numbered yet. */
  readonly number: string | null
  readonly occurredAt: string
  readonly effectiveDate: string
  readonly lateFor: string
  readonly description: string
}

const lateColumns = {
  bookId: int4,
  elsewhere: bool,
  accountId: uuid,
  currency: text,
  amount: text,
  period: text,
  number: nullable(int4),
  occurredAt: text,
  effectiveDate: text,
  lateFor: text,
  description: text,
}

const lateRows = Effect.fn("Close.bridge.late")(function* (months: ReadonlyArray<Month>, period: string) {
  const database = yield* Database
  const ids = months.map(({ book }) => String(book.bookId))
  const first = `${period}-01`
  return yield* database.rows(
    "Close.bridge.late",
    lateColumns,
    (sql) => sql`
      select j.book_id as "bookId", j.late_for = ${first}::text::date as elsewhere, j.partner_account_id as "accountId", p.currency,
        p.amount::text as amount, to_char(j.period, 'YYYY-MM') as period, n.number,
        to_char(j.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "occurredAt",
        j.effective_date::text as "effectiveDate", to_char(j.late_for, 'YYYY-MM') as "lateFor", j.description
      from ledger.journal_entries j
      join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
      join ledger.accounts c on c.book_id = p.book_id and c.account_id = p.account_id and c.role = 'cash'
      left join ledger.journal_numbers n on n.book_id = j.book_id and n.entry_id = j.entry_id
      where j.book_id = any (${plainArray(sql, ids, "int4")}) and j.source_type = 'statement_entry'
        and (j.late_for = ${first}::text::date or j.late_for is not null and j.period = ${first}::text::date)
      order by j.effective_date, j.partner_account_id, j.position`,
  )
})

/** The late entries of one period's months, by book. `elsewhere`: the books date the entry after the month; otherwise in it. */
export const lateEntries = Effect.fn("Close.bridge.lateEntries")(function* (
  months: ReadonlyArray<Month>,
  period: string,
) {
  const codes = new Map(months.map(({ book }) => [book.bookId, book.code]))
  const rows = yield* lateRows(months, period)
  return byBook(
    rows.map(({ bookId, elsewhere, number, period: dated, ...entry }) => ({
      bookId,
      elsewhere,
      entry: {
        ...entry,
        amount: printed(entry.amount, entry.currency),
        number: number === null ? null : journalNumber(codes.get(bookId) ?? "", dated, number),
      } satisfies LateEntry,
    })),
  )
})
