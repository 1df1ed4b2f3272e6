/** The amounts that stand against one statement entry in the books, and the date of a correction. */
import { and, eq, inArray } from "drizzle-orm"
import { Effect, Option } from "effect"
import { allBooks, type Book } from "../Book.ts"
import { bool, int4, int8, jsonRows, nullable, oneOf, type RowOf, text, uuid } from "../Database/Columns.ts"
import { journalEntries } from "../Database/Tables/Ledger.ts"
import { plainArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { parseReferences } from "../Inquiry/Reference.ts"
import { subjectsOf } from "../Inquiry/SubjectSearch.ts"
import { roles } from "../Ledger/Role.ts"
import { movedByHand } from "../Reconcile/ByHand.ts"
import { isArchived } from "../Reconcile/Checks/MissingResource.ts"
import { reclassifyError } from "./ReclassifyError.ts"

const lineColumns = {
  role: oneOf(...roles),
  currency: text,
  amount: text,
  ruleCode: text,
  code: text,
  name: text,
}

/** A ledger account and the amount of the entry in it; `amount` in the major unit of `currency`, debit positive. */
export type StandingLine = RowOf<typeof lineColumns>

const standingColumns = {
  entryId: uuid,
  /** With the number, of the entry itself; null: not numbered yet. */
  period: text,
  number: nullable(int4),
  partnerAccountId: uuid,
  position: int8,
  resourceType: nullable(text),
  resourceId: nullable(uuid),
  externalReference: nullable(text),
  counterparty: nullable(text),
  /** `2026-10`, by the service's time. */
  month: text,
  /** The day of a correction that is made now. */
  day: text,
  /** The time that dates a correction: since when the amount stands there, or now where that month is closed. */
  at: text,
  /** The number of reclassifications of it by hand. */
  made: int4,
  lines: jsonRows(lineColumns),
  /** The amount that its conversion has in transit in its currency; null: none. */
  inTransit: nullable(text),
  /** The excess or shortfall in loan clearing of the receivable that takes this entry's rest; null: none. */
  inLoans: nullable(text),
  /** That receivable: the same rest stands behind each entry of its cash. */
  loan: nullable(uuid),
  /** Other cash of that receivable is still to come. */
  loanWaits: bool,
}

export type ReclassifiableItem = RowOf<typeof standingColumns>

/**
 * The statement entries of a finding, those of its unknown resource or its conversion in transit included. Of a movement that should net
 * to zero all that stand somewhere: only together they are what it leaves.
 */
const ofFinding = Effect.fn("Reclassify.ofFinding")(function* (findingId: string) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Reclassify.ofFinding",
    { subject_id: text, together: bool },
    (sql) => sql`
      select subject_id, false as together from reconcile.findings
      where finding_id = ${findingId}::text::bigint and subject_type = 'statement_entry'
      union all
      select e.entry_id::text, f.check_name = 'clearing-nets' from reconcile.findings f
      join mirror.statement_entries e on e.book_id = f.book_id and e.related_id = mirror.uuid_or_null(f.subject_id)
        and e.related_type = mirror.upper_ascii(f.subject_type) and not e.held
      left join mirror.resources r on r.book_id = e.book_id and r.resource_id = e.related_id
        and r.resource_type = e.related_type and f.check_name = 'clearing-nets'
      where f.finding_id = ${findingId}::text::bigint and f.check_name in ('missing-resource', 'clearing-nets')
        and not ${movedByHand(sql, sql`e.book_id`, sql`e.entry_id`, sql`coalesce(r.changed_at, '-infinity')`)} and not ${isArchived(sql)}
        and (f.check_name <> 'clearing-nets' or exists (
          select from ledger.journal_entries j
          join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
          join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
            and a.role in ('deposits_clearing', 'withdrawals_clearing', 'conversions_in_transit', 'other')
          where j.book_id = e.book_id and j.source_id = e.entry_id
          group by a.account_id having sum(p.amount) <> 0))
      union all
      select s.entry_id::text, false from reconcile.findings f
      join reconcile.conversions_in_transit t on t.book_id = f.book_id and t.conversion_id = f.subject_id::uuid
      join mirror.statement_entries s on s.book_id = t.book_id and s.related_id = t.conversion_id
        and s.currency = t.currency and not s.held
      where f.finding_id = ${findingId}::text::bigint and f.check_name = 'conversion-in-transit'
      union all
      select distinct e.entry_id::text, false from reconcile.findings f
      join ledger.receivable_shares s on s.book_id = f.book_id and s.receivable_id::text = f.evidence ->> 'receivableId'
        and s.purpose = f.evidence ->> 'purpose' and s.currency = f.evidence ->> 'currency' and s.rest
      cross join lateral unnest(s.entries) as e (entry_id)
      where f.finding_id = ${findingId}::text::bigint and f.check_name = 'loan-clearing'`,
  )
  const ids = rows.map(({ subject_id: id }) => id)
  if (ids.length < 2 || rows.every(({ together }) => together)) return ids
  return yield* reclassifyError(
    "Usage",
    `F${findingId} is about ${ids.length} statement entries (${ids.join(", ")}): name the one whose amount is to be moved.`,
  )
})

