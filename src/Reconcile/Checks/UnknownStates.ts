/**
 * States that the service does not document, a receivable that went back to a state before its disbursement, one of which less is
 * due than its principal, and one that is stated in another currency than before: what they mean for the books is unknown.
 * Meanwhile a movement's money stands in clearing, nothing is booked for a receivable in such a state or currency, and what is
 * lacking of a principal is booked as negative interest.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import {
  eachResourceInScope,
  type Fragment,
  inBooks,
  instantText,
  type Scope,
  sumText,
} from "../ReconcileScope.ts"

/** A state may be an empty text. */
const named = (sql: Sql, status: Fragment): Fragment => sql`coalesce(nullif(${status}, ''), '(empty)')`

/** With `original` what is stated as due does not fall, nor does the principal that it is due of. */
const isLessThanPrincipal = (sql: Sql, { repaymentAmount }: Scope): Fragment => sql`
  (v.status = 'ACTIVE'
    and v.repayment_amount < ${repaymentAmount === "original" ? sql`v.initial_principal` : sql`v.current_principal`})`

const movements = (sql: Sql, scope: Scope): Fragment => sql`
  select 'unknown-state' as check_name, r.book_id, mirror.lower_ascii(r.resource_type) as subject_type, r.resource_id::text as subject_id,
    true as ripe,
    format('The %s of %s is %s, which is no state that the service documents: whether it is final is not known.',
      mirror.lower_ascii(r.resource_type), ${sumText(sql, sql`r.amount`, sql`r.currency`)}, ${named(sql, sql`r.status`)}) as message,
    jsonb_build_object('status', r.status, 'currency', r.currency, 'amount', r.amount::text,
      'occurredAt', ${instantText(sql, sql`r.created_at`)}) as evidence
  from ${eachResourceInScope(sql, scope, "unknown-state")}
  where r.status <> all (case r.resource_type
      when 'DEPOSIT' then array['PENDING', 'HELD', 'COMPLETED', 'CANCELED', 'REJECTED']
      when 'WITHDRAWAL' then array['PENDING_CONFIRMATION', 'PENDING', 'HELD', 'COMPLETED', 'CANCELED', 'REJECTED']
      else array['PENDING', 'ACTIVE', 'COMPLETED', 'CANCELED'] end)
    and exists (
      select 1 from mirror.statement_entries e
      where e.book_id = r.book_id and e.book_id = ${inBooks(sql, scope)} and e.related_id = r.resource_id and e.related_type = r.resource_type and not e.held)`

/** A receivable in another currency than its book has it in; a cancellation takes back what stands, whatever it is stated in. */
const isOtherwise = (sql: Sql, dues: Fragment): Fragment => sql`
  (${dues}.currency <> v.currency and (${dues}.owed or v.status = 'ACTIVE') and v.status <> 'CANCELED')`

