/**
 * Read before a month is valued: the prices of its conversions, and the lines of earlier months whose conversions or movements
 * the month returns or corrects.
 */
import { Effect } from "effect"
import type { PendingQuery, Row } from "postgres"
import type { Sql } from "../../Database/Client.ts"
import { int4, nullable, text, uuid } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { recordedBy } from "../../Ledger/AsOf.ts"
import { type Journal, journalTable } from "../BaseJournal.ts"
import type { Unit } from "../Rates/Rate.ts"
import { movementRoles } from "./MovementCost.ts"
import { priceKey } from "./UnitValue.ts"

/** The native entries of a month up to a journal number; with `asOf`, only those recorded by then. */
export interface MonthEntries {
  readonly bookId: number
  /** `YYYY-MM-DD` */
  readonly firstDay: string
  readonly through: number
  readonly asOf: string | null
}

/** Selects resources, and lines of them. */
interface Wanted {
  /** Condition on an entry `e` of the month, numbered `n`: it returns or corrects its resource. */
  readonly back: (sql: Sql) => PendingQuery<Row[]>
  /** Condition on an earlier entry `e`. */
  readonly earlierEntry: (sql: Sql) => PendingQuery<Row[]>
  /** The roles of the lines' accounts. */
  readonly roles: ReadonlyArray<string>
}

interface EarlierRow {
  /** The resource's identifier. */
  readonly id: string
  readonly accountId: number
  readonly role: string
  /** The service's account of the entry. */
  readonly partner: string | null
  /** `2026-09` */
  readonly period: string
  /** Smallest units and cents, debit positive. */
  readonly native: bigint
  readonly carrying: bigint
}

/**
 * Reads the selected lines by the indexes of statements and corrections, so that it does not grow with history. Each entry is
 * looked up by itself (laterals): of a book that the statistics do not know yet, a small client's beside a large organization,
 * the planner expects one row, and would read the whole book again for each entry of the month. A temporary
 * journal may hold an unchanged month without its entries: then the kept journal has them. Without a journal (null: only
 * missing rates are looked for) the amounts do not matter.
 */
const earlier = Effect.fn("Valuation.earlier")(function* (
  { asOf, bookId, firstDay, through }: MonthEntries,
  journal: Journal | null,
  { back, earlierEntry, roles }: Wanted,
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
        cross join lateral (
          select e.* from ledger.journal_entries e
          where e.book_id = n.book_id and e.entry_id = n.entry_id offset 0) e
        where n.book_id = ${bookId} and n.period = ${firstDay}::text::date and n.number <= ${through}
          and e.resource_id is not null and ${back(sql)} ${recordedBy(sql, asOf)}),
      entries as (
        select e.entry_id, e.resource_id, e.partner_account_id from back
        join mirror.statement_entries s on s.book_id = ${bookId} and s.related_id = back.resource_id
        join ledger.journal_entries e on e.book_id = s.book_id and e.source_id = s.entry_id and e.sequence = 0
          and e.source_type = 'statement_entry' and e.resource_id = back.resource_id ${recordedBy(sql, asOf)}
        where ${earlierEntry(sql)}
        union all
        select e.entry_id, e.resource_id, e.partner_account_id from back
        join ledger.journal_entries e on e.book_id = ${bookId} and e.resource_id = back.resource_id and e.sequence > 0
          and e.source_type in ('statement_entry', 'manual') ${recordedBy(sql, asOf)}
        where ${earlierEntry(sql)})
      select e.resource_id as id, p.account_id, a.role, e.partner_account_id::text as partner,
        to_char(n.period, 'YYYY-MM') as period, trunc(p.amount * 10::numeric ^ c.scale)::text as native,
        trunc(v.amount * 100)::text as cents
      from entries e
      cross join lateral (
        select n.* from ledger.journal_numbers n
        where n.book_id = ${bookId} and n.entry_id = e.entry_id offset 0) n
      cross join lateral (
        select p.* from ledger.postings p where p.book_id = n.book_id and p.entry_id = n.entry_id offset 0) p
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
      where n.period < ${firstDay}::text::date
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

/**
 * The price in the base currency of one unit bought, by conversion that the month's entries clear: from the lines on `trading`,
 * corrections included.
 */
export const pricesIn = Effect.fn("Valuation.pricesIn")(function* (
  { asOf, bookId, firstDay, through }: MonthEntries,
  baseCurrency: string,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Valuation.pricesIn",
    { id: text, currency: text, cents: text, minor: text },
    (sql) => sql`
      with traded as (
        select t.* from valuation.traded_in(${bookId}, ${firstDay}::text::date, ${through},
          coalesce(${asOf}::text::timestamptz, 'infinity')) t)
      select g.resource_id as id, b.currency, trunc(g.amount * 100)::text as cents,
        trunc(-b.amount * 10::numeric ^ c.scale)::text as minor
      from traded g
      join traded b on b.resource_id = g.resource_id and b.currency <> ${baseCurrency} and b.amount < 0
      join ledger.currencies c on c.code = b.currency
      where g.currency = ${baseCurrency} and g.amount > 0`,
  )
  return new Map(
    rows.map(({ cents, currency, id, minor }): [string, Unit] => [
      priceKey(id, currency),
      { numerator: BigInt(cents), denominator: BigInt(minor) },
    ]),
  )
})

/** Whether an entry `e` has a line on an account of the role, looked up for each entry as in the laterals above. */
const isOn = (sql: Sql, role: string): PendingQuery<Row[]> => sql`
  coalesce((
    select bool_or(b.role = ${role}) from ledger.postings t
    join ledger.accounts b on b.book_id = t.book_id and b.account_id = t.account_id
    where t.book_id = e.book_id and t.entry_id = e.entry_id), false)`

/** The legs of earlier months of conversions that the month returns or corrects, with their value. */
export const earlierLegs = (entries: MonthEntries, journal: Journal | null) =>
  earlier(entries, journal, {
    back: (sql) =>
      sql`e.kind not in ('conversion', 'conversion_whole') and ${isOn(sql, "conversions_in_transit")}`,
    earlierEntry: (sql) => sql`not ${isOn(sql, "trading")}`,
    roles: ["conversions_in_transit"],
  })

/** The lines in clearing of earlier months of movements that the month returns or corrects. */
export const earlierLines = (entries: MonthEntries, journal: Journal | null) =>
  earlier(entries, journal, {
    back: (sql) =>
      sql`e.kind in ('deposit_return', 'withdrawal_return', 'payout_return', 'reclassification')`,
    earlierEntry: (sql) => sql`true`,
    roles: movementRoles,
  })
