/** The base-currency journal against itself and against the native one. */
import type { Sql } from "../Database/Client.ts"
import type { Basis } from "../Valuation/Base.ts"
import { pivot } from "../Valuation/Rates/RateTable.ts"
import type { Fragment, ProofQuery } from "./ProofQuery.ts"

/** `b` is the book's alias; the others are unambiguous. */
const baseName = (sql: Sql): Fragment => sql`
  concat('base entry ', concat_ws('-', b.code, case when series = 'fx' then 'FX' end, to_char(period, 'YYYY-MM'),
    lpad(number::text, greatest(6, length(number::text)), '0')))`

export const lines: ProofQuery = {
  name: "base-lines",
  proves:
    "Every entry of the base-currency journal has all its lines and balances, every line has its entry, and every reversal the revaluation that it takes back.",
  wrong: (sql) => sql`
    select b.code as book, ${baseName(sql)} as row,
      case when e.line_count is null then format('is not there, but has %s lines', p.lines)
        else format('has %s lines of %s, which leave %s', coalesce(p.lines, 0), e.line_count, coalesce(p.over, 0)) end as message
    from valuation.entries e
    full join (
      select book_id, period, series, number, count(*) as lines, sum(amount) as over from valuation.postings
      group by book_id, period, series, number) p using (book_id, period, series, number)
    join mirror.books b using (book_id)
    where p.lines is distinct from e.line_count or p.over <> 0
    union all
    select b.code, ${baseName(sql)}, case x.kind when 'fx_reversal' then 'reverses no revaluation of the month before'
      else 'says that it reverses another entry, which it does not' end
    from (
      select e.book_id, e.period, e.series, e.number, e.kind from valuation.entries e
      join valuation.months m on m.book_id = e.book_id and m.period = e.period
      left join valuation.months v on v.book_id = m.book_id and v.period = (m.period - interval '1 month')::date
      where case when e.series = 'fx' and e.kind = 'fx_reversal'
        -- A month before that was valued anew has its revaluations under other numbers, until this one is.
        then m.previous = v.fingerprint and not exists (
          select 1 from valuation.entries o where o.book_id = e.book_id and o.period = v.period and o.series = 'fx'
            and o.number = e.reverses and o.kind = 'fx_revaluation')
        else e.reverses is not null end) x
    join mirror.books b using (book_id)`,
}

export const natives: ProofQuery = {
  name: "base-natives",
  proves:
    "Every numbered entry of a valued month is in the base-currency journal once, under its number, with its day, its movement and the lines that it has in the books.",
  wrong: (sql) => sql`
    select b.code as book, format('journal entry %s-%s-%s', b.code, to_char(d.period, 'YYYY-MM'),
        lpad(d.number::text, greatest(6, length(d.number::text)), '0')) as row,
      format('account %s: the base-currency journal values %s, the books post %s', coalesce(a.code, d.account_id::text),
        trim_scale(d.valued), trim_scale(d.posted)) as message
    from (
      select book_id, period, number, account_id, sum(valued) as valued, sum(posted) as posted
      from (
        select p.book_id, p.period, p.number, p.account_id, p.native as valued, 0::numeric as posted
        from valuation.postings p where p.series = 'journal' and p.native is not null
        union all
        select n.book_id, n.period, n.number, p.account_id, 0, p.amount
        from valuation.months m
        join ledger.journal_numbers n on n.book_id = m.book_id and n.period = m.period and n.number <= m.through_number
        join ledger.postings p on p.book_id = n.book_id and p.entry_id = n.entry_id
        where m.state is not null) sides
      group by book_id, period, number, account_id having sum(valued) <> sum(posted)) d
    join mirror.books b on b.book_id = d.book_id
    left join ledger.accounts a on a.book_id = d.book_id and a.account_id = d.account_id
    union all
    select b.code, ${baseName(sql)},
      format('values journal entry %s on %s, of %s; the entry of that number is %s on %s, of %s', x.entry_id, x.effective_date,
        coalesce(x.resource_id, 'no movement'), coalesce(j.entry_id::text, 'none'), j.effective_date,
        coalesce(j.resource_id::text, 'no movement'))
    from (select book_id, period, series, number, entry_id, effective_date, resource_id from valuation.entries
      where series = 'journal') x
    join mirror.books b using (book_id)
    left join (
      select n.book_id, n.period, n.number, e.entry_id, e.effective_date, e.resource_id from ledger.journal_numbers n
      join ledger.journal_entries e on e.book_id = n.book_id and e.entry_id = n.entry_id) j using (book_id, period, number)
    where (x.entry_id, x.effective_date, x.resource_id) is distinct from (j.entry_id, j.effective_date, j.resource_id::text)
    union all
    -- Entries that come later would pass for valued; and a closed month that says so would be valued again.
    select b.code, format('%s in the base currency', to_char(m.period, 'YYYY-MM')),
      format('says that it has the entries up to %s; the month counts %s', m.through_number, coalesce(p.last_number, 0))
    from valuation.months m
    join mirror.books b on b.book_id = m.book_id
    left join ledger.periods p on p.book_id = m.book_id and p.period = m.period
    where m.through_number > coalesce(p.last_number, 0)`,
}

