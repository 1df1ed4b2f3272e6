/** Findings about a subject, and its rows in quarantine. */
import { Effect } from "effect"
import { int4, int8, nullable, type RowOf, text } from "../Database/Columns.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { instantText } from "../Reconcile/ReconcileScope.ts"
import { factsIfKnown, runText, type Step } from "./Step.ts"

const columns = {
  finding_id: int8,
  check_name: text,
  severity: text,
  subject_type: text,
  subject_id: text,
  message: text,
  evidence: text,
  opened_at: text,
  opened_run: nullable(int4),
  seen_at: text,
  closed_at: nullable(text),
}

type Row = RowOf<typeof columns>

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

/** The most findings listed per subject, open ones first. */
const shownFindings = 20

/** One finding by its number, or those about the given things. */
export const findings = Effect.fn("Explain.findings")(function* (
  bookId: number,
  which: { readonly findingId: string } | { readonly about: ReadonlyArray<string> },
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Explain.findings",
    columns,
    (sql) => sql`
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
      order by f.closed_at desc nulls first, f.finding_id limit ${shownFindings}`,
  )
  return rows.map((row) => ({
    about: { type: row.subject_type, id: row.subject_id },
    step: stepOf(row),
  }))
})

const quarantineColumns = {
  quarantine_id: int8,
  stream: text,
  item_id: nullable(text),
  reason: text,
  path: text,
  first_seen_at: text,
  last_seen_at: text,
  resolved_at: nullable(text),
  run_id: int4,
  command: nullable(text),
  started_at: nullable(text),
}

/** Rows in quarantine: one by its number, or all of the given identifiers and the open ones of a stream. */
type WhichQuarantined =
  | { readonly quarantineId: string }
  | { readonly items: ReadonlyArray<string>; readonly stream: string | null }

/** Rows in quarantine, without their content: it is personal data, which only `tieout quarantine show` prints. */
export const quarantined = Effect.fn("Explain.quarantined")(function* (
  bookId: number,
  which: WhichQuarantined,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Explain.quarantined",
    quarantineColumns,
    (sql) => sql`
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
      order by q.quarantine_id limit ${shownFindings}`,
  )
  return rows.map(
    (row): Step => ({
      title: `quarantined row Q${row.quarantine_id} of ${row.stream}`,
      facts: [
        ["not understood", `${row.path} ${row.reason}`],
        ...factsIfKnown("identifier", row.item_id),
        ["seen", `${row.first_seen_at} to ${row.last_seen_at}`],
        ...factsIfKnown("last by", runText(row)),
        ["settled", row.resolved_at ?? "not yet"],
        ["as sent", `tieout quarantine show Q${row.quarantine_id}`],
      ],
    }),
  )
})
