/** What is booked of a movement so far: its statement entries with the lines that stand against each of them. */
import { Option } from "effect"
import type { Book } from "../Book.ts"
import { traced } from "../Common/Effects/Traced.ts"
import * as Money from "../Common/Money.ts"
import { bool, int4, int8, jsonRows, nullable, oneOf, type RowOf, text } from "../Database/Columns.ts"
import { plainArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { entryColumns, entryFromRow } from "../Mirror/EntryRow.ts"
import type { Line } from "./JournalEntry.ts"
import { merged } from "./Places.ts"
import { roles } from "./Role.ts"
import type { Posted, Subject } from "./Subject.ts"

const subjectColumns = {
  ...entryColumns,
  position: int8,
  sequence: nullable(int4),
  /** The kind that the entry was first posted as. */
  kind: nullable(text),
  /** The beginning of the day that a late entry is dated to; null for an entry that was in time. */
  dated_at: nullable(text),
  /** Whether it names a resource that is mirrored, or a kind that has none; asked where it was not known at first. */
  known: nullable(bool),
  lines: nullable(
    jsonRows({
      role: oneOf(...roles),
      amount: text,
      rule_code: text,
      code: text,
      name: text,
      manual: bool,
    }),
  ),
}

type SubjectRow = RowOf<typeof subjectColumns>

const lineOf = (row: SubjectRow, line: NonNullable<SubjectRow["lines"]>[number]): Line => ({
  role: line.role,
  currency: row.currency,
  amount: Money.fromTrusted(line.amount),
  partnerAccountId: null,
  rule: line.rule_code === "" ? null : { code: line.rule_code, name: line.name },
})

/**
 * The amounts against cash per role and account. Reclassifications by a person or by changed rules may have moved them since
 * they were posted, and later corrections take them from where they are now.
 */
const linesOf = (lines: NonNullable<SubjectRow["lines"]>, row: SubjectRow): ReadonlyArray<Line> =>
  merged(lines.map((line) => lineOf(row, line)))

/**
 * The roles that accounts of the role `other` stand for, as known when the entry was posted or last corrected. A resource is mirrored
 * and its entries are corrected in one transaction, so whatever the mirror has was known, even where nothing moved.
 */
const roleOfOthers = ({ kind, known, lines }: SubjectRow): Pick<Posted, "roleOfOthers"> => {
  const isLent = (lines ?? []).some(({ manual, role }) => !manual && role === "loan_clearing")
  if (isLent) return { roleOfOthers: "loan_clearing" }
  return (kind === "adjustment" || kind === "unidentified") && known === false
    ? { roleOfOthers: "suspense" }
    : {}
}

/**
 * The mirrored, unheld entries that name one of the resources, or are among `entryIds`, in posting order per account; without those
 * whose journal entries are archived, of which nothing more is booked.
 */
export const subjectsOf = traced("Ledger.subjectsOf")(function* (
  book: Book,
  resourceIds: ReadonlyArray<string>,
  entryIds: ReadonlyArray<string> = [],
) {
  if (resourceIds.length === 0 && entryIds.length === 0) return []
  const database = yield* Database
  const rows = yield* database.rows(
    "Ledger.subjectsOf",
    subjectColumns,
    (sql) => sql`
      select s.account_id, s.position, s.entry_id, s.type, s.amount, s.currency, s.balance_after, s.related_type,
        s.related_id, to_char(s.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as occurred_at,
        booked.sequence, booked.kind, booked.lines,
        case when booked.kind in ('adjustment', 'unidentified') then s.related_type is not distinct from 'PAYOUT'
          or exists (select 1 from mirror.resources r where r.book_id = s.book_id and r.resource_id = s.related_id
            and r.resource_type = s.related_type) end as known,
        case when booked.late_day is not null then to_char(booked.late_day::timestamp at time zone coalesce(
            (select l.time_zone from ledger.locks l where l.book_id = s.book_id), 'UTC') at time zone 'UTC',
          'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') end as dated_at
      from mirror.statement_entries s
      left join lateral (
        select max(j.sequence) filter (where j.source_type = 'statement_entry') as sequence,
          min(j.effective_date) filter (where j.sequence = 0 and j.source_type = 'statement_entry'
            and j.late_for is not null) as late_day,
          min(j.kind) filter (where j.sequence = 0 and j.source_type = 'statement_entry') as kind,
          json_agg(json_build_object('role', a.role, 'amount', p.amount::text, 'rule_code', a.rule_code,
            'code', a.code, 'name', a.name, 'manual', j.source_type = 'manual')
            order by a.role collate "C", a.rule_code collate "C", j.entry_id, p.line_number)
            filter (where a.role <> 'cash') as lines
        from ledger.journal_entries j
        join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
        join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
        where j.book_id = s.book_id and j.source_id = s.entry_id
          and j.source_type in ('statement_entry', 'manual')) booked on true
      where s.book_id = ${book.bookId} and not s.held and not exists (
          select 1 from ledger.archived_sources x where x.book_id = s.book_id and x.source_id = s.entry_id) and ${
            entryIds.length === 0
              ? sql`s.related_id = any (${plainArray(sql, resourceIds, "uuid")})`
              : sql`(s.related_id = any (${plainArray(sql, resourceIds, "uuid")})
              or s.entry_id = any (${plainArray(sql, entryIds, "uuid")}))`
          }
      order by s.account_id, s.position`,
  )
  return rows.map(
    (row): Subject => ({
      entry: entryFromRow(row),
      position: row.position,
      posted:
        row.sequence === null
          ? Option.none()
          : Option.some({
              sequence: row.sequence,
              lines: linesOf(row.lines ?? [], row),
              ...roleOfOthers(row),
              ...(row.dated_at === null ? {} : { datedAt: row.dated_at }),
            }),
      byHand: (row.lines ?? []).some(({ manual }) => manual),
    }),
  )
})
