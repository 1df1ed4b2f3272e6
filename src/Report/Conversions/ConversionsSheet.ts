/**
 * `conversions.csv`: conversions with a leg or a fee in the month. Amounts are the books' (what the statement showed); the
 * stated rate is the service's, units of the buy currency for one of the sell currency.
 *
 * The data hold no market rate, so there is no spread against one. `spread` is the difference between the service's stated
 * rate and what was credited, in the buy currency: sold × stated rate − bought. `spread_beyond_fee` is the part that the fee
 * does not explain: rounding, or else a finding. `returned` is the part of the sold amount that came back. A conversion with
 * only one leg in the month has no effective rate; its remark says where the other leg is.
 */
import { Effect, Stream } from "effect"
import { printed } from "../../Common/AmountText.ts"
import type { Sql } from "../../Database/Client.ts"
import { bool, nullable, type RowOf, text, uuid } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Fragment } from "../../Reconcile/ReconcileScope.ts"
import { entriesOfMonth, type ReportScope, recordedBy, resourcesOf } from "../ReportScope.ts"
import type { Row } from "../Sheet.ts"
import { remarkOf } from "./ConversionRemark.ts"

export const conversionsSheet = {
  name: "conversions.csv",
  columns: {
    effective_date: "text",
    conversion: "text",
    external_reference: "text",
    status: "text",
    sold_currency: "text",
    sold: "figure",
    returned: "figure",
    bought_currency: "text",
    bought: "figure",
    effective_rate: "figure",
    stated_rate: "figure",
    rate_difference: "figure",
    fee_currency: "text",
    fee: "figure",
    spread: "figure",
    spread_beyond_fee: "figure",
    journal_numbers: "text",
    remark: "text",
  },
} as const

export type ConversionRow = Row<typeof conversionsSheet.columns>

const foundColumns = {
  id: uuid,
  day: text,
  reference: nullable(text),
  status: nullable(text),
  soldCurrency: nullable(text),
  sold: text,
  returned: text,
  boughtCurrency: nullable(text),
  bought: text,
  rate: nullable(text),
  feeCurrency: nullable(text),
  fee: text,
  effective: nullable(text),
  rateDifference: nullable(text),
  spread: nullable(text),
  beyond: nullable(text),
  numbers: nullable(text),
  whole: bool,
  soldIn: nullable(text),
  returnedIn: nullable(text),
  boughtIn: nullable(text),
}

type Found = RowOf<typeof foundColumns>

/**
 * The side that a line `p` of an entry `j` is on. Both sides may have one currency, on two rails, so the account decides;
 * cash on another account than the conversion names goes by its currency.
 */
const sideOf = (sql: Sql, conversion: Fragment): Fragment => sql`
  case when j.partner_account_id = ${conversion}.buy_account_id then 'buy'
    when j.partner_account_id = ${conversion}.account_id or p.currency = ${conversion}.currency then 'sell'
    when p.currency = ${conversion}.buy_currency then 'buy' end`

/** The other months with cash of a conversion `f`, by kind, as `o`. */
const elsewhere = (sql: Sql, scope: ReportScope) => {
  const months = (which: Fragment) =>
    sql`string_agg(distinct to_char(j.period, 'YYYY-MM'), ', ') filter (where ${which})`
  const side = sideOf(sql, sql`f`)
  return sql`(
    select ${months(sql`${side} = 'sell' and p.amount < 0`)} as "soldIn",
      ${months(sql`${side} = 'sell' and p.amount > 0`)} as "returnedIn",
      ${months(sql`${side} = 'buy' and p.amount > 0`)} as "boughtIn"
    from mirror.statement_entries e
    join ledger.journal_entries j on j.book_id = e.book_id and j.source_id = e.entry_id and j.sequence = 0
      and j.source_type = 'statement_entry' and j.period <> ${scope.first}::text::date
      and ${recordedBy(sql, scope, sql`j.recorded_at`)}
    join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
    join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id and a.role = 'cash'
    where e.book_id = ${scope.book.bookId} and e.related_id = f.resource_id and e.related_type = 'CONVERSION') o`
}

