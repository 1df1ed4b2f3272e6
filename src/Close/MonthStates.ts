/** What is known of months beside their findings, for the gate and what it says. */
import { Effect } from "effect"
import { byBook } from "../Book/ByBook.ts"
import { counted } from "../Common/Text.ts"
import { bool, int4, type RowOf } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { Settings } from "../Settings.ts"
import { type Month, monthsIn } from "./Month.ts"

const stateColumns = {
  bookId: int4,
  unnumbered: int4,
  backfilled: bool,
  /** Amounts in other currencies than the base currency moved, and rates are imported, but none of the month. */
  unrated: bool,
}

export const readStates = Effect.fn("Close.gate.states")(function* (
  months: ReadonlyArray<Month>,
  period: string,
) {
  const database = yield* Database
  const { baseCurrency, valuation } = (yield* Settings).accounting
  const first = `${period}-01`
  const rows = yield* database.rows(
    "Close.gate.states",
    stateColumns,
    (sql) => sql`
      select m.book_id as "bookId", (
          select count(*)::integer from ledger.unnumbered u
          join ledger.journal_entries j on j.book_id = u.book_id and j.entry_id = u.entry_id
          where u.book_id = m.book_id and j.period <= ${first}::text::date) as unnumbered,
        exists (
          select 1 from sync.runs r
          where r.connection = b.connection and r.command = 'backfill' and r.state = 'done'
            and r.started_at >= m.ends
            and (r.summary -> 'days' ->> 'from')::date <= ${first}::text::date
            and (r.summary -> 'days' ->> 'to')::date >= (${first}::text::date + interval '1 month')::date - 1
            and not coalesce(sync.failed_to_read(r.summary, b.code), false)) as backfilled,
        ${valuation.rates === "file"}
          and exists (select 1 from valuation.rates)
          and not exists (
            select 1 from valuation.rates v
            where v.date >= ${first}::text::date and v.date < ${first}::text::date + interval '1 month')
          and exists (select 1 from ledger.accounts a where a.book_id = m.book_id and a.currency <> ${baseCurrency}) as unrated
      from ${monthsIn(sql, months)}
      join mirror.books b on b.book_id = m.book_id`,
  )
  return byBook(rows)
})

/** Facts that do not block a close but should be known. */
export const notesOf = (
  { backfilled, unnumbered, unrated }: RowOf<typeof stateColumns>,
  { period, willNumber }: { readonly period: string; readonly willNumber: boolean },
): ReadonlyArray<string> => [
  ...(backfilled
    ? []
    : [`No backfill has read all of ${period} again since it ended: tieout backfill --period ${period}`]),
  ...(unrated
    ? [
        `No rate of ${period} is imported: in the base currency its first days would keep the last rates of the month before. Before the close: tieout rates import FILE`,
      ]
    : []),
  ...(unnumbered > 0 && willNumber
    ? [
        `${counted(unnumbered, "journal entry", "journal entries")} ${unnumbered === 1 ? "gets its number" : "get their numbers"} before the close.`,
      ]
    : []),
]
