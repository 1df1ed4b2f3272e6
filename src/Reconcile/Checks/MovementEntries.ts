/**
 * Check 3: every completed deposit, withdrawal and conversion has its entries, with the right totals, on the right
 * accounts; and every stated fee is shown. `paid` and `received` are the debits and credits of the movement on its
 * account, `buy_…` those on the account that a conversion buys for. A movement that was returned in full is complete. What
 * a person has moved is explained: a surplus entry, or a conversion's side that will never be complete.
 */
import type { Sql } from "../../Database/Client.ts"
import { totalsWithoutMoved } from "../ByHand.ts"
import type { CheckQuery } from "../Findings.ts"
import {
  brokenAccounts,
  type Fragment,
  inBooks,
  instantText,
  isClosing,
  resourcesInScope,
  type Scope,
  sumText,
} from "../ReconcileScope.ts"

const checks = ["movement-entries", "stated-fee"] as const

/** A fee belongs to the side in its currency; to the sell side where both sides have the same currency. */
const totals = (sql: Sql, scope: Scope): Fragment => sql`
  select r.book_id, r.resource_id, r.resource_type, r.form, r.account_id, r.currency, r.amount, r.buy_account_id,
    r.buy_currency, r.buy_amount, r.delivered, r.changed_at, r.created_at, r.completed_at,
    case when r.fee_currency = r.currency then r.fee else 0 end as fee,
    case when r.fee_currency = r.buy_currency and r.fee_currency <> r.currency then r.fee else 0 end as buy_fee,
    count(s.entry_id) as entries,
    coalesce(sum(s.amount) filter (where s.account_id = r.account_id and s.type = 'DEBIT'), 0) as paid,
    coalesce(sum(s.amount) filter (where s.account_id = r.account_id and s.type = 'CREDIT'), 0) as received,
    coalesce(sum(s.amount) filter (where s.account_id = r.buy_account_id and s.type = 'DEBIT'), 0) as buy_paid,
    coalesce(sum(s.amount) filter (where s.account_id = r.buy_account_id and s.type = 'CREDIT'), 0) as buy_received,
    count(s.entry_id) > 1 and bool_or(s.amount = r.fee) as shows_fee, min(s.occurred_at) as first_at,
    count(s.entry_id) filter (where (s.account_id = r.account_id and s.currency = r.currency
      or s.account_id = r.buy_account_id and s.currency = r.buy_currency) is not true) as elsewhere
  from mirror.resources r
  left join mirror.statement_entries s on s.book_id = r.book_id and s.related_id = r.resource_id
    and s.related_type = r.resource_type and not s.held
  where r.status = 'COMPLETED' and ${resourcesInScope(sql, scope, ...checks)}
  group by r.book_id, r.resource_id, r.resource_type`

const sellComplete = (sql: Sql): Fragment => sql`
  (t.paid - t.received in (t.amount, t.amount + t.fee) or t.paid in (t.amount, t.amount + t.fee) and t.received = t.fee)`

const buyComplete = (sql: Sql): Fragment => sql`
  t.buy_received - t.buy_paid in (t.buy_amount, t.buy_amount - t.buy_fee)`

/**
 * Patterns that count as complete: the fee before the amount, after it, separate, or refunded; and full returns, with or
 * without the fee.
 */
const complete = (sql: Sql): Fragment => sql`
  t.elsewhere = 0 and case t.resource_type
    when 'DEPOSIT' then
      (t.received, t.paid) in ((t.amount - t.fee, 0), (t.amount, t.fee), (t.amount, 0), (t.amount + t.fee, t.fee))
      or t.paid > 0 and t.received in (t.amount, t.amount - t.fee) and t.received - t.paid in (0, -t.fee)
    when 'WITHDRAWAL' then
      t.paid in (t.amount, t.amount + t.fee) and t.received in (0, t.fee, t.paid, t.paid - t.fee)
    else
      ${sellComplete(sql)} and ${buyComplete(sql)}
      or t.paid >= t.amount and t.received in (t.paid, t.paid - t.fee)
        and t.buy_paid > 0 and t.buy_received - t.buy_paid in (0, -t.buy_fee)
    end`

/** Complete without the entries that a person has moved, or with one side moved as a whole by a person. */
const explained = (sql: Sql): Fragment => sql`
  exists (
    select 1 from (${totalsWithoutMoved(sql)}) t
    where t.entries > 0 and ${complete(sql)}
      or t.resource_type = 'CONVERSION' and t.elsewhere = 0
        and (t.sell_moved or ${sellComplete(sql)}) and (t.buy_moved or ${buyComplete(sql)}))`

