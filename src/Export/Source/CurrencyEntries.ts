/** How many of a selection's entries are in each currency, in the caller's repeatable-read transaction. */
import { Effect } from "effect"
import { byBook, isIn } from "../../Book/ByBook.ts"
import { int4, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Selection } from "../Request/ExportScope.ts"
import { selected } from "../Request/Selected.ts"
import { type JournalName, journalView } from "./JournalViews.ts"

/** By currency. `precise` are those with an amount of more decimals than were asked about. */
export type CurrencyEntries = ReadonlyMap<string, { readonly entries: number; readonly precise: number }>

/** By book. Lines worth nothing are none. */
export const currencyEntries = Effect.fn("Export.currencyEntries")(function* (
  bookIds: ReadonlyArray<number>,
  journal: JournalName,
  selection: Selection,
  decimals: number,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.currencyEntries",
    { bookId: int4, currency: text, entries: int4, precise: int4 },
    (sql) => sql`
      select e.book_id as "bookId", e.currency, count(distinct (e.period, e.series, e.number))::integer as entries,
        count(distinct (e.period, e.series, e.number))
          filter (where scale(trim_scale(e.amount)) > ${decimals}::integer)::integer as precise
      from ${journalView(sql, journal, "journal_lines")} e
      where ${selected(sql, isIn(sql, bookIds), selection)} and e.amount <> 0
      group by e.book_id, e.currency`,
  )
  const found = byBook(rows)
  const entriesOf = (bookId: number): CurrencyEntries =>
    new Map(found.of({ bookId }).map(({ currency, entries, precise }) => [currency, { entries, precise }]))
  return new Map(bookIds.map((bookId) => [bookId, entriesOf(bookId)]))
})
