/**
 * The evidence behind a close: the findings, and the reads of streams. The rules keep their times as those of the database's clock, which
 * may be set back: that something ended before it began accuses nobody. Nor does when reading began, by the service's clock, which no two clocks of ours bound.
 */

import { Effect } from "effect"
import { bool, int4, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { type CheckName, checks } from "../Reconcile/Check.ts"
import { queries } from "../Reconcile/Checks.ts"
import { findingsOf } from "../Reconcile/Findings.ts"
import { isUnproved } from "../Reconcile/ReconcileProgress.ts"
import { settingsDigest, settingsScope } from "../Reconcile/ReconcileScope.ts"
import { Settings } from "../Settings.ts"
import { type ProofQuery, type Wrong, wrongColumns } from "./ProofQuery.ts"
import { provable } from "./Provable.ts"

const severities = JSON.stringify(Object.fromEntries(checks.map(({ name, severity }) => [name, severity])))

export const findings: ProofQuery = {
  name: "findings",
  proves: "Every finding has the severity of its check, and no run has closed one that is open.",
  wrong: (sql) => sql`
    select coalesce(b.code, f.book_id::text) as book, format('F%s', f.finding_id) as row,
      case when f.severity is distinct from s.severity then format('is a %s finding; those of %s are %s', f.severity,
          f.check_name, coalesce(s.severity, 'unknown'))
        else format('is open, and was closed by run %s', f.closed_run) end as message
    from reconcile.findings f
    left join mirror.books b on b.book_id = f.book_id
    cross join lateral (select ${severities}::text::json ->> f.check_name as severity) s
    where f.severity is distinct from s.severity or f.closed_at is null and f.closed_run is not null`,
}

export const reads: ProofQuery = {
  name: "stream-reads",
  proves: "Every stream was read to its end while the run ran that read it.",
  wrong: (sql) => sql`
    select coalesce(b.code, s.book_id::text) as book, s.stream as row, format('was read to its end on %s by run %s, which %s',
      s.ended_at, s.run_id, case when r.run_id is null then 'there is not'
        else format('ran from %s to %s', r.started_at, coalesce(r.ended_at::text, 'now')) end) as message
    from sync.stream_reads s
    left join mirror.books b on b.book_id = s.book_id
    left join sync.runs r on r.run_id = s.run_id and r.connection = b.connection
    where s.ended_at is not null
        -- The times of a run in which the clock was set back bound nothing.
        and (r.run_id is null or coalesce(r.ended_at, now()) >= r.started_at
          and (s.ended_at < r.started_at or s.ended_at > coalesce(r.ended_at, 'infinity')))
      or s.ended_at is null and (s.began_at is not null or s.run_id is not null)
    union all
    select r.connection, format('run %s', r.run_id), format('is %s; it ran from %s to %s', r.state, r.started_at, r.ended_at)
    from sync.runs r
    where (r.state = 'running') <> (r.ended_at is null)
    union all
    select coalesce(b.code, p.book_id::text), 'the reconciliation', format('says it went through run %s, which there is not',
      p.through_run)
    from reconcile.progress p
    left join mirror.books b on b.book_id = p.book_id
    where p.through_run > 0 and not exists (
      select 1 from sync.runs r where r.run_id = p.through_run and r.connection = b.connection)
    union all
    -- A batch that a later number stands for is not compared with the ledger, but with --full.
    select coalesce(b.code, p.book_id::text), 'the reconciliation', format('says it went through batch %s, the last one is %s',
      p.through_batch, coalesce(x.last::text, 'none'))
    from reconcile.progress p
    left join mirror.books b on b.book_id = p.book_id
    left join lateral (select max(e.batch) as last from export.batches e where e.book_id = p.book_id) x on true
    where p.through_batch > coalesce(x.last, 0)`,
}

/** Warnings about open items in the books, which a close requires or counts. */
const counted: ReadonlyArray<CheckName> = [
  "adjustment",
  "unclassified-entry",
  "clearing-movement",
  "conversion-in-transit",
  "loan-in-transit",
]

/** Where this may be why: no reconciliation has looked for such findings yet. */
const otherSettings =
  " The settings of the checks have changed since this book was reconciled; tieout reconcile applies them."

/** The books that anything was read of. Of one that was read since it was reconciled, nobody can have found everything. */
const readColumns = { book_id: int4, code: text, reconciled: bool }

/**
 * Runs all checks again over everything. In books that were reconciled after their last read, everything they find that blocks,
 * or is open in the books, must be an open finding; ages are those of that time. The other books are named: nothing is said of them.
 */
export const unfound = Effect.fn("Proof.unfound")(function* () {
  const database = yield* Database
  const common = settingsScope(yield* Settings)
  const digest = settingsDigest(common)
  const rows = yield* database.rows(
    "Proof.unfound.books",
    readColumns,
    (sql) => sql`
      select b.book_id, b.code, p.through_run is not null and p.through_run > 0 and not exists (
        select 1 from sync.runs r where r.connection = b.connection
          and (${isUnproved(sql)} or r.run_id > p.through_run and (r.state <> 'done' and r.exit_code is distinct from 2 or exists (
            select 1 from sync.stream_reads s where s.book_id = p.book_id and s.run_id = r.run_id)))) as reconciled
      from mirror.books b
      left join reconcile.progress p on p.book_id = b.book_id
      where p.through_run > 0 or exists (select 1 from sync.stream_reads s where s.book_id = b.book_id and s.ended_at is not null)
        or exists (select 1 from ledger.journal_entries j where j.book_id = b.book_id)
      order by b.code`,
  )
  const scope = {
    ...common,
    books: rows.filter(({ reconciled }) => reconciled).map(({ book_id: id }) => id),
    sinceRun: null,
    period: null,
    full: false,
    runId: null,
    asReconciled: true,
  }
  const wrong: Array<Wrong> = []
  for (const query of queries) {
    const missing = yield* provable(
      database.rows(
        `Proof.unfound.${query.checks[0]}`,
        wrongColumns,
        // `offset 0`: each is looked up by its key. Where there are no statistics, a join would compare it with all that are open.
        (sql) => sql`
        select b.code as book, format('%s %s', n.subject_type, n.subject_id) as row,
          format('has no open finding %s: %s', n.check_name, n.message)
            || case when p.settings is distinct from ${digest} then ${otherSettings} else '' end as message
        from (${findingsOf(sql, scope, query)}) n
        join mirror.books b on b.book_id = n.book_id
        join reconcile.progress p on p.book_id = n.book_id
        where n.ripe and (${severities}::text::json ->> n.check_name = 'blocking'
            or n.check_name = any (${`{${counted.join(",")}}`}::text[])) and not exists (
          select 1 from reconcile.findings f
          where f.book_id = n.book_id and f.check_name = n.check_name and f.subject_type = n.subject_type
            and f.subject_id = n.subject_id and f.closed_at is null offset 0)
        order by 1, 2`,
      ),
      (why) =>
        query.checks.map((check) => ({ book: "all", row: check, message: `cannot be checked: ${why}` })),
    )
    wrong.push(...missing)
  }
  const passedOver = rows.filter(({ reconciled }) => !reconciled).map(({ code }) => code)
  return { wrong, passedOver }
})
