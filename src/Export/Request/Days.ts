import { Effect } from "effect"
import { nullable, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Selection } from "./Scope.ts"
import { selected } from "./Selected.ts"

/** The first and the last day that an export covers (accounting time zone, `YYYY-MM-DD`). */
export interface Days {
  readonly first: string
  readonly last: string
}

/** A selection's own days, else those of its first and last entry; null where it has neither. */
export const daysOf = Effect.fn("Export.daysOf")(function* (bookId: number, selection: Selection) {
  const { from, to } = selection
  if (from !== null && to !== null) return { first: from, last: to }
  const database = yield* Database
  const row = yield* database.row(
    "Export.daysOf",
    { first: nullable(text), last: nullable(text) },
    (sql) => sql`
      select min(e.effective_date)::text as first, max(e.effective_date)::text as last
      from ledger.journal e where ${selected(sql, bookId, selection)}`,
  )
  const first = from ?? row.first
  const last = to ?? row.last
  return first === null || last === null ? null : { first, last }
})
