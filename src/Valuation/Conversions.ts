/** What a valuation reads of a month's conversions before it begins: prices in the base currency, and legs of earlier months. */
import { Effect } from "effect"
import { Database } from "../Database.ts"
import { recordedBy } from "../Export/AsOf.ts"
import type { EarlierLeg } from "./Conversion.ts"
import { priceKey } from "./Flow.ts"
import { type Journal, journalTable } from "./Journal.ts"
import type { Unit } from "./Rate.ts"

/** A month's native entries: up to a journal number, `asOf`: that were recorded by then. */
export interface MonthEntries {
  readonly bookId: number
  /** `YYYY-MM-DD` */
  readonly firstDay: string
  readonly through: number
  readonly asOf: string | null
}

/**
 * What was given in the base currency for one unit of what was bought, of the conversions that the month's entries clear:
 * their lines on `trading`, corrections included.
 */
export const pricesIn = Effect.fn("Valuation.pricesIn")(function* (
  { asOf, bookId, firstDay, through }: MonthEntries,
  baseCurrency: string,
) {
  const database = yield* Database
  const rows = yield* database.query(
    "Valuation.pricesIn",
    (sql) => sql<Array<{ id: string; currency: string; cents: string; minor: string }>>`
      with traded as (
        select e.resource_id, p.currency, sum(p.amount) as amount
        from ledger.journal_numbers n
        join ledger.journal_entries e on e.book_id = n.book_id and e.entry_id = n.entry_id
        join ledger.postings p on p.book_id = n.book_id and p.entry_id = n.entry_id
        join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id and a.role = 'trading'
        where n.book_id = ${bookId} and n.period = ${firstDay}::text::date and n.number <= ${through}
          and e.resource_id is not null ${recordedBy(sql, asOf)}
        group by e.resource_id, p.currency)
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

/**
 * What the legs of earlier months were worth, of conversions that something goes back of or is put right of in the month. Of
 * a journal that is made beside the kept one, months that stand may be there without their entries: then they are those of
 * the kept one. Without a journal (null), when only missing rates are looked for, amounts do not matter.
 */
export const earlierLegs = Effect.fn("Valuation.earlierLegs")(function* (
  { asOf, bookId, firstDay, through }: MonthEntries,
  journal: Journal | null,
) {
  const database = yield* Database
  const rows = yield* database.query(
    "Valuation.earlierLegs",
    (sql) => sql<
      Array<{
        id: string
        account_id: number
        partner: string | null
        native: string
        cents: string | null
      }>
    >`
      with back as materialized (
        select distinct e.resource_id
        from ledger.journal_numbers n
        join ledger.journal_entries e on e.book_id = n.book_id and e.entry_id = n.entry_id
        where n.book_id = ${bookId} and n.period = ${firstDay}::text::date and n.number <= ${through}
          and e.resource_id is not null and e.kind not in ('conversion', 'conversion_whole')
          and exists (
            select from ledger.postings p
            join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
            where p.book_id = n.book_id and p.entry_id = n.entry_id and a.role = 'conversions_in_transit')
          ${recordedBy(sql, asOf)})
      select e.resource_id as id, p.account_id, e.partner_account_id::text as partner,
        trunc(p.amount * 10::numeric ^ c.scale)::text as native, trunc(v.amount * 100)::text as cents
      from back
      join ledger.journal_entries e on e.book_id = ${bookId} and e.resource_id = back.resource_id
      join ledger.journal_numbers n on n.book_id = e.book_id and n.entry_id = e.entry_id and n.period < ${firstDay}::text::date
      join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
      join ledger.accounts a
        on a.book_id = p.book_id and a.account_id = p.account_id and a.role = 'conversions_in_transit'
      join ledger.currencies c on c.code = p.currency
      left join lateral (
        select coalesce(
          (select o.amount from ${journalTable(sql, journal ?? "kept", "postings")} o
            where o.book_id = n.book_id and o.period = n.period and o.series = 'journal' and o.number = n.number
              and o.line_number = p.line_number),
          (select k.amount from ${journalTable(sql, "kept", "postings")} k
            where k.book_id = n.book_id and k.period = n.period and k.series = 'journal' and k.number = n.number
              and k.line_number = p.line_number)) as amount) v on true
      where not exists (
          select from ledger.postings t
          join ledger.accounts b on b.book_id = t.book_id and b.account_id = t.account_id
          where t.book_id = e.book_id and t.entry_id = e.entry_id and b.role = 'trading')
        ${recordedBy(sql, asOf)}
      order by e.resource_id, n.period, n.number, p.line_number`,
  )
  return rows.map(
    ({ account_id: accountId, cents, id, native, partner }): EarlierLeg => ({
      id,
      accountId,
      partner,
      native: BigInt(native),
      carrying: BigInt(cents ?? "0"),
    }),
  )
})
