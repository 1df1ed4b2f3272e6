/** What was found about something, and what of it could not be understood. */
import { Effect } from "effect"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { instantText } from "../Reconcile/Scope.ts"
import { known, runText, type Step } from "./Step.ts"

interface Row {
  readonly finding_id: bigint
  readonly check_name: string
  readonly severity: string
  readonly subject_type: string
  readonly subject_id: string
  readonly message: string
  readonly evidence: string
  readonly opened_at: string
  readonly opened_run: number | null
  readonly seen_at: string
  readonly closed_at: string | null
}

const stepOf = (row: Row): Step => ({
  title: `finding F${row.finding_id}: ${row.check_name}`,
  facts: [
    ["severity", row.severity],
    ["found", row.message],
    ["about", `${row.subject_type.replaceAll("_", " ")} ${row.subject_id}`],
    ["evidence", row.evidence],
    ["opened", row.opened_run === null ? row.opened_at : `${row.opened_at} by run ${row.opened_run}`],
    row.closed_at === null ? ["last seen", row.seen_at] : ["closed", row.closed_at],
  ],
})

/** As many are told of one thing, the open ones first. */
const most = 20

/** One finding by its number, or those about the given things. */
export const findings = Effect.fn("Explain.findings")(function* (
  bookId: number,
  which: { readonly findingId: string } | { readonly about: ReadonlyArray<string> },
) {
  const database = yield* Database
  const rows = yield* database.query(
    "Explain.findings",
    (sql) => sql<Array<Row>>`
      select f.finding_id, f.check_name, f.severity, f.subject_type, f.subject_id, f.message,
        f.evidence::text as evidence, ${instantText(sql, sql`f.opened_at`)} as opened_at, f.opened_run,
        ${instantText(sql, sql`f.seen_at`)} as seen_at, ${instantText(sql, sql`f.closed_at`)} as closed_at
      from reconcile.findings f
      where f.book_id = ${bookId} and ${
        "findingId" in which
          ? sql`f.finding_id = ${which.findingId}::text::bigint`
          : sql`(f.subject_id = any (${textArray(sql, which.about)})
              or f.subject_type = 'receivable' and split_part(f.subject_id, ' ', 1) = any (${textArray(sql, which.about)}))`
      }
      order by f.closed_at desc nulls first, f.finding_id limit ${most}`,
  )
  return rows.map((row) => ({
    about: { type: row.subject_type, id: row.subject_id },
    step: stepOf(row),
  }))
})

interface QuarantineRow {
  readonly quarantine_id: bigint
  readonly stream: string
  readonly item_id: string | null
  readonly reason: string
  readonly path: string
  readonly first_seen_at: string
  readonly last_seen_at: string
  readonly resolved_at: string | null
  readonly run_id: number
  readonly command: string | null
  readonly started_at: string | null
}

/** Rows in quarantine: one by its number; or those with one of the identifiers, and the open ones of a stream. */
type WhichQuarantined =
  | { readonly quarantineId: string }
  | { readonly items: ReadonlyArray<string>; readonly stream: string | null }

/** Rows that could not be understood, without their content: that is personal data and only shown by itself. */
export const quarantined = Effect.fn("Explain.quarantined")(function* (
  bookId: number,
  which: WhichQuarantined,
) {
  const database = yield* Database
  const rows = yield* database.query(
    "Explain.quarantined",
    (sql) => sql<Array<QuarantineRow>>`
      select q.quarantine_id, q.stream, q.item_id, q.reason, q.path, q.run_id, r.command,
        ${instantText(sql, sql`r.started_at`)} as started_at, ${instantText(sql, sql`q.first_seen_at`)} as first_seen_at,
        ${instantText(sql, sql`q.last_seen_at`)} as last_seen_at, ${instantText(sql, sql`q.resolved_at`)} as resolved_at
      from mirror.quarantine q left join sync.runs r on r.run_id = q.run_id
      where q.book_id = ${bookId} and ${
        "quarantineId" in which
          ? sql`q.quarantine_id = ${which.quarantineId}::text::bigint`
          : sql`(q.item_id = any (${textArray(sql, which.items)})
              or q.stream = ${which.stream}::text and q.resolved_at is null)`
      }
      order by q.quarantine_id limit ${most}`,
  )
  return rows.map(
    (row): Step => ({
      title: `quarantined row Q${row.quarantine_id} of ${row.stream}`,
      facts: [
        ["not understood", `${row.path} ${row.reason}`],
        ...known("identifier", row.item_id),
        ["seen", `${row.first_seen_at} to ${row.last_seen_at}`],
        ...known("last by", runText(row)),
        ["settled", row.resolved_at ?? "not yet"],
        ["as sent", `tieout quarantine show Q${row.quarantine_id}`],
      ],
    }),
  )
})