const ofJournalEntry = Effect.fn("Reclassify.ofJournalEntry")(function* (bookId: number, entryId: string) {
  const database = yield* Database
  const rows = yield* database.orm("Reclassify.ofJournalEntry", (orm) =>
    orm
      .select({ id: journalEntries.sourceId })
      .from(journalEntries)
      .where(
        and(
          eq(journalEntries.bookId, bookId),
          eq(journalEntries.entryId, BigInt(entryId)),
          inArray(journalEntries.sourceType, ["statement_entry", "manual"]),
        ),
      ),
  )
  return rows.map(({ id }) => id)
})

/**
 * The statement entries that a journal number, a finding (`F12`) or an identifier names, and their book; mostly one. Fails with `NothingFound`
 * if nothing has that identifier, and with `ReclassifyError` if something else has it, or several books, as two connections to
 * one organization do.
 */
export const findEntries = Effect.fn("Reclassify.findEntries")(function* (id: string) {
  const found: Array<{ readonly bookId: number; readonly entryId: string }> = []
  const subjects = subjectsOf(id, parseReferences(id)).pipe(
    Effect.catchIf(
      (failure) => failure._tag === "NothingFound" && failure.reason === "Unknown",
      () =>
        reclassifyError(
          "Usage",
          `Nothing that is stored here has the identifier ${JSON.stringify(id.slice(0, 80))}: expected a finding (F12; tieout reconcile lists them), a journal number (ORG-2026-10-000007) or a statement entry's identifier.`,
        ),
    ),
  )
  for (const { bookId, id: subject, kind } of yield* subjects) {
    const ids =
      kind === "statement_entry"
        ? [subject]
        : kind === "journal_entry"
          ? yield* ofJournalEntry(bookId, subject)
          : kind === "finding"
            ? yield* ofFinding(subject)
            : []
    found.push(...ids.map((entryId) => ({ bookId, entryId })))
  }
  const [entry] = found
  const books = yield* allBooks(Option.none())
  const holding = books.filter(({ bookId }) => found.some((one) => one.bookId === bookId))
  if (holding.length > 1) {
    return yield* reclassifyError(
      "Usage",
      `${JSON.stringify(id)} is in the books ${holding.map(({ code }) => code).join(", ")}: name the entry by its journal number there. See: tieout explain ${id}`,
    )
  }
  const book = books.find(({ bookId }) => bookId === entry?.bookId)
  if (entry === undefined || book === undefined) {
    return yield* reclassifyError(
      "Usage",
      `${JSON.stringify(id)} names no statement entry and no journal entry of one: only what a statement moved can be reclassified. See: tieout explain ${id}`,
    )
  }
  return found.map(({ entryId }) => ({ book, entryId }))
})

/**
 * Part of the caller's transaction, if there is one. Without those that are not booked. Each entry is looked up by its key (offset 0),
 * of many with one plan: making it takes far longer than looking one up.
 */
