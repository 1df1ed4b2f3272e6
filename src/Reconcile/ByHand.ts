/** Reclassifications by hand: what a person moved out of suspense, clearing or transit counts as explained. */
import type { Sql } from "../Database/Client.ts"
import type { Fragment } from "./ReconcileScope.ts"

/** The roles that hold unsettled items; accounts that a rule or a person named have other roles. */
const unsettledRoles = [
  "suspense",
  "deposits_clearing",
  "withdrawals_clearing",
  "conversions_in_transit",
  "loan_clearing",
] as const

/** Whether a person has moved everything that a statement entry had left standing, at `since` or later. */
export const movedByHand = (
  sql: Sql,
  book: Fragment,
  entry: Fragment,
  since: Fragment = sql`'-infinity'::timestamptz`,
): Fragment => sql`
  (exists (
      select 1 from ledger.journal_entries m
      where m.book_id = ${book} and m.source_id = ${entry} and m.source_type = 'manual' and m.recorded_at >= ${since})
    and not exists (
      select 1 from ledger.journal_entries k
      join ledger.postings p on p.book_id = k.book_id and p.entry_id = k.entry_id
      join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id and a.rule_code = ''
        and a.role = any (${`{${unsettledRoles.join(",")}}`}::text[])
      where k.book_id = ${book} and k.source_id = ${entry}
      group by a.account_id having sum(p.amount) <> 0))`

/**
 * The totals of a movement `t` without the entries that a person has moved, under the same names; no row where a person moved
 * none. `sell_moved` and `buy_moved`: whether a person has moved all of that side since the movement's final state was known
 * (or, where nothing of that side came, all of the other side).
 */
export const totalsWithoutMoved = (sql: Sql): Fragment => sql`
  select t.resource_type, t.amount, t.fee, t.buy_amount, t.buy_fee,
    coalesce(sum(s.amount) filter (where s.sold and s.type = 'DEBIT' and not s.moved), 0) as paid,
    coalesce(sum(s.amount) filter (where s.sold and s.type = 'CREDIT' and not s.moved), 0) as received,
    coalesce(sum(s.amount) filter (where s.bought and s.type = 'DEBIT' and not s.moved), 0) as buy_paid,
    coalesce(sum(s.amount) filter (where s.bought and s.type = 'CREDIT' and not s.moved), 0) as buy_received,
    count(*) filter (where not s.moved) as entries,
    count(*) filter (where not s.sold and not s.bought and not s.moved) as elsewhere,
    coalesce(bool_and(s.since) filter (where s.sold), bool_and(s.since) filter (where s.bought), false) as sell_moved,
    coalesce(bool_and(s.since) filter (where s.bought), bool_and(s.since) filter (where s.sold), false) as buy_moved
  from (
    select e.type, e.amount, coalesce(e.account_id = t.account_id and e.currency = t.currency, false) as sold,
      coalesce(e.account_id = t.buy_account_id and e.currency = t.buy_currency, false) as bought,
      ${movedByHand(sql, sql`e.book_id`, sql`e.entry_id`)} as moved,
      ${movedByHand(sql, sql`e.book_id`, sql`e.entry_id`, sql`t.changed_at`)} as since
    from mirror.statement_entries e
    where e.book_id = t.book_id and e.related_id = t.resource_id and e.related_type = t.resource_type and not e.held
    -- Else the two questions are planned, and asked, anew wherever their answers are used.
    offset 0) s
  having bool_or(s.moved)`
