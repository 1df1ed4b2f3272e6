/** Compares deposits, withdrawals and conversions, field by field, with the service's raw answers stored beside them. */
import type { Sql } from "../Database/Client.ts"
import { type Fragment, otherTime, type ProofQuery } from "./ProofQuery.ts"

/** What is no part of a name at its ends (Unicode's white space and line ends, and the byte order mark); `btrim` alone takes U+0020. */
const white =
  "\t\n\v\f\r \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"

/** The counterparty in `w.destination` of a withdrawal: network and wallet, or bank and account. */
const destination = (sql: Sql): Fragment => {
  const named = (value: Fragment): Fragment => sql`nullif(btrim(${value}, ${white}), '')`
  return sql`
  nullif(case when w.destination ->> 'walletAddress' is not null
    then concat_ws(', ', ${named(sql`w.destination ->> 'network'`)}, ${named(sql`w.destination ->> 'walletAddress'`)})
    else concat_ws(', ', ${named(sql`case jsonb_typeof(w.destination -> 'bank')
      when 'object' then w.destination -> 'bank' ->> 'bankName' else w.destination ->> 'bankName' end`)},
      ${named(sql`w.destination ->> 'accountNumber'`)}) end, '')`
}

const final = (sql: Sql): Fragment => sql`('COMPLETED', 'CANCELED', 'REJECTED')`

/** The text columns of a resource `r` with their expected values from the raw answer `w`. */
const texts = (sql: Sql): Fragment => sql`
  ('identifier', r.resource_id::text, mirror.lower_ascii(coalesce(w.said ->> 'depositId', w.said ->> 'withdrawalId', w.said ->> 'conversionId'))),
  ('status', r.status, w.said ->> 'status'),
  ('form', r.form, case when w.withdrawn then case when w.said ->> 'sourceAmount' is null then 'flat' else 'money' end end),
  ('account', r.account_id::text, mirror.lower_ascii(w.account ->> 'accountId')),
  ('rail', r.account_rail, w.account ->> 'paymentRails'),
  ('currency', r.currency, w.account ->> 'currency'),
  ('buy account', r.buy_account_id::text, mirror.lower_ascii(w.bought ->> 'accountId')),
  ('buy rail', r.buy_account_rail, w.bought ->> 'paymentRails'),
  ('buy currency', r.buy_currency, w.bought ->> 'currency'),
  ('fee currency', r.fee_currency, case when r.fee is null then null when not w.converted then w.account ->> 'currency'
    when coalesce(jsonb_typeof(w.said -> 'fee'), '') <> 'object' then w.said ->> 'feeCurrency'
    else (select f.value from jsonb_each_text(w.said -> 'fee') f where f.value = r.fee_currency limit 1) end),
  ('pair', r.pair_id::text, case when w.converted then mirror.lower_ascii(w.said ->> 'pairId') end),
  ('reason', r.reason_code, w.said ->> 'reasonCode'),
  ('external reference', r.external_reference, w.said ->> 'externalReference'),
  ('counterparty', r.counterparty, case r.resource_type when 'DEPOSIT' then w.said ->> 'remitterName'
    when 'WITHDRAWAL' then ${destination(sql)} end),
  ('reference', r.reference, case when w.withdrawn then
    w.said ->> case when w.said ->> 'sourceAmount' is null then 'purpose' else 'reference' end end),
  ('destination', r.destination_id, mirror.lower_ascii(w.destination ->> 'destinationId')),
  ('code', r.code, w.said ->> 'code'),
  ('transaction hash', r.transaction_hash, w.said ->> 'transactionHash')`

/**
 * The amount columns with their expected values: a decimal, or the decimal in a Money object, whatever its fields are called.
 */
const figures = (sql: Sql): Fragment => sql`
  ('amount', r.amount, case when w.converted then w.said -> 'sellAmount'
    else coalesce(nullif(w.said -> 'sourceAmount', 'null'), w.said -> 'amount') end),
  ('fee', r.fee, coalesce(nullif(nullif(w.said -> 'fee', 'null'), '""'), nullif(w.said -> 'feeAmount', '""'))),
  ('delivered', r.delivered, case when r.form = 'money' then w.said -> 'destinationAmount' end),
  ('buy amount', r.buy_amount, case when w.converted then w.said -> 'buyAmount' end),
  ('rate', r.rate, case when w.converted then w.said -> 'rate' end)`

/**
 * Earlier versions, by which reports of a past day say what was final then. Of one without a state in the answer nothing can be said,
 * nor of a column that is empty.
 */