/**
 * What is booked as the fee of a flat withdrawal whose entries total its amount, so that the settings alone say whether its fee is
 * inside; null for every other movement.
 */
const feeBySettings = (sql: Sql): Fragment => sql`
  case when t.resource_type = 'WITHDRAWAL' and t.form = 'flat' and t.fee > 0 and t.paid = t.amount and t.received = 0
    and not t.shows_fee
  then (
    select coalesce(sum(p.amount), 0) from mirror.statement_entries s
    join ledger.journal_entries j on j.book_id = s.book_id and j.source_id = s.entry_id
    join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
    join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id and a.role = 'fees'
    where s.book_id = t.book_id and s.related_id = t.resource_id and s.related_type = t.resource_type and not s.held) end`

/** A movement keeps the fee that it was booked with when the setting changes, until it is booked anew. */
const bookedOtherwise = (sql: Sql, scope: Scope): Fragment =>
  scope.flatWithdrawalFee === "inside" ? sql`t.fee_by_settings <> t.fee` : sql`t.fee_by_settings <> 0`

/**
 * A stated fee that no entry shows: a deposit credited in full, or a flat withdrawal whose fee is not inside by the settings; or one
 * that was booked by other settings.
 */
const feeUnshown = (sql: Sql, scope: Scope): Fragment => sql`
  t.fee > 0 and (t.entries = 0 and t.resource_type = 'DEPOSIT' and not (${beforeFirstEntry(sql)})
    or t.entries > 0 and t.resource_type = 'DEPOSIT' and t.received = t.amount and t.paid = 0
    or t.fee_by_settings is not null and (${scope.flatWithdrawalFee === "none"} or ${bookedOtherwise(sql, scope)}))`

/**
 * What a withdrawal says it delivered is its amount less the fee; or its amount, where the fee is debited on top of it or beside it, or
 * something came back.
 */
const misdelivered = (sql: Sql): Fragment => sql`
  t.delivered <> t.amount - t.fee and (t.delivered <> t.amount or t.paid = t.amount and t.received = 0)`

/**
 * A movement that the statement does not reach back to: it has no entries and was created before the account's first known
 * entry, which starts from a balance other than zero.
 */
const beforeFirstEntry = (sql: Sql): Fragment => sql`
  t.entries = 0 and exists (
    -- The first of each account is looked up: of thousands of such movements, each would go through all later entries of the book.
    select 1 from (values (t.account_id), (t.buy_account_id)) n(id)
    cross join lateral (
      select o.* from mirror.statement_entries o
      where o.book_id = t.book_id and o.account_id = n.id order by o.position limit 1) o
    where not o.held and o.balance_after <> case o.type when 'CREDIT' then o.amount else -o.amount end
      and t.created_at < o.occurred_at)`

/**
 * Whether the end of each account's statement was read after the movement was known to be complete, without a gap before it.
 * The check does not wait for an account that the service does not list, nor where the movement's month is about to be closed.
 */
const ripe = (sql: Sql, scope: Scope): Fragment => sql`
  not exists (
    select 1 from mirror.accounts a
    where a.book_id = t.book_id and a.account_id in (t.account_id, t.buy_account_id)
      and ((a.tail_read_at is null or a.tail_read_at <= t.changed_at)
          and not ${isClosing(sql, scope, sql`t.book_id`, sql`coalesce(t.completed_at, t.created_at)`)}
        or (a.book_id, a.account_id::text) in (${brokenAccounts(sql, scope)})))`

const listed = 20

const evidence = (sql: Sql): Fragment => sql`
  jsonb_strip_nulls(jsonb_build_object(
    'accountId', t.account_id, 'currency', t.currency, 'amount', t.amount::text, 'fee', t.fee::text,
    'debits', t.paid::text, 'credits', t.received::text,
    'buyAccountId', t.buy_account_id, 'buyCurrency', t.buy_currency, 'buyAmount', t.buy_amount::text,
    'buyFee', case when t.buy_account_id is not null then t.buy_fee::text end,
    'buyDebits', case when t.buy_account_id is not null then t.buy_paid::text end,
    'buyCredits', case when t.buy_account_id is not null then t.buy_received::text end,
    'entries', (
      select coalesce(jsonb_agg(jsonb_build_object('entryId', l.entry_id, 'accountId', l.account_id, 'type', l.type,
        'amount', l.amount::text, 'currency', l.currency)), '[]')
      from (select s.* from mirror.statement_entries s
            where s.book_id = t.book_id and s.related_id = t.resource_id and s.related_type = t.resource_type
              and not s.held order by s.account_id, s.position limit ${listed}) l),
    'occurredAt', ${instantText(sql, sql`coalesce(t.completed_at, t.created_at)`)}))`