/** One row per conversion. A fee has one currency; a fee booked in another would show as a difference. */
const conversions = (sql: Sql, scope: ReportScope) => sql`
  with lines as (
    select c.resource_id, j.source_type, p.currency, j.effective_date, n.number, j.external_reference, r.status,
      r.account_id, r.currency as sell_currency, r.buy_account_id, r.buy_currency, r.rate, r.fee_currency,
      ${sideOf(sql, sql`r`)} as side,
      case a.role when 'cash' then p.amount else 0 end as cash, case a.role when 'fees' then p.amount else 0 end as fee
    from ${entriesOfMonth(sql, scope)}
    join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
    join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
    -- A leg that was booked before it named its conversion belongs to it as well.
    cross join lateral (
      select coalesce(case when j.resource_type = 'CONVERSION' then j.resource_id end, (
        select k.resource_id from ledger.journal_entries k
        where j.resource_id is null and j.source_type = 'statement_entry' and k.book_id = j.book_id
          and k.source_id = j.source_id and k.resource_type = 'CONVERSION' and k.resource_id is not null
          and ${recordedBy(sql, scope, sql`k.recorded_at`)} limit 1)) as resource_id) c
    left join ${resourcesOf(sql, scope)} r on r.book_id = j.book_id and r.resource_id = c.resource_id
      and r.resource_type = 'CONVERSION'
    where c.resource_id is not null),
  figures as (
    select l.resource_id, l.status, l.account_id, l.sell_currency as currency, l.buy_account_id, l.buy_currency,
      l.rate, l.fee_currency,
      min(l.effective_date) as day, max(l.external_reference) as reference,
      string_agg(distinct lpad(l.number::text, greatest(6, length(l.number::text)), '0'), ' ') as numbers,
      coalesce(-sum(l.cash) filter (where l.side = 'sell' and l.cash < 0), 0) as sold,
      coalesce(sum(l.cash) filter (where l.side = 'sell' and l.cash > 0), 0) as returned,
      coalesce(sum(l.cash) filter (where l.side = 'buy'), 0) as bought,
      coalesce(sum(l.fee) filter (where l.currency = l.fee_currency), 0) as fee
    from lines l
    group by l.resource_id, l.status, l.account_id, l.sell_currency, l.buy_account_id, l.buy_currency, l.rate, l.fee_currency
    -- Leaves out a conversion of which the month holds only a late correction of the whole: it has no leg and no fee.
    having bool_or(l.source_type <> 'resource_version')),
  rated as (
    select f.*, f.sold > f.returned and f.bought > 0 as whole, (f.sold - f.returned) * f.rate - f.bought as spread,
      case when f.fee_currency = f.currency then f.fee * f.rate else f.fee end as fee_at_rate from figures f)
  select resource_id as id, day::text as day, reference, status, currency as "soldCurrency", sold::text as sold,
    returned::text as returned, whole, o."soldIn", o."returnedIn", o."boughtIn", buy_currency as "boughtCurrency", bought::text as bought, rate::text as rate, fee_currency as "feeCurrency",
    fee::text as fee, numbers,
    case when whole then round(bought / (sold - returned), 10)::text end as effective,
    -- Of the quotient itself: what its rounding takes away is no difference.
    case when whole then round(bought / (sold - returned) - rate, 10)::text end as "rateDifference",
    case when whole then trim_scale(spread)::text end as spread,
    case when whole then trim_scale(spread - fee_at_rate)::text end as beyond
  from rated f
  left join lateral ${elsewhere(sql, scope)} on not f.whole
  order by day, numbers collate "C", resource_id`

const rowOf = (scope: ReportScope, found: Found): ConversionRow => {
  const { boughtCurrency, soldCurrency } = found
  const money = (amount: string | null, currency: string | null) =>
    amount === null || currency === null ? null : printed(amount, currency)
  const leg = (amount: string, currency: string | null) =>
    /[1-9]/.test(amount) ? money(amount, currency) : null
  const sum = (amount: string, currency: string | null) => {
    const text = leg(amount, currency)
    return text === null ? null : `${text} ${currency}`
  }
  const numbers = found.numbers?.split(" ").map((number) => `${scope.book.code}-${scope.period}-${number}`)
  return {
    effective_date: found.day,
    conversion: found.id,
    external_reference: found.reference,
    status: found.status,
    sold_currency: soldCurrency,
    sold: leg(found.sold, soldCurrency),
    returned: leg(found.returned, soldCurrency),
    bought_currency: boughtCurrency,
    bought: leg(found.bought, boughtCurrency),
    effective_rate: found.effective,
    stated_rate: found.rate,
    rate_difference: found.rateDifference,
    fee_currency: found.feeCurrency,
    fee: money(found.fee, found.feeCurrency),
    spread: money(found.spread, boughtCurrency),
    spread_beyond_fee: money(found.beyond, boughtCurrency),
    journal_numbers: numbers?.join(" ") ?? null,
    remark: remarkOf({
      ...found,
      sold: sum(found.sold, soldCurrency),
      returned: sum(found.returned, soldCurrency),
      bought: sum(found.bought, boughtCurrency),
    }),
  }
}

export const conversionRows = (scope: ReportScope) =>
  Stream.unwrap(
    Effect.map(Database, (database) =>
      database
        .rowStream("Report.conversions", foundColumns, (sql) => conversions(sql, scope))
        .pipe(
          Stream.chunks,
          Stream.map((chunk) => [...chunk].map((found) => rowOf(scope, found))),
        ),
    ),
  )