const earlier = (sql: Sql): Fragment => sql`
  select b.code, format('%s %s, version %s', mirror.lower_ascii(v.resource_type), v.resource_id, v.version), s.message
  from mirror.resource_versions v
  join mirror.books b on b.book_id = v.book_id
  cross join lateral (select v.raw::jsonb as said offset 0) w
  cross join lateral (
    select format('says that its status was %s; the service said %s', v.status, w.said ->> 'status') as message
    where v.status <> w.said ->> 'status'
    union all
    select format('was %s, and is taken for %s', v.status, case when v.final then 'final' else 'not final' end)
    where v.final <> (v.status in ${final(sql)})
    union all
    select format('says that its rate was %s; the service said %s', v.rate, coalesce(w.said ->> 'rate', 'none'))
    where v.rate is not null and not coalesce(
      case when w.said ->> 'rate' ~ '^-?[0-9]+([.][0-9]+)?$' then (w.said ->> 'rate')::numeric = v.rate end, false)
    union all
    select format('says that its fee was in %s, which the service did not name', v.fee_currency)
    where v.fee_currency is not null and not exists (
      select 1 from (
        select w.said ->> 'feeCurrency' as currency
        union all
        select coalesce(w.said -> 'account', w.said -> 'sourceAccount') ->> 'currency'
        union all
        select f.value from jsonb_each_text(case jsonb_typeof(w.said -> 'fee') when 'object' then w.said -> 'fee' else '{}' end) f) x
      where x.currency = v.fee_currency)) s
  where w.said ->> 'status' is not null`

export const resources: ProofQuery = {
  name: "resources",
  proves:
    "Every deposit, withdrawal and conversion is what the service said of it, and every version before it is kept as it was said.",
  wrong: (sql) => sql`
    select b.code as book, format('%s %s', mirror.lower_ascii(r.resource_type), r.resource_id) as row, s.message
    from mirror.resources r
    join mirror.books b on b.book_id = r.book_id
    cross join lateral (
      select a.said, coalesce(a.said -> 'account', a.said -> 'sourceAccount', a.said -> 'sellAccount') as account,
        case when r.resource_type = 'CONVERSION' then a.said -> 'buyAccount' end as bought,
        case when r.resource_type = 'WITHDRAWAL' then a.said -> 'destination' end as destination,
        nullif(a.said ->> 'completedAt', '') as completed,
        r.resource_type = 'WITHDRAWAL' as withdrawn, r.resource_type = 'CONVERSION' as converted
      from (select r.raw::jsonb as said offset 0) a) w
    cross join lateral (
      select format('says that its %s is %s; the service said %s', x.name, coalesce(x.value, 'none'), coalesce(x.said, 'none'))
        as message
      from (values ${texts(sql)}) x (name, value, said)
      -- Empty text counts as none; earlier versions kept it.
      where nullif(x.value, '') is distinct from nullif(x.said, '')
      union all
      select format('says that its %s is %s; the service said %s', x.name, coalesce(x.value::text, 'none'),
        coalesce(x.said #>> '{}', 'none'))
      from (values ${figures(sql)}) x (name, value, said)
      where (x.value is null) <> (coalesce(jsonb_typeof(x.said), 'null') = 'null')
        or x.value is not null and not exists (
          select 1 from (
            select x.said #>> '{}' as figure where jsonb_typeof(x.said) = 'string'
            union all
            select o.value from jsonb_each_text(case jsonb_typeof(x.said) when 'object' then x.said else '{}' end) o) f
          where case when f.figure ~ '^-?[0-9]+([.][0-9]+)?$' then f.figure::numeric = x.value end)
      union all
      select format('says that it was made %s and completed %s; the service said %s and %s', r.created_at,
        coalesce(r.completed_at::text, 'never'), w.said ->> 'createdAt', coalesce(w.completed, 'never'))
      where ${otherTime(sql, sql`w.said ->> 'createdAt'`, sql`r.created_at`)}
        or (r.completed_at is null) <> (not w.converted or w.completed is null)
        or w.converted and ${otherTime(sql, sql`w.completed`, sql`r.completed_at`)}
      union all
      select format('is %s, and taken for %s', r.status, case when r.final then 'final' else 'not final' end)
      where r.final <> (r.status in ${final(sql)})
      union all
      select format('is version %s; of those before it %s are kept, the last is %s', r.version, v.kept, v.last)
      from (
        select count(*) as kept, coalesce(max(o.version), 0) as last from mirror.resource_versions o
        where o.book_id = r.book_id and o.resource_id = r.resource_id and o.resource_type = r.resource_type) v
      where r.version <> v.kept + 1 or v.kept <> v.last) s
    union all
    ${earlier(sql)}`,
}
