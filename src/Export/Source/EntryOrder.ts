/** Whether the books' entries, by journal number, stand in the order of their dates as well: then one pass writes every format. */
import { Effect } from "effect"
import { bool } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Selection } from "../Request/ExportScope.ts"

/**
 * Within a month, the entries of a numbering step are numbered by date (`ledger.assign_numbers`), so that only the ends of the
 * steps are compared: an entry that was booked after later ones had their numbers stands in another place by date. Looks at
 * the whole months of a selection, in the caller's repeatable-read transaction.
 */
export const numberedByDate = Effect.fn("Export.numberedByDate")(function* (
  bookId: number,
  { from, to }: Pick<Selection, "from" | "to">,
) {
  const database = yield* Database
  const { ordered } = yield* database.row(
    "Export.numberedByDate",
    { ordered: bool },
    (sql) => sql`
      with steps as materialized (
        select n.period, min(n.number) as first, max(n.number) as last from ledger.journal_numbers n
        where n.book_id = ${bookId}
          and n.period between date_trunc('month', ${from ?? "-infinity"}::text::timestamp)::date and ${to ?? "infinity"}::text::date
        group by n.period, n.numbering)
      select not exists (
        select from (
          select first.effective_date as begins,
            lag(last.effective_date) over (partition by s.period order by s.first) as ended
          from steps s
          join ledger.journal first on first.book_id = ${bookId} and first.period = s.period and first.number = s.first
          join ledger.journal last on last.book_id = ${bookId} and last.period = s.period and last.number = s.last) step
        where step.begins < step.ended) as ordered`,
  )
  return ordered
})
