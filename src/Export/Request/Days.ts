import { Effect } from "effect"
import { byBook, isIn } from "../../Book/ByBook.ts"
import { int4, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { type JournalName, journalView } from "../Source/JournalViews.ts"
import type { Selection } from "./ExportScope.ts"
import { selected } from "./Selected.ts"

/** The first and the last day that an export covers (accounting time zone, `YYYY-MM-DD`). */
export interface Days {
  readonly first: string
  readonly last: string
}

/**
 * By book, a selection's own days, else those of its first and last entry; null where it has neither. `read`: the journal that the
 * entries are in, and what is selected there.
 */
export const daysOf = Effect.fn("Export.daysOf")(function* (
  bookIds: ReadonlyArray<number>,
  { from, to }: Selection,
  read: { readonly journal: JournalName; readonly scope: Selection },
) {
  if (from !== null && to !== null) return new Map(bookIds.map((id) => [id, { first: from, last: to }]))
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.daysOf",
    { bookId: int4, first: text, last: text },
    (sql) => sql`
      select e.book_id as "bookId", min(e.effective_date)::text as first, max(e.effective_date)::text as last
      from ${journalView(sql, read.journal, "journal")} e where ${selected(sql, isIn(sql, bookIds), read.scope)}
      group by e.book_id`,
  )
  const found = byBook(rows)
  return new Map(
    bookIds.map((bookId): readonly [number, Days | null] => {
      const [row] = found.of({ bookId })
      const first = from ?? row?.first
      const last = to ?? row?.last
      return [bookId, first === undefined || last === undefined ? null : { first, last }]
    }),
  )
})
