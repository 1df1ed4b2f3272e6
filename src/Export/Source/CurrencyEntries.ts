/** How many of a selection's entries are in each currency, in the caller's repeatable-read transaction. */
import { Effect } from "effect"
import { int4, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Selection } from "../Request/Scope.ts"
import { selected } from "../Request/Selected.ts"
import { type BookJournal, journalView } from "./Journal.ts"

/** By currency. `precise` are those with an amount of more decimals than were asked about. */
export type CurrencyEntries = ReadonlyMap<string, { readonly entries: number; readonly precise: number }>

/** Lines worth nothing are none. */
export const currencyEntries = Effect.fn("Export.currencyEntries")(function* (
  { bookId, journal }: BookJournal,
  selection: Selection,
  decimals: number,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.currencyEntries",
    { currency: text, entries: int4, precise: int4 },
    (sql) => sql`
      select e.currency, count(distinct (e.period, e.series, e.number))::integer as entries,
        count(distinct (e.period, e.series, e.number))
          filter (where scale(trim_scale(e.amount)) > ${decimals}::integer)::integer as precise
      from ${journalView(sql, journal, "journal_lines")} e
      where ${selected(sql, bookId, selection)} and e.amount <> 0
      group by e.currency`,
  )
  const found: CurrencyEntries = new Map(
    rows.map(({ currency, entries, precise }) => [currency, { entries, precise }]),
  )
  return found
})
