/** An account stands in one book: it belongs to one legal entity. In two, its entries would be booked twice. */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { type Fragment, inBooks, type Scope } from "../ReconcileScope.ts"

/** An account that moved to another client is no longer listed at the former one, which is a finding of its own. */
const found = (sql: Sql, scope: Scope): Fragment => sql`
  select 'account-shared' as check_name, a.book_id, 'account' as subject_type, a.account_id::text as subject_id, true as ripe,
    format('Account %s (%s) is listed in the books %s as well: its entries are booked in each of them.', a.account_id,
      a.currency, o.codes) as message,
    jsonb_build_object('accountId', a.account_id, 'currency', a.currency, 'books', o.listed) as evidence
  from mirror.accounts a
  join mirror.books b on b.book_id = a.book_id
  cross join lateral (
    select string_agg(k.code, ', ' order by k.code) as codes, jsonb_agg(k.code order by k.code) as listed
    from mirror.accounts s
    join mirror.books k on k.book_id = s.book_id and k.connection = b.connection
    where s.account_id = a.account_id and s.book_id <> a.book_id and s.unlisted_since is null) o
  where a.book_id = ${inBooks(sql, scope)} and a.unlisted_since is null and o.codes is not null`

export const sharedAccounts: CheckQuery = {
  checks: ["account-shared"],
  found,
  mayFind: ({ siblings }) => siblings,
}