/** An amount of a state, which has cents: times 0.01, since a quotient would be rounded at 16 digits. What is no number counts as nothing. */
const cents = (sql: Sql): Fragment =>
  sql`case when s.value ~ '^-?[0-9]+$' then s.value::numeric * 0.01 else 0::numeric end`

/** As `Basis` of `src/Valuation/Base.ts`. */
const bases: ReadonlyArray<Basis> = ["face", "rate", "price", "cost", "carrying", "proportion"]

/** The rates are texts as in their source: `1.1`, `1/1.1`, `990.00/900.00`, or two of these with `*` between them. */
export const values: ProofQuery = {
  name: "base-values",
  proves:
    "Every line that the base-currency journal values at a rate, or at its face, is worth that to half a cent, in its account's currency; and every line says how it was valued.",
  wrong: (sql) => sql`
    select b.code as book, concat(${baseName(sql)}, ', line ', p.line_number) as row,
      format('values %s %s at %s; the books have it in %s', trim_scale(p.native), p.native_currency,
        concat(trim_scale(p.amount), ' by ' || p.rate), coalesce(a.currency, 'no currency')) as message
    from valuation.postings p
    join mirror.books b using (book_id)
    left join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
    cross join lateral (
      select case when p.basis = 'face' then '1'
        when p.rate ~ '^[0-9]+([.][0-9]+)?(/[0-9]+([.][0-9]+)?)?([*][0-9]+([.][0-9]+)?(/[0-9]+([.][0-9]+)?)?)?$' then p.rate
        end as rate) r
    cross join lateral (
      select coalesce(nullif(split_part(split_part(r.rate, '*', 1), '/', 1), ''), '1')::numeric
          * coalesce(nullif(split_part(split_part(r.rate, '*', 2), '/', 1), ''), '1')::numeric as numerator,
        coalesce(nullif(split_part(split_part(r.rate, '*', 1), '/', 2), ''), '1')::numeric
          * coalesce(nullif(split_part(split_part(r.rate, '*', 2), '/', 2), ''), '1')::numeric as denominator) f
    where p.native is not null and p.native_currency is distinct from a.currency
      or p.basis in ('face', 'rate') and (r.rate is null
        or abs(p.amount * f.denominator - p.native * f.numerator) > 0.005 * f.denominator)
    union all
    -- Only a line at a rate or at its face is worth what can be computed again: no other line may pass for another kind.
    select b.code, concat(${baseName(sql)}, ', line ', p.line_number),
      concat('names the basis ', coalesce(p.basis, 'none'), ', ', case
        when coalesce(p.basis, '') <> all (${`{${bases.join(",")}}`}::text[]) then concat('which is not one of ', ${bases.join(", ")}::text)
        when p.rate is not null then 'which has no rate of its own'
        else concat('which a line of ', p.native_currency, ' has not') end)
    from valuation.postings p
    join valuation.months m using (book_id, period)
    join mirror.books b using (book_id)
    where case when p.native is null then p.basis is not null
      else coalesce(p.basis, '') <> all (${`{${bases.join(",")}}`}::text[])
        or (p.basis = 'face') <> (p.native_currency = m.base_currency)
        or p.rate is not null and p.basis in ('price', 'proportion') end`,
}

const balancesOf = (sql: Sql, state: Fragment): Fragment =>
  sql`case when json_typeof(${state} -> 'balances') = 'object' then ${state} -> 'balances' end`

