/** Rows in quarantine, per stream. The evidence holds reasons and paths, never the content of rows. */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { type Fragment, inBooks, instantText, type Scope } from "../ReconcileScope.ts"

const found = (sql: Sql, scope: Scope): Fragment => sql`
  select 'quarantine' as check_name, q.book_id, 'stream' as subject_type, q.stream as subject_id, true as ripe,
    format('%s of %s could not be understood; the first: %s %s.', case q.rows when 1 then '1 row' else q.rows || ' rows' end,
      case when q.stream like 'statement:%' then 'the statement of ' || substr(q.stream, 11) else q.stream end,
      q.path, q.reason) as message,
    jsonb_build_object('rows', q.rows, 'path', q.path, 'reason', q.reason, 'itemId', q.item_id,
      'firstSeenAt', ${instantText(sql, sql`q.first_seen_at`)}, 'digest', q.digest) as evidence
  from (
    -- Of all rows together: what a person accepted is these rows, and no others.
    select w.book_id, w.stream, count(*) as rows, md5(string_agg(w.digest, ' ' order by w.digest)) as digest,
      (array_agg(w.path order by w.quarantine_id))[1] as path, (array_agg(w.reason order by w.quarantine_id))[1] as reason,
      (array_agg(w.item_id order by w.quarantine_id))[1] as item_id,
      (array_agg(w.first_seen_at order by w.quarantine_id))[1] as first_seen_at
    from mirror.open_quarantine w
    where w.book_id = ${inBooks(sql, scope)}
    group by w.book_id, w.stream) q`

export const quarantinedRows: CheckQuery = {
  checks: ["quarantine"],
  found,
  mayFind: ({ quarantined }) => quarantined,
}
