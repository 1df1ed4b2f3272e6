/** What a valuation reads of earlier months before it begins: lines of what something goes back of, or is put right of, in its own. */
import { Effect } from "effect"
import type { PendingQuery, Row } from "postgres"
import type { Sql } from "../../Database/Client.ts"
import { int4, nullable, text, uuid } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { recordedBy } from "../../Ledger/AsOf.ts"
import { type Journal, journalTable } from "../BaseJournal.ts"

/** A month's native entries: up to a journal number, `asOf`: that were recorded by then. */
export interface MonthEntries {
  readonly bookId: number
  /** `YYYY-MM-DD` */
  readonly firstDay: string
  readonly through: number
  readonly asOf: string | null
}

/** Of which resources, and which lines of them. */
export interface Wanted {
  /** Condition on an entry `e` of the month, numbered `n`: earlier lines of its resource are wanted. */
  readonly back: (sql: Sql) => PendingQuery<Row[]>
  /** Condition on an earlier entry `e`. */
  readonly of: (sql: Sql) => PendingQuery<Row[]>
  /** Of the accounts. */
  readonly roles: ReadonlyArray<string>
}

interface EarlierRow {
  /** The resource. */
  readonly id: string
  readonly accountId: number
  readonly role: string
  /** The service's account that the entry is of. */
  readonly partner: string | null
  /** `2026-09` */
  readonly period: string
  /** Smallest units and cents, debit positive. */
  readonly native: bigint
  readonly carrying: bigint
}

/**
 * Those resources alone, and their entries by the statement's own index and that of corrections, so that it does not grow with
 * history. Of a journal that is made beside the kept one, months that stand may be there without their entries: then they are
 * those of the kept one. Without a journal (null), when only missing rates are looked for, amounts do not matter.
 */
export const earlier = Effect.fn("Valuation.earlier")(function* (
  { asOf, bookId, firstDay, through }: MonthEntries,
  journal: Journal | null,
  { back, of, roles }: Wanted,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Valuation.earlier",
    {
      id: uuid,
      account_id: int4,
      role: text,
      partner: nullable(text),
      period: text,
      native: text,
      cents: nullable(text),
    },
    (sql) => sql`
      with back as materialized (
        select distinct e.resource_id
        from ledger.journal_numbers n
        join ledger.journal_entries e on e.book_id = n.book_id and e.entry_id = n.entry_id
        where n.book_id = ${bookId} and n.period = ${firstDay}::text::date and n.number <= ${through}
          and e.resource_id is not null and ${back(sql)} ${recordedBy(sql, asOf)}),
      entries as (
        select e.entry_id, e.resource_id, e.partner_account_id from back
        join mirror.statement_entries s on s.book_id = ${bookId} and s.related_id = back.resource_id
        join ledger.journal_entries e on e.book_id = s.book_id and e.source_id = s.entry_id and e.sequence = 0
          and e.source_type = 'statement_entry' and e.resource_id = back.resource_id ${recordedBy(sql, asOf)}
        where ${of(sql)}
        union all
        select e.entry_id, e.resource_id, e.partner_account_id from back
        join ledger.journal_entries e on e.book_id = ${bookId} and e.resource_id = back.resource_id and e.sequence > 0
          and e.source_type in ('statement_entry', 'manual') ${recordedBy(sql, asOf)}
        where ${of(sql)})
      select e.resource_id as id, p.account_id, a.role, e.partner_account_id::text as partner,
        to_char(n.period, 'YYYY-MM') as period, trunc(p.amount * 10::numeric ^ c.scale)::text as native,
        trunc(v.amount * 100)::text as cents
      from entries e
      join ledger.journal_numbers n
        on n.book_id = ${bookId} and n.entry_id = e.entry_id and n.period < ${firstDay}::text::date
      join ledger.postings p on p.book_id = n.book_id and p.entry_id = n.entry_id
      join ledger.accounts a
        on a.book_id = p.book_id and a.account_id = p.account_id and a.role = any (${`{${roles.join(",")}}`}::text[])
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
    ({ account_id: accountId, cents, native, ...row }): EarlierRow => ({
      ...row,
      accountId,
      native: BigInt(native),
      carrying: BigInt(cents ?? "0"),
    }),
  )
})