/** In the book that has booked the receivable, or else in the organization's. */
const receivables = (sql: Sql, scope: Scope): Fragment => sql`
  select 'receivable-state' as check_name, b.book_id, 'receivable' as subject_type, v.receivable_id::text as subject_id,
    true as ripe,
    format('The receivable of %s is %s: %s The service says %s of principal and %s to be repaid.',
      ${sumText(sql, sql`v.initial_principal`, sql`v.currency`)}, ${named(sql, sql`v.status`)},
      case
        when v.status = 'ACTIVE' then 'less is due than its principal, and the books hold the difference as negative interest.'
        when v.status = 'PENDING' then 'it was disbursed before. The books keep what they hold.'
        when d.receivable_id is not null then 'that is no state that the service documents. The books keep what they hold.'
        else 'that is no state that the service documents. Nothing of it is booked.' end,
      ${sumText(sql, sql`v.current_principal`, sql`v.currency`)}, ${sumText(sql, sql`v.repayment_amount`, sql`v.currency`)}) as message,
    jsonb_build_object('receivableId', v.receivable_id, 'clientId', v.client_id, 'status', v.status, 'currency', v.currency,
      'principal', trim_scale(v.current_principal)::text, 'repayment', trim_scale(v.repayment_amount)::text) as evidence
  from mirror.books b
  join mirror.books o on o.connection = b.connection and o.client_id is null
  join mirror.receivables v on v.book_id = o.book_id and v.current
    and (v.status not in ('ACTIVE', 'PAID', 'CANCELED') or ${isLessThanPrincipal(sql, scope)})
  left join ledger.receivable_dues d on d.book_id = b.book_id and d.receivable_id = v.receivable_id and d.lent <> 0
  where b.book_id = ${inBooks(sql, scope)}
    and not exists (
      select from ledger.receivable_dues x
      where x.book_id = b.book_id and x.receivable_id = v.receivable_id and ${isOtherwise(sql, sql`x`)})
    and (d.receivable_id is not null or v.status <> 'PENDING' and b.book_id = o.book_id
    and not exists (
      select 1 from mirror.books c join ledger.receivable_dues x on x.book_id = c.book_id and x.lent <> 0
      where c.connection = b.connection and c.book_id <> b.book_id and x.receivable_id = v.receivable_id))`

/**
 * Looked for among what is owed and what is active: receivables that were paid long ago cost nothing. Each is looked up by its key
 * (`offset 0`): a join may compare it with all others.
 */
const otherCurrencies = (sql: Sql, scope: Scope): Fragment => sql`
  select 'receivable-state', b.book_id, 'receivable', v.receivable_id::text, true,
    format('The receivable of %s is %s: it was in %s before. The books keep what they hold in %s. The service says %s of principal and %s to be repaid.',
      ${sumText(sql, sql`v.initial_principal`, sql`v.currency`)}, ${named(sql, sql`v.status`)}, d.currency, d.currency,
      ${sumText(sql, sql`v.current_principal`, sql`v.currency`)}, ${sumText(sql, sql`v.repayment_amount`, sql`v.currency`)}),
    jsonb_build_object('receivableId', v.receivable_id, 'clientId', v.client_id, 'status', v.status, 'currency', v.currency,
      'bookedCurrency', d.currency, 'principal', trim_scale(v.current_principal)::text,
      'repayment', trim_scale(v.repayment_amount)::text)
  from (
    select w.book_id, w.receivable_id from ledger.receivable_dues w where w.book_id = ${inBooks(sql, scope)} and w.owed
    union
    select w.book_id, w.receivable_id from mirror.receivables a
    cross join lateral (
      select x.book_id, x.receivable_id from ledger.receivable_dues x where x.receivable_id = a.receivable_id offset 0) w
    where w.book_id = ${inBooks(sql, scope)} and a.current and a.status = 'ACTIVE' and a.book_id in (
      select o.book_id from mirror.books b join mirror.books o on o.connection = b.connection and o.client_id is null
      where b.book_id = ${inBooks(sql, scope)})) c
  join mirror.books b on b.book_id = c.book_id
  join mirror.books o on o.connection = b.connection and o.client_id is null
  cross join lateral (
    select r.* from mirror.receivables r
    where r.book_id = o.book_id and r.receivable_id = c.receivable_id and r.current offset 0) v
  cross join lateral (
    select r.* from ledger.receivable_dues r
    where r.book_id = c.book_id and r.receivable_id = c.receivable_id offset 0) d
  where ${isOtherwise(sql, sql`d`)}`

const found = (sql: Sql, scope: Scope): Fragment =>
  sql`${movements(sql, scope)} union all ${receivables(sql, scope)} union all ${otherCurrencies(sql, scope)}`

export const unknownStates: CheckQuery = {
  checks: ["unknown-state", "receivable-state"],
  found,
  mayFind: ({ deferred, entries, receivables, resources }) => deferred || entries || receivables || resources,
}
