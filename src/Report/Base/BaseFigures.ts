/**
 * A month in the base currency as it is valued: its balances, the rates that were used, and what exchange rates brought or cost.
 * Cents of the base currency, debit positive; the results are positive where they are gains.
 */
import { Effect, Option } from "effect"
import { parse } from "../../Common/MinorUnits.ts"
import { bool, int4, oneOf, type RowOf, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import {
  type BookAccounts,
  baseOnlyAccounts,
  chartAccounts,
  inBase,
  readAccounts,
} from "../../Export/Source/Accounts.ts"
import { accountOf, balancesBefore, exactly } from "../../Export/Source/Balances.ts"
import type { Account } from "../../Format/Entry.ts"
import { type Journal, journalTable } from "../../Valuation/BaseJournal.ts"
import { baseScale } from "../../Valuation/Rates/Rate.ts"
import type { ValuationOptions } from "../../Valuation/ValuedBook.ts"
import { valueThen } from "../../Valuation.ts"
import type { ReportScope } from "../ReportScope.ts"

/** The month, and the journal that it is read from: the kept one, or the one as of the report's time. */
interface BaseScope extends ReportScope {
  readonly journal: Journal
}

const monthColumns = {
  currency: text,
  method: oneOf("average", "fifo"),
  /** Whether the month was over when it was valued: only then is it revalued at its end. */
  over: bool,
  /** Entries of the month that came since, and are not in it. */
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

const revaluationColumns = { account: text, currency: text, description: text, amount: text }

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
  readonly balances: ReadonlyArray<BaseBalance>
  readonly rates: ReadonlyArray<RowOf<typeof rateColumns>>
  readonly revaluations: ReadonlyArray<RowOf<typeof revaluationColumns>>
  readonly results: ReadonlyArray<RowOf<typeof resultColumns>>
}

const readBalances = Effect.fn("Report.base.balances")(function* (
  { book, first, journal }: BaseScope,
  accounts: BookAccounts,
) {
  const database = yield* Database
  const openings = yield* balancesBefore({ bookId: book.bookId, journal }, first, accounts)
  // Of one table: a month that was valued a moment ago has no statistics yet, and a join to its entries may be planned for none.
  const turnovers = yield* database.rows(
    "Report.base.turnovers",
    turnoverColumns,
    (sql) => sql`
      select coalesce(p.account_id::text, p.role) as account, sum(greatest(p.amount, 0))::text as debit,
        sum(greatest(-p.amount, 0))::text as credit
      from ${journalTable(sql, journal, "postings")} p where p.book_id = ${book.bookId} and p.period = ${first}::text::date
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

const readRates = Effect.fn("Report.base.rates")(function* ({ book, first, journal }: BaseScope) {
  const database = yield* Database
  return yield* database.rows(
    "Report.base.rates",
    rateColumns,
    (sql) => sql`
      select p.native_currency as currency, p.rate, p.rate_date::text as date, p.rate_source as source,
        count(*)::integer as lines
      from ${journalTable(sql, journal, "postings")} p
      where p.book_id = ${book.bookId} and p.period = ${first}::text::date and p.rate is not null
      group by p.native_currency, p.rate, p.rate_date, p.rate_source
      order by p.native_currency collate "C", p.rate_date, p.rate, p.rate_source`,
  )
})

const readRevaluations = Effect.fn("Report.base.revaluations")(function* ({
  book,
  first,
  journal,
}: BaseScope) {
  const database = yield* Database
  return yield* database.rows(
    "Report.base.revaluations",
    revaluationColumns,
    (sql) => sql`
      select a.name as account, a.currency, e.description, p.amount::text as amount
      from ${journalTable(sql, journal, "entries")} e
      join ${journalTable(sql, journal, "postings")} p on p.book_id = e.book_id and p.period = e.period and p.series = e.series
        and p.number = e.number and p.account_id is not null
      join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
      where e.book_id = ${book.bookId} and e.period = ${first}::text::date and e.kind = 'fx_revaluation'
      order by a.currency collate "C", a.code collate "C", a.name collate "C", e.number`,
  )
})

/**
 * By the currency whose rate it was. What a conversion realized is of the currency sold, or else, where that is the base currency,
 * of the one bought. A settlement and a revaluation are of their accounts' currencies.
 */
const readResults = Effect.fn("Report.base.results")(function* (
  { book, first, journal }: BaseScope,
  base: string,
) {
  const database = yield* Database
  return yield* database.rows(
    "Report.base.results",
    resultColumns,
    (sql) => sql`
      with line as (
        select p.series, p.number, p.role, p.amount, a.role as account_role,
          coalesce(p.native_currency, a.currency) as currency, p.native, e.kind
        from ${journalTable(sql, journal, "postings")} p
        join ${journalTable(sql, journal, "entries")} e on e.book_id = p.book_id and e.period = p.period and e.series = p.series
          and e.number = p.number
        left join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
        where p.book_id = ${book.bookId} and p.period = ${first}::text::date
          and (p.series, p.number) in (
            select r.series, r.number from ${journalTable(sql, journal, "postings")} r
            where r.book_id = ${book.bookId} and r.period = ${first}::text::date
              and r.role in ('fx_realized', 'fx_unrealized'))),
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
      order by currency collate "C"`,
  )
})

/**
 * None: the month is not valued, or, as of another time, nobody asked for its valuation then (`base`). That one is made in the
 * caller's transaction; fails where rates had not been imported by then.
 */
export const readBase = Effect.fn("Report.base")(function* (
  scope: ReportScope,
  native: BookAccounts,
  base: ValuationOptions | undefined,
) {
  const { asOf, book, first, last } = scope
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
  const accounts = inBase(
    then === null ? native : yield* readAccounts(book.bookId, asOf),
    baseOnly,
    month.currency,
  )
  const own: BaseScope = { ...scope, journal }
  return Option.some<BaseFigures>({
    ...month,
    balances: yield* readBalances(own, accounts),
    rates: yield* readRates(own),
    revaluations: yield* readRevaluations(own),
    results: yield* readResults(own, month.currency),
  })
})
