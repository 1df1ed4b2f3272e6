/** An account stands in one book: it belongs to one legal entity. In two, its entries would be booked twice. */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { type Fragment, inBooks, type Scope } from "../ReconcileScope.ts"

/** Whether an account of a book is read no more, itself or with its client, which is a finding of its own. */
const isGone = (sql: Sql, account: "a" | "s"): Fragment => sql`(exists (
    select from reconcile.statement_standing g
    where g.book_id = ${sql(account)}.book_id and g.account_id = ${sql(account)}.account_id and g.gone offset 0)
  or exists (select from reconcile.gone_clients g where g.book_id = ${sql(account)}.book_id offset 0))`

/** Of an account `a` of a book `b`: the codes of the other books of its connection in which it can be read. */
export const readElsewhere = (sql: Sql): Fragment => sql`(
    select string_agg(k.code, ', ' order by k.code) as codes, jsonb_agg(k.code order by k.code) as listed
    from mirror.accounts s
    join mirror.books k on k.book_id = s.book_id and k.connection = b.connection
    where s.account_id = a.account_id and s.book_id <> a.book_id and not ${isGone(sql, "s")})`

/** An account that moved to another client is booked at the former one, too, for as long as its statement can be read there. */
const found = (sql: Sql, scope: Scope): Fragment => sql`
  select 'account-shared' as check_name, a.book_id, 'account' as subject_type, a.account_id::text as subject_id, true as ripe,
    format('Account %s (%s) stands in the books %s as well: its entries are booked in each of them.', a.account_id,
      a.currency, o.codes) as message,
    jsonb_build_object('accountId', a.account_id, 'currency', a.currency, 'books', o.listed) as evidence
  from mirror.accounts a
  join mirror.books b on b.book_id = a.book_id
  cross join lateral ${readElsewhere(sql)} o
  where a.book_id = ${inBooks(sql, scope)} and o.codes is not null and not ${isGone(sql, "a")}`

export const sharedAccounts: CheckQuery = {
  checks: ["account-shared"],
  found,
  mayFind: ({ siblings }) => siblings,
}
