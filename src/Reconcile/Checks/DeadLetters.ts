/**
 * No job of a book was given up by the workers, which may have left something unread. The next job or run that reads the book
 * to its end settles the finding; for a backfill, one that reads its days.
 */
import type { Sql } from "../../Database/Client.ts"
import type { CheckQuery } from "../Findings.ts"
import { type Fragment, inBooks, instantText, type Scope } from "../ReconcileScope.ts"

const found = (sql: Sql, scope: Scope): Fragment => sql`
  select 'dead-letter' as check_name, d.book_id, 'job' as subject_type, d.kind as subject_id, true as ripe,
    format('The workers gave up the %s job%s of the book after %s: %s', d.kind,
      case when d.from_day is not null then format(' (%s to %s)', d.from_day, d.to_day) end,
      case d.tries when 1 then '1 try' else d.tries || ' tries' end, d.why) as message,
    jsonb_build_object('kind', d.kind, 'run', d.run_id, 'tries', d.tries, 'reason', d.why,
      'givenUpAt', ${instantText(sql, sql`d.given_up_at`)})
      || case when d.from_day is null then '{}' else jsonb_build_object('from', d.from_day, 'to', d.to_day) end as evidence
  from sync.dead_letters d
  where d.book_id = ${inBooks(sql, scope)}`

export const deadLetters: CheckQuery = {
  checks: ["dead-letter"],
  found,
  mayFind: ({ deadLetters }) => deadLetters,
}
