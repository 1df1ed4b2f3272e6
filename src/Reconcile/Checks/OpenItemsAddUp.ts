/**
 * The open items of every balance-sheet account beside cash add up to its balance. Only with `--full`: it reads the journal.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { type Fragment, inBooks, openSubjects, type Scope, sumText } from "../ReconcileScope.ts"

const found = (sql: Sql, scope: Scope): Fragment => sql`
  select 'open-items' as check_name, b.book_id, 'ledger_account' as subject_type, a.account_id::text as subject_id, true as ripe,
    format('The balance of %s is %s; its open items add up to %s.', a.code,
      ${sumText(sql, sql`t.balance`, sql`a.currency`)}, ${sumText(sql, sql`coalesce(i.amount, 0)`, sql`a.currency`)}) as message,
    jsonb_build_object('accountId', a.account_id, 'code', a.code, 'currency', a.currency,
      'balance', t.balance::text, 'openItems', coalesce(i.amount, 0)::text) as evidence
  from (
    select m.book_id from mirror.books m where m.book_id = ${inBooks(sql, scope)} and ${scope.full}
    union
    select o.book_id from (${openSubjects(sql, scope, "open-items")}) o) b
  join ledger.accounts a on a.book_id = b.book_id and ledger.open_item_reading(a.role, a.rule_code, a.name) is not null
  left join (
    select x.book_id, n.account_id, sum(n.amount) as amount
    from (
      select m.book_id from mirror.books m where m.book_id = ${inBooks(sql, scope)} and ${scope.full}
      union
      select o.book_id from (${openSubjects(sql, scope, "open-items")}) o) x
    cross join lateral ledger.open_items(x.book_id) n
    group by x.book_id, n.account_id) i on i.book_id = a.book_id and i.account_id = a.account_id
  cross join lateral ledger.balance_of(a.book_id, a.account_id) t
  where t.balance <> coalesce(i.amount, 0)`

export const openItems: CheckQuery = { checks: ["open-items"], found, mayFind: () => false }