export const standingOf = Effect.fn("Reclassify.standingOf")(function* (
  book: Book,
  entryIds: ReadonlyArray<string>,
) {
  const database = yield* Database
  return yield* database.rows(
    "Reclassify.standingOf",
    standingColumns,
    (sql) => sql`
      select found.* from unnest(${plainArray(sql, entryIds, "uuid")}) as wanted (id)
      cross join lateral (select j.source_id as "entryId", to_char(j.period, 'YYYY-MM') as period, n.number, j.partner_account_id as "partnerAccountId", j.position,
        e.related_type as "resourceType", e.related_id as "resourceId", j.external_reference as "externalReference",
        j.counterparty, to_char(j.occurred_at at time zone coalesce(l.time_zone, 'UTC'), 'YYYY-MM') as month,
        ledger.effective_date(d.at, l.time_zone, l.closed_through)::text as day,
        to_char(d.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
        (select coalesce(max(m.sequence), 0) from ledger.journal_entries m
         where m.book_id = j.book_id and m.source_id = j.source_id and m.source_type = 'manual') as made,
        (select coalesce(json_agg(s), '[]') from (
          select a.role, p.currency, sum(p.amount)::text as amount, a.rule_code as "ruleCode", a.code, a.name
          from ledger.journal_entries e
          join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
          join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
          where e.book_id = j.book_id and e.source_id = j.source_id
            and e.source_type in ('statement_entry', 'manual') and a.role <> 'cash'
          group by a.role, p.currency, a.rule_code, a.code, a.name having sum(p.amount) <> 0
          order by a.role, a.rule_code, p.currency) s) as lines,
        (select t.amount::text from mirror.statement_entries s
         join ledger.transit t on t.book_id = s.book_id and t.conversion_id = s.related_id and t.currency = s.currency
         where s.book_id = j.book_id and s.entry_id = j.source_id) as "inTransit",
        o.amount::text as "inLoans", o.receivable_id as loan,
        exists (
          select from ledger.receivable_shares s
          join reconcile.loan_clearing_items i on i.book_id = s.book_id and i.receivable_id = s.receivable_id
            and i.currency = s.currency and i.purpose = s.purpose and i.waiting <> 0
          where s.book_id = j.book_id and s.rest and j.source_id = any (s.entries)) as "loanWaits"
      from ledger.journal_entries j
      join ledger.locks l on l.book_id = j.book_id
      left join ledger.journal_numbers n on n.book_id = j.book_id and n.entry_id = j.entry_id
      -- The resource that it names now, which it may not have named when it was booked.
      join mirror.statement_entries e on e.book_id = j.book_id and e.entry_id = j.source_id
      -- While cash is still to come, it is unknown what will remain in clearing.
      left join lateral (
        select i.amount, i.receivable_id from ledger.receivable_shares s
        join reconcile.loan_clearing_items i on i.book_id = s.book_id and i.receivable_id = s.receivable_id
          and i.currency = s.currency and i.purpose = s.purpose and i.waiting = 0
        where s.book_id = j.book_id and s.rest and j.source_id = any (s.entries)) o on true
      -- What a loan has too much may stand there only since the loan was cancelled, long after its cash moved.
      cross join lateral (
        select greatest(case when j.late_for is null then j.occurred_at
            else j.effective_date::timestamp at time zone coalesce(l.time_zone, 'UTC') end, (
          select max(u.since) from ledger.receivable_shares s
          join ledger.receivable_dues u on u.book_id = s.book_id and u.receivable_id = s.receivable_id
          where s.book_id = j.book_id and s.rest and j.source_id = any (s.entries))) as at) t
      cross join lateral (
        select case when date_trunc('month', ledger.day_of(t.at, l.time_zone)::timestamp)::date <= l.closed_through then now()
          else t.at end as at) d
      where j.book_id = ${book.bookId} and j.source_id = wanted.id and j.source_type = 'statement_entry'
        and j.sequence = 0 offset 0) found`,
  )
})

export const notBooked = (entryId: string) =>
  reclassifyError(
    "NothingThere",
    `Statement entry ${entryId} is held back and not booked yet. See: tieout explain ${entryId}`,
  )
