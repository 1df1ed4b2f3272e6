/** What waits for a person: findings with their evidence, and what is in quarantine. Bounded, the worst first. */
import { Effect } from "effect"
import { Database } from "../../Database.ts"
import type { Severity } from "../../Reconcile/Check.ts"
import { type Evidence, evidenceOf } from "../Evidence.ts"

export interface FindingRow {
  /** What `tieout explain` takes. */
  readonly findingId: string
  readonly check: string
  readonly severity: Severity
  readonly code: string
  readonly message: string
  /** Epoch milliseconds. */
  readonly openedAt: number
  readonly evidence: Evidence
}

export interface FindingCount {
  readonly connection: string
  readonly severity: Severity
  readonly count: number
}

export interface QuarantineRow {
  readonly connection: string
  /** `statement`, `deposits`, …: without the account that a statement is of. */
  readonly stream: string
  readonly reason: string
  /** Where in the row, a JSON path. */
  readonly path: string
  readonly rows: number
  /** Epoch milliseconds. */
  readonly lastSeenAt: number
}

const listed = 30

/** The first findings of all books, blocking ones first, then the oldest. */
export const openFindings = Effect.fn("Overview.findings")(function* () {
  const database = yield* Database
  const rows = yield* database.query(
    "Overview.findings",
    (sql) => sql<
      Array<{
        finding_id: bigint
        check_name: string
        severity: Severity
        code: string
        message: string
        evidence: unknown
        opened_at: number
      }>
    >`
      select f.finding_id, f.check_name, f.severity, b.code, f.message, f.evidence,
        (extract(epoch from f.opened_at) * 1000)::float8 as opened_at
      from reconcile.findings f join mirror.books b on b.book_id = f.book_id
      where f.closed_at is null order by f.severity, f.opened_at, f.finding_id limit ${listed}`,
  )
  return rows.map(
    (row): FindingRow => ({
      findingId: `F${row.finding_id}`,
      check: row.check_name,
      severity: row.severity,
      code: row.code,
      message: row.message,
      openedAt: row.opened_at,
      evidence: evidenceOf(row.evidence),
    }),
  )
})

export const findingCounts = Effect.fn("Overview.findingCounts")(function* () {
  const database = yield* Database
  const rows = yield* database.query(
    "Overview.findingCounts",
    (sql) => sql<Array<FindingCount>>`
      select b.connection, f.severity, count(*)::integer as count
      from reconcile.findings f join mirror.books b on b.book_id = f.book_id
      where f.closed_at is null group by b.connection, f.severity order by b.connection, f.severity`,
  )
  return rows.map((row): FindingCount => ({ ...row }))
})

/** Rows in quarantine by connection, stream, reason and path; never what is in them. */
export const quarantined = Effect.fn("Overview.quarantine")(function* () {
  const database = yield* Database
  const rows = yield* database.query(
    "Overview.quarantine",
    (sql) => sql<
      Array<{
        connection: string
        stream: string
        reason: string
        path: string
        rows: number
        last_seen_at: number
      }>
    >`
      select b.connection, split_part(q.stream, ':', 1) as stream, q.reason, q.path, count(*)::integer as rows,
        (extract(epoch from max(q.last_seen_at)) * 1000)::float8 as last_seen_at
      from mirror.quarantine q join mirror.books b on b.book_id = q.book_id
      where q.resolved_at is null
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