const side = (sql: Sql, paid: Fragment, received: Fragment, currency: Fragment): Fragment => sql`
  format('debits of %s and credits of %s', ${sumText(sql, paid, currency)}, ${sumText(sql, received, currency)})`

const withFee = (sql: Sql, fee: Fragment, currency: Fragment): Fragment => sql`
  case when ${fee} > 0 then format(' (fee %s)', ${sumText(sql, fee, currency)}) else '' end`

const mismatch = (sql: Sql): Fragment => {
  const amount = sumText(sql, sql`t.amount`, sql`t.currency`)
  const fee = withFee(sql, sql`t.fee`, sql`t.currency`)
  return sql`
    case t.resource_type
      when 'CONVERSION' then format(
        'Completed conversion of %s%s into %s%s: its entries are %s on the account sold from, %s on the account bought for.',
        ${amount}, ${fee}, ${sumText(sql, sql`t.buy_amount`, sql`t.buy_currency`)},
        ${withFee(sql, sql`t.buy_fee`, sql`t.buy_currency`)},
        ${side(sql, sql`t.paid`, sql`t.received`, sql`t.currency`)},
        ${side(sql, sql`t.buy_paid`, sql`t.buy_received`, sql`t.buy_currency`)})
      else format('Completed %s of %s%s: its entries are %s.', mirror.lower_ascii(t.resource_type), ${amount}, ${fee},
        ${side(sql, sql`t.paid`, sql`t.received`, sql`t.currency`)})
    end || case t.elsewhere when 0 then '' when 1 then ' 1 entry is on another account or in another currency.'
      else format(' %s entries are on another account or in another currency.', t.elsewhere) end
    || coalesce((
      select ' The book has no account ' || string_agg(n.id::text, ' and no account ') || ': the movement may belong to another book.'
      from (values (t.account_id), (t.buy_account_id)) n(id)
      where n.id is not null and not exists (
        select 1 from mirror.accounts a where a.book_id = t.book_id and a.account_id = n.id)), '')`
}

const found = (sql: Sql, scope: Scope): Fragment => sql`
  select case when t.complete then 'stated-fee' else 'movement-entries' end as check_name, t.book_id,
    mirror.lower_ascii(t.resource_type) as subject_type, t.resource_id::text as subject_id, ${ripe(sql, scope)} as ripe,
    case when t.complete and ${misdelivered(sql)}
      then format('Completed %s of %s states a fee of %s and %s delivered; its entries debit %s.',
        mirror.lower_ascii(t.resource_type), ${sumText(sql, sql`t.amount`, sql`t.currency`)}, ${sumText(sql, sql`t.fee`, sql`t.currency`)},
        ${sumText(sql, sql`t.delivered`, sql`t.currency`)}, ${sumText(sql, sql`t.paid`, sql`t.currency`)})
      when t.complete and ${bookedOtherwise(sql, scope)}
      then format('Completed withdrawal of %s states a fee of %s and was booked with %s as its fee; accounting.flatWithdrawalFee is %s now. To book it so: tieout backfill --period %s.',
        ${sumText(sql, sql`t.amount`, sql`t.currency`)}, ${sumText(sql, sql`t.fee`, sql`t.currency`)},
        ${sumText(sql, sql`t.fee_by_settings`, sql`t.currency`)}, ${scope.flatWithdrawalFee}::text,
        to_char(ledger.day_of(t.first_at, (select l.time_zone from ledger.locks l where l.book_id = t.book_id)), 'YYYY-MM'))
      when t.complete
      then format('Completed %s of %s states a fee of %s that no entry shows; it is not booked.', mirror.lower_ascii(t.resource_type),
        ${sumText(sql, sql`t.amount`, sql`t.currency`)}, ${sumText(sql, sql`t.fee`, sql`t.currency`)})
      else ${mismatch(sql)} end as message,
    ${evidence(sql)} as evidence
  -- The offset keeps what is complete one column: written out wherever it is used, it took longer to plan than a small book to check.
  from (select t.*, ${complete(sql)} as complete, ${feeBySettings(sql)} as fee_by_settings from (${totals(sql, scope)}) t offset 0) t
  where case when t.complete then ${feeUnshown(sql, scope)} or coalesce(${misdelivered(sql)}, false) else not (${beforeFirstEntry(sql)}) and not ${explained(sql)} end
    and t.book_id = ${inBooks(sql, scope)}`

export const movementEntries: CheckQuery = {
  checks,
  found,
  deferring: ["COMPLETED"],
  mayFind: ({ deferred, entries, resources }) => deferred || entries || resources,
}
