/** What a valuation reads of a month's movements before it begins: lines in clearing of earlier months. */
import { Effect } from "effect"
import { Database } from "../Database.ts"
import { recordedBy } from "../Export/AsOf.ts"
import type { MonthEntries } from "./Conversions.ts"
import { type Journal, journalTable } from "./Journal.ts"
import { type EarlierLine, movementRoles } from "./Movement.ts"

/**
 * Of movements that something comes back of, or is put right of, in the month: those alone, and their entries by the
 * statement's own index and that of corrections, so that it does not grow with history. Of a journal that is made beside the
 * kept one, months that stand may be there without their entries: then they are those of the kept one. Without a journal
 * (null), when only missing rates are looked for, amounts do not matter.
 */
export const earlierLines = Effect.fn("Valuation.earlierLines")(function* (
  { asOf, bookId, firstDay, through }: MonthEntries,
  journal: Journal | null,
) {
  const database = yield* Database
  const rows = yield* database.query(
    "Valuation.earlierLines",
    (sql) => sql<
      Array<{
        id: string
        account_id: number
        role: string
        period: string
        native: string
        cents: string | null
      }>
    >`
      with back as materialized (
        select distinct e.resource_id
        from ledger.journal_numbers n
        join ledger.journal_entries e on e.book_id = n.book_id and e.entry_id = n.entry_id
        where n.book_id = ${bookId} and n.period = ${firstDay}::text::date and n.number <= ${through}
          and e.resource_id is not null
          and e.kind in ('deposit_return', 'withdrawal_return', 'payout_return', 'reclassification')
          ${recordedBy(sql, asOf)}),
      entries as (
        select e.entry_id, e.resource_id from back
        join mirror.statement_entries s on s.book_id = ${bookId} and s.related_id = back.resource_id
        join ledger.journal_entries e on e.book_id = s.book_id and e.source_id = s.entry_id and e.sequence = 0
          and e.source_type = 'statement_entry' and e.resource_id = back.resource_id ${recordedBy(sql, asOf)}
        union all
        select e.entry_id, e.resource_id from back
        join ledger.journal_entries e on e.book_id = ${bookId} and e.resource_id = back.resource_id and e.sequence > 0
          and e.source_type in ('statement_entry', 'manual') ${recordedBy(sql, asOf)})
      select e.resource_id as id, p.account_id, a.role, to_char(n.period, 'YYYY-MM') as period,
        trunc(p.amount * 10::numeric ^ c.scale)::text as native, trunc(v.amount * 100)::text as cents
      from entries e
      join ledger.journal_numbers n
        on n.book_id = ${bookId} and n.entry_id = e.entry_id and n.period < ${firstDay}::text::date
      join ledger.postings p on p.book_id = n.book_id and p.entry_id = n.entry_id
      join ledger.accounts a
        on a.book_id = p.book_id and a.account_id = p.account_id and a.role = any (${`{${movementRoles.join(",")}}`}::text[])
      join ledger.currencies c on c.code = p.currency
      left join lateral (
        select coalesce(
          (select o.amount from ${journalTable(sql, journal ?? "kept", "postings")} o
            where o.book_id = n.book_id and o.period = n.period and o.series = 'journal' and o.number = n.number
              and o.line_number = p.line_number),
          (select k.amount from ${journalTable(sql, "kept", "postings")} k
            where k.book_id = n.book_id and k.period = n.period and k.series = 'journal' and k.number = n.number
              and k.line_number = p.line_number)) as amount) v on true
      order by e.resource_id, n.period, n.number, p.line_number`,
  )
  return rows.map(
    ({ account_id: accountId, cents, id, native, period, role }): EarlierLine => ({
      id,
      accountId,
      role,
      period,
      native: BigInt(native),
      carrying: BigInt(cents ?? "0"),
    }),
  )
})