/** A stored rate between two currencies as a line names it: of the pair, or `1/…` of the opposite one; null: of other currencies. */
const ratedAs = (sql: Sql, rate: string, from: Fragment, to: Fragment): Fragment => {
  const column = (name: string) => sql`${sql(rate)}.${sql(name)}`
  return sql`
    case when ${column("from_currency")} = ${from} and ${column("to_currency")} = ${to} then ${column("rate")}::text
      when ${column("from_currency")} = ${to} and ${column("to_currency")} = ${from} then '1/' || ${column("rate")}::text end`
}

/** Imports are kept for good, whatever corrected them later. Rates of the month's own conversions are no imports. */
export const rates: ProofQuery = {
  name: "base-rates",
  proves:
    "Every rate that the base-currency journal names was imported, for its day, its currencies and from its source.",
  wrong: (sql) => sql`
    with used as materialized (
      select distinct p.book_id, a.currency, m.base_currency, p.rate, p.rate_date, p.rate_source
      from valuation.postings p
      join valuation.months m on m.book_id = p.book_id and m.period = p.period and m.rates = 'file'
      join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
      where p.rate is not null),
    unknown as materialized (
      select u.* from used u
      where not exists (
          select 1 from valuation.rates r
          where r.date = u.rate_date and r.source = u.rate_source
            and u.rate = ${ratedAs(sql, "r", sql`u.currency`, sql`u.base_currency`)})
        and not exists (
          select 1 from valuation.rates r join valuation.rates o on o.date = r.date
          where strpos(u.rate, '*') > 0 and r.date = u.rate_date
            and u.rate = ${ratedAs(sql, "o", sql`${pivot}::text`, sql`u.base_currency`)} || '*'
              || ${ratedAs(sql, "r", sql`u.currency`, sql`${pivot}::text`)}
            and u.rate_source = case when r.source = o.source then r.source else concat(r.source, ', ', o.source) end))
    select b.code as book, concat(${baseName(sql)}, ', line ', p.line_number) as row,
      format('is valued at the rate %s of %s (%s), which was not imported', p.rate, p.rate_date, p.rate_source) as message
    from valuation.postings p
    join valuation.months m using (book_id, period)
    join ledger.accounts a using (book_id, account_id)
    join mirror.books b using (book_id)
    join unknown u on u.book_id = b.book_id and u.currency = a.currency and u.base_currency = m.base_currency
      and (u.rate, u.rate_date, u.rate_source) is not distinct from (p.rate, p.rate_date, p.rate_source)
    where m.rates = 'file'`,
}

export const balances: ProofQuery = {
  name: "base-balances",
  proves: "The balances that every valued month leaves are those of the month before and its postings.",
  wrong: (sql) => sql`
    with month as materialized (
      select m.book_id, m.period, m.state, e.state as state_before
      from valuation.months m
      left join valuation.months e on e.book_id = m.book_id and e.period = (m.period - interval '1 month')::date
      where m.state is not null and m.previous = coalesce(e.fingerprint, '')),
    side as materialized (
      select m.book_id, m.period, s.key as account, ${cents(sql)} as left_behind, 0::numeric as carried
      from month m cross join lateral json_each_text(${balancesOf(sql, sql`m.state`)}) s
      union all
      select m.book_id, m.period, s.key, 0, ${cents(sql)}
      from month m cross join lateral json_each_text(${balancesOf(sql, sql`m.state_before`)}) s
      union all
      select p.book_id, p.period, coalesce(p.account_id::text, p.role), 0, sum(p.amount)
      from month m join valuation.postings p on p.book_id = m.book_id and p.period = m.period
      group by p.book_id, p.period, coalesce(p.account_id::text, p.role)
      union all
      select t.book_id, t.period, t.account, 0, t.debit - t.credit
      from month m join ledger.archived_turnover t on t.book_id = m.book_id and t.period = m.period and t.basis = 'base'),
    differing as materialized (
      select book_id, period, account, sum(left_behind) as left_behind, sum(carried) as carried from side
      group by book_id, period, account having sum(left_behind) <> sum(carried))
    select b.code as book,
      format('base balance of %s at the end of %s', coalesce(a.code, d.account), to_char(d.period, 'YYYY-MM')) as row,
      format('says %s; the month before and the postings come to %s', round(d.left_behind, 2), round(d.carried, 2))
        as message
    from differing d
    join mirror.books b on b.book_id = d.book_id
    left join ledger.accounts a on a.book_id = d.book_id and a.account_id::text = d.account`,
}
