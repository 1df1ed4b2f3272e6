/** How many of a selection's entries are in each currency, in the caller's repeatable-read transaction. */
import { Effect } from "effect"
import { byBook, isIn } from "../../Book/ByBook.ts"
import type { Sql } from "../../Database/Client.ts"
import { int4, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Selection } from "../Request/ExportScope.ts"
import { selected } from "../Request/Selected.ts"
import { type JournalName, journalView } from "./JournalViews.ts"

/** Whose amounts are looked at for decimals: those of all lines, or what a bank statement shows. */
export type LinesOf = "journal" | "statement"

/** By currency. `precise` are those with an amount of more decimals than were asked about. */
export type CurrencyEntries = ReadonlyMap<string, { readonly entries: number; readonly precise: number }>

/** Whether a line `e` is one of a bank statement: cash that a statement entry moved. */
const isShown = (sql: Sql) => sql`exists (
  select from ledger.accounts a
  join ledger.journal_entries s on s.book_id = a.book_id and s.entry_id = e.entry_id and s.source_type = 'statement_entry'
  where a.book_id = e.book_id and a.account_id::text = e.account and a.role = 'cash')`

/** By book. Lines worth nothing are none. */
export const currencyEntries = Effect.fn("Export.currencyEntries")(function* (
  bookIds: ReadonlyArray<number>,
  journal: JournalName,
  selection: Selection,
  decimals: number,
  lines: LinesOf,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.currencyEntries",
    { bookId: int4, currency: text, entries: int4, precise: int4 },
    (sql) => sql`
      select e.book_id as "bookId", e.currency, count(distinct (e.period, e.series, e.number))::integer as entries,
        count(distinct (e.period, e.series, e.number))
          filter (where scale(trim_scale(e.amount)) > ${decimals}::integer
            and ${lines === "journal" ? sql`true` : isShown(sql)})::integer as precise
      from ${journalView(sql, journal, "journal_lines")} e
      where ${selected(sql, isIn(sql, bookIds), selection)} and e.amount <> 0
      group by e.book_id, e.currency`,
  )
  const found = byBook(rows)
  const entriesOf = (bookId: number): CurrencyEntries =>
    new Map(found.of({ bookId }).map(({ currency, entries, precise }) => [currency, { entries, precise }]))
  return new Map(bookIds.map((bookId) => [bookId, entriesOf(bookId)]))
})
