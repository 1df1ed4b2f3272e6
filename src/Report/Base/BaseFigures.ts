/**
 * A month in the base currency as it is valued: its balances, the rates that were used, and what exchange rates brought or cost.
 * Cents of the base currency, debit positive; the results are positive where they are gains.
 */
import { Effect, Option } from "effect"
import { parse } from "../../Common/MinorUnits.ts"
import type { Sql } from "../../Database/Client.ts"
import { bool, int4, nullable, oneOf, type RowOf, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { type BookAccounts, baseOnlyAccounts, chartAccounts, inBase } from "../../Export/Source/Accounts.ts"
import { accountOf, balancesBefore, exactly } from "../../Export/Source/Balances.ts"
import type { Account } from "../../Format/Entry.ts"
import { Settings } from "../../Settings.ts"
import { type Journal, journalTable } from "../../Valuation/BaseJournal.ts"
import { isOvertaken } from "../../Valuation/Rates/OvertakenMonths.ts"
import { baseScale } from "../../Valuation/Rates/Rate.ts"
import type { ValuationOptions } from "../../Valuation/ValuedBook.ts"
import { valueThen } from "../../Valuation.ts"
import type { ReportScope } from "../ReportScope.ts"

/**
 * The month, and the journal that it is read from: the kept one, or the one as of the report's time. A month that was valued a
 * moment ago is in no statistics yet, so entries are joined with their lines entry by entry (`offset 0`), never as tables.
 */
interface BaseScope extends Pick<ReportScope, "first"> {
  readonly bookId: number
  readonly journal: Journal
}

const monthColumns = {
  currency: text,
  method: oneOf("average", "fifo"),
  /** Whether the month was over when it was valued: only then is it revalued at its end. */
  over: bool,
  /** Entries of the month that came after the valuation and are not in it. */
  later: int4,
}

const rateColumns = {
  currency: text,
  /** As it was imported, base currency for one unit; `1/…` is the inverse of what was imported. */
  rate: text,
  date: text,
  source: text,
  lines: int4,
}

const revaluationColumns = {
  account: text,
  currency: text,
  description: text,
  amount: text,
  /** Null: the month was valued before they were kept. */
  rate: nullable(text),
  date: nullable(text),
  source: nullable(text),
}

const resultColumns = { currency: text, realized: text, unrealized: text }

const turnoverColumns = { account: text, debit: text, credit: text }

export interface BaseBalance {
  readonly account: Account
  readonly opening: bigint
  readonly debit: bigint
  readonly credit: bigint
  readonly closing: bigint
}

export interface BaseFigures extends RowOf<typeof monthColumns> {
  /** Whether it would be valued otherwise now: its rates or settings changed since, or those of a month before. */
  readonly overtaken: boolean
  readonly balances: ReadonlyArray<BaseBalance>
  readonly rates: ReadonlyArray<RowOf<typeof rateColumns>>
  readonly revaluations: ReadonlyArray<RowOf<typeof revaluationColumns>>
  readonly results: ReadonlyArray<RowOf<typeof resultColumns>>
}

const readBalances = Effect.fn("Report.base.balances")(function* (
  { bookId, first, journal }: BaseScope,
  accounts: BookAccounts,
) {
  const database = yield* Database
  const openings = yield* balancesBefore({ bookId, journal }, first, accounts)
  const turnovers = yield* database.rows(
    "Report.base.turnovers",
    turnoverColumns,
    (sql) => sql`
      select coalesce(p.account_id::text, p.role) as account, sum(greatest(p.amount, 0))::text as debit,
        sum(greatest(-p.amount, 0))::text as credit
      from ${journalTable(sql, journal, "postings")} p where p.book_id = ${bookId} and p.period = ${first}::text::date
      group by 1`,
  )
  return yield* exactly(() => {
    const moved = new Map<Account, { debit: bigint; credit: bigint }>()
    for (const { account: key, credit, debit } of turnovers) {
      const account = accountOf(accounts, key)
      const held = moved.get(account) ?? { debit: 0n, credit: 0n }
      moved.set(account, {
        debit: held.debit + parse(debit, baseScale),
        credit: held.credit + parse(credit, baseScale),
      })
    }
    return accounts.ordered.map((account): BaseBalance => {
      const opening = openings.get(account) ?? 0n
      const { credit, debit } = moved.get(account) ?? { debit: 0n, credit: 0n }
      return { account, opening, debit, credit, closing: opening + debit - credit }
    })
  })
})

const readRates = Effect.fn("Report.base.rates")(function* ({ bookId, first, journal }: BaseScope) {
  const database = yield* Database
  return yield* database.rows(
    "Report.base.rates",
    rateColumns,
    (sql) => sql`
      select p.native_currency as currency, p.rate, p.rate_date::text as date, p.rate_source as source,
        count(*)::integer as lines
      from ${journalTable(sql, journal, "postings")} p
      where p.book_id = ${bookId} and p.period = ${first}::text::date and p.rate is not null
        and p.native_currency is not null
      group by p.native_currency, p.rate, p.rate_date, p.rate_source
      order by p.native_currency collate "C", p.rate_date, p.rate, p.rate_source`,
  )
})

/** Exported, like the next one, for the test of its plan. */
export const revaluationsIn = (sql: Sql, { bookId, first, journal }: BaseScope) => sql`
    select a.name as account, a.currency, e.description, p.amount::text as amount, p.rate, p.rate_date::text as date,
      p.rate_source as source
    from ${journalTable(sql, journal, "entries")} e
    cross join lateral (
      select x.account_id, x.amount, x.rate, x.rate_date, x.rate_source from ${journalTable(sql, journal, "postings")} x
      where x.book_id = e.book_id and x.period = e.period and x.series = e.series and x.number = e.number
        and x.account_id is not null offset 0) p
    join ledger.accounts a on a.book_id = e.book_id and a.account_id = p.account_id
    where e.book_id = ${bookId} and e.period = ${first}::text::date and e.kind = 'fx_revaluation'
    order by a.currency collate "C", a.code collate "C", a.name collate "C", e.number`

/**
 * By the currency whose rate it was. What a conversion realized is of the currency sold, or else, where that is the base currency,
 * of the one bought. A settlement and a revaluation are of their accounts' currencies.
 */
export const resultsIn = (sql: Sql, { bookId, first, journal }: BaseScope, base: string) => sql`
    with line as (
      select p.series, p.number, p.role, p.amount, a.role as account_role,
        coalesce(p.native_currency, a.currency) as currency, p.native, e.kind
      from (
        select p.*, bool_or(p.role in ('fx_realized', 'fx_unrealized')) over (partition by p.series, p.number) as results
        from ${journalTable(sql, journal, "postings")} p
        where p.book_id = ${bookId} and p.period = ${first}::text::date) p
      cross join lateral (
        select x.kind from ${journalTable(sql, journal, "entries")} x
        where x.book_id = p.book_id and x.period = p.period and x.series = p.series and x.number = p.number offset 0) e
      left join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
      where p.results),
    whole as (
      select l.series, l.number,
        coalesce(sum(l.amount) filter (where l.role = 'fx_realized'), 0) as realized,
        coalesce(
          min(l.currency) filter (
            where l.account_role = 'conversions_in_transit' and l.native < 0 and l.currency <> ${base}::text),
          min(l.currency) filter (where l.currency <> ${base}::text), ${base}::text) as currency
      from line l where l.series = 'journal' group by l.series, l.number),
    part as (
      select currency, -realized as realized, 0::numeric as unrealized from whole
      union all
      select l.currency, case when l.kind = 'fx_settlement' then l.amount else 0 end,
        case when l.kind = 'fx_settlement' then 0 else l.amount end
      from line l where l.series = 'fx' and l.role is null)
    select currency, trim_scale(sum(realized))::numeric(1000, 2)::text as realized,
      trim_scale(sum(unrealized))::numeric(1000, 2)::text as unrealized
    from part group by currency having sum(realized) <> 0 or sum(unrealized) <> 0
    order by currency collate "C"`

/**
 * None if the month is not valued or, in an as-of report, if its valuation as of then was not asked for (`base`). That
 * valuation is made in the caller's transaction; fails if rates had not been imported by then.
 */
export const readBase = Effect.fn("Report.base")(function* (
  scope: ReportScope,
  native: BookAccounts,
  base: ValuationOptions | undefined,
) {
  const { asOf, book, first, last, period } = scope
  const then = asOf === null ? null : { asOf, base }
  if (then !== null) {
    if (then.base === undefined) return Option.none<BaseFigures>()
    yield* valueThen(book, { from: first, to: last }, then.base, then.asOf, true)
  }
  const journal = then === null ? "kept" : "then"
  const database = yield* Database
  const [month] = yield* database.rows(
    "Report.base.month",
    monthColumns,
    (sql) => sql`
      select m.base_currency as currency, m.method, m.over,
        case when ${then === null} then greatest(l.last_number - m.through_number, 0) else 0 end::integer as later
      from ${journalTable(sql, journal, "months")} m
      join ledger.periods l on l.book_id = m.book_id and l.period = m.period
      where m.book_id = ${book.bookId} and m.period = ${first}::text::date and m.state is not null`,
  )
  if (month === undefined) return Option.none<BaseFigures>()
  const baseOnly =
    then?.base === undefined ? yield* baseOnlyAccounts(book.bookId) : chartAccounts(book.code, then.base)
  const accounts = inBase(native, baseOnly, month.currency)
  const own: BaseScope = { bookId: book.bookId, first, journal }
  const { accounting } = yield* Settings
  const wanted = { baseCurrency: accounting.baseCurrency, settings: accounting.valuation }
  return Option.some<BaseFigures>({
    ...month,
    overtaken: then === null && (yield* isOvertaken(book, wanted, period)),
    balances: yield* readBalances(own, accounts),
    rates: yield* readRates(own),
    revaluations: yield* database.rows("Report.base.revaluations", revaluationColumns, (sql) =>
      revaluationsIn(sql, own),
    ),
    results: yield* database.rows("Report.base.results", resultColumns, (sql) =>
      resultsIn(sql, own, month.currency),
    ),
  })
})
