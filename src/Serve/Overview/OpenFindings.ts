/** What waits for a person: findings with evidence, and rows in quarantine. Bounded, the worst first. */
import { Effect } from "effect"
import type { Sql } from "../../Database/Client.ts"
import { float8, int4, int8, json, oneOf, type RowOf, text } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { type Evidence, evidenceOf } from "../FindingEvidence.ts"

export interface FindingRow {
  /** The identifier for `tieout explain`. */
  readonly findingId: string
  readonly check: string
  readonly standing: FindingStanding
  readonly code: string
  readonly message: string
  /** Epoch milliseconds. */
  readonly openedAt: number
  readonly evidence: Evidence
  /** The number of open findings of the same check and standing, this one included. */
  readonly ofCheck: number
}

export const standings = ["blocking", "warning", "accepted"] as const

/** A finding's severity, or that it blocks nothing any more because a close accepted it for good. */
export type FindingStanding = (typeof standings)[number]

const findingCountColumns = {
  connection: text,
  standing: oneOf(...standings),
  count: int4,
}

export type FindingCount = RowOf<typeof findingCountColumns>

export interface QuarantineRow {
  readonly connection: string
  /** `statement`, `deposits`, …: without a statement's account. */
  readonly stream: string
  readonly reason: string
  /** Where in the row, a JSON path. */
  readonly path: string
  readonly rows: number
  /** Epoch milliseconds. */
  readonly lastSeenAt: number
}

/**
 * The last column of open findings, and where they come from. IN uses a hash table, where a join might compare each finding with all that a
 * close accepted.
 */
const standingOf = (sql: Sql) => sql`
  case when (f.book_id, f.finding_id) in (select k.book_id, k.finding_id from reconcile.accepted_findings k)
    then 'accepted' else f.severity end as standing
  from reconcile.open_findings f`

/** The most findings listed per check. */
const listedOfCheck = 5

/** The first findings of every check over all books, blocking ones first and accepted ones last, then the oldest. */
export const openFindings = Effect.fn("Overview.findings")(function* () {
  const database = yield* Database
  const rows = yield* database.rows(
    "Overview.findings",
    {
      finding_id: int8,
      check_name: text,
      standing: oneOf(...standings),
      code: text,
      message: text,
      evidence: json,
      opened_at: float8,
      of_check: int4,
    },
    (sql) => sql`
      with standing as (select f.*, ${standingOf(sql)}),
      ranked as (
        select f.finding_id, f.standing, (count(*) over (partition by f.standing, f.check_name))::integer as of_check,
          row_number() over (partition by f.standing, f.check_name
            order by coalesce(x.day, ledger.day_of(f.opened_at, l.time_zone)), f.finding_id) as place
        from standing f join ledger.locks l on l.book_id = f.book_id
        cross join lateral reconcile.facts_of(f.evidence, l.time_zone) x)
      select f.finding_id, f.check_name, r.standing, b.code, f.message, f.evidence, r.of_check,
        (extract(epoch from f.opened_at) * 1000)::float8 as opened_at
      from ranked r
      join reconcile.findings f on f.finding_id = r.finding_id
      join mirror.books b on b.book_id = f.book_id
      where r.place <= ${listedOfCheck}
      order by array_position(${textArray(sql, standings)}, r.standing), f.check_name, r.place`,
  )
  return rows.map(
    (row): FindingRow => ({
      findingId: `F${row.finding_id}`,
      check: row.check_name,
      standing: row.standing,
      code: row.code,
      message: row.message,
      openedAt: row.opened_at,
      evidence: evidenceOf(row.evidence),
      ofCheck: row.of_check,
    }),
  )
})

export const findingCounts = Effect.fn("Overview.findingCounts")(function* () {
  const database = yield* Database
  const rows = yield* database.rows(
    "Overview.findingCounts",
    findingCountColumns,
    (sql) => sql`
      with standing as (select f.book_id, ${standingOf(sql)})
      select b.connection, f.standing, count(*)::integer as count
      from standing f join mirror.books b on b.book_id = f.book_id
      group by b.connection, f.standing order by b.connection, f.standing`,
  )
  return rows.map((row): FindingCount => ({ ...row }))
})

/**
 * Rows in quarantine by connection, stream, reason and path; never what is in them. Those whose finding a close accepted for good are
 * among the findings alone.
 */
export const quarantined = Effect.fn("Overview.quarantine")(function* () {
  const database = yield* Database
  const rows = yield* database.rows(
    "Overview.quarantine",
    { connection: text, stream: text, reason: text, path: text, rows: int4, last_seen_at: float8 },
    (sql) => sql`
      select b.connection, split_part(q.stream, ':', 1) as stream, q.reason, q.path, count(*)::integer as rows,
        (extract(epoch from max(q.last_seen_at)) * 1000)::float8 as last_seen_at
      from mirror.open_quarantine q join mirror.books b on b.book_id = q.book_id
      where (q.book_id, q.stream) not in (
        select k.book_id, k.subject_id from reconcile.accepted_findings k where k.check_name = 'quarantine')
      group by 1, 2, 3, 4 order by rows desc, 1, 2, 3, 4`,
  )
  return rows.map(
    (row): QuarantineRow => ({
      connection: row.connection,
      stream: row.stream,
      reason: row.reason,
      path: row.path,
      rows: row.rows,
      lastSeenAt: row.last_seen_at,
    }),
  )
})
