/**
 * Applies the current posting rules to the entries of open months, by reclassifications between accounts, without reversals.
 * Cash, closed months and what a person moved stay as they are.
 */
import { Effect, Option } from "effect"
import type { Book } from "../Book.ts"
import { inStage } from "../Common/Progress.ts"
import { counted } from "../Common/Text.ts"
import { int4, nullable, type RowOf, text, uuid } from "../Database/Columns.ts"
import { textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { journalNumber } from "../Format/Entry.ts"
import { type Proof, plannedWithProof } from "../Ledger/ClosedMonthGuard.ts"
import type { JournalEntry, Line } from "../Ledger/JournalEntry.ts"
import { movementsOf, resourceKey } from "../Ledger/Movements.ts"
import { merged, placeOf } from "../Ledger/Places.ts"
import { placeLines, targetsOf, withRolesMeant } from "../Ledger/Posting.ts"
import { movedByRules, ruledEntry } from "../Ledger/Reruling.ts"
import { subjectsOf } from "../Ledger/Subjects.ts"
import { Ledger } from "../Ledger.ts"
import { Resources } from "../Mirror/Resources.ts"
import type { Run } from "../Run.ts"
import { PostingFacts } from "../Sync/Statements/PostingFacts.ts"

/** Entries per page, reclassified in one transaction. */
const entriesPerPage = 1_000

/** An entry that the current rules book to another account. */
export interface RuleChange {
  /** The journal number of the original entry. */
  readonly number: string
  readonly period: string
  readonly effectiveDate: string
  readonly kind: string
  readonly description: string
  /** The reclassification. */
  readonly entry: JournalEntry
}

const entryColumns = {
  entry_id: uuid,
  related_id: nullable(uuid),
  period: text,
  number: int4,
  effective_date: text,
  kind: text,
  description: text,
}

type EntryRow = RowOf<typeof entryColumns>

/** The entries of open months, by journal number. */
const pageOf = Effect.fn("Reclassify.Rules.page")(function* (
  book: Book,
  after: Pick<EntryRow, "period" | "number">,
  limit: number,
) {
  const database = yield* Database
  return yield* database.rows(
    "Reclassify.Rules.page",
    entryColumns,
    (sql) => sql`
      select j.source_id as entry_id, s.related_id, to_char(j.period, 'YYYY-MM') as period, j.number,
        j.effective_date::text as effective_date, j.kind, j.description
      from ledger.journal j
      join ledger.locks l on l.book_id = j.book_id
      -- The resource that it names now, which it may not have named when it was booked.
      join mirror.statement_entries s on s.book_id = j.book_id and s.entry_id = j.source_id
      where j.book_id = ${book.bookId} and (l.closed_through is null or j.period > l.closed_through)
        and (j.period, j.number) > (${`${after.period}-01`}::text::date, ${after.number})
        and j.source_type = 'statement_entry' and j.sequence = 0
      order by j.period, j.number
      limit ${limit}`,
  )
})

/** The entries among these that are in open months: another page moves them by the same rules, or has done so. */
const openAmong = Effect.fn("Reclassify.Rules.openAmong")(function* (book: Book, ids: ReadonlyArray<string>) {
  if (ids.length === 0) return new Set<string>()
  const database = yield* Database
  const rows = yield* database.rows(
    "Reclassify.Rules.openAmong",
    { entry_id: uuid },
    (sql) => sql`
      select j.source_id as entry_id
      from ledger.journal j
      join ledger.locks l on l.book_id = j.book_id
      where j.book_id = ${book.bookId} and j.source_type = 'statement_entry' and j.sequence = 0
        and j.source_id = any(${textArray(sql, ids)}::uuid[]) and (l.closed_through is null or j.period > l.closed_through)`,
  )
  return new Set(rows.map(({ entry_id: id }) => id))
})

const changesOf = Effect.fn("Reclassify.Rules.changes")(function* (
  book: Book,
  rows: ReadonlyArray<EntryRow>,
  reason: string,
) {
  const ledger = yield* Ledger
  const resources = yield* Resources
  const facts = yield* PostingFacts
  const related = [...new Set(rows.flatMap(({ related_id: id }) => id ?? []))]
  const alone = rows.filter(({ related_id: id }) => id === null).map(({ entry_id: id }) => id)
  const subjects = yield* subjectsOf(book, related, alone)
  const found = yield* resources.find(book, related, new Date(0).toISOString())
  const known = new Map(
    found.map(({ resource }) => [resourceKey(resource.resourceType, resource.id), resource]),
  )
  const entries = subjects.map(({ entry }) => entry)
  const context = ledger.contextFor(book, yield* facts.factsOf(book, entries, known))
  const byId = new Map(rows.map((row) => [row.entry_id, row]))
  const others = entries.map(({ entryId }) => entryId).filter((id) => !byId.has(id))
  const elsewhere = yield* openAmong(book, others)
  const kept: Array<string> = []
  const changes: Array<RuleChange> = []
  for (const [group, resource] of movementsOf(subjects, known)) {
    const targets = targetsOf(group, resource, context)
    // A return goes to the account that the returned movement was moved to.
    const byHand = group.some((subject) => subject.byHand === true)
    let before: ReadonlyArray<Line> = []
    for (const [at, subject] of group.entries()) {
      const row = byId.get(subject.entry.entryId)
      if (Option.isNone(subject.posted)) continue
      const posted = subject.posted.value
      const standing = withRolesMeant(subject, posted, resource)
      const target = placeLines(subject, targets[at] ?? [], before, resource, context, byHand)
      const isOpen = row !== undefined || elsewhere.has(subject.entry.entryId)
      const lines: ReadonlyArray<Line> = isOpen ? movedByRules(standing, target) : []
      before = merged([...before, ...standing, ...(byHand ? [] : lines)], placeOf)
      if (row === undefined) continue
      if (lines.length === 0) continue
      const number = journalNumber(book.code, row.period, row.number)
      if (byHand) {
        kept.push(number)
        continue
      }
      const { description, effective_date: effectiveDate, kind, period } = row
      const entry = ruledEntry(subject, posted, resource, context, lines, reason)
      changes.push({ number, period, effectiveDate, kind, description, entry })
    }
  }
  const order = new Map(rows.map(({ entry_id: id }, at) => [id, at]))
  const rankOf = ({ entry }: RuleChange): number => order.get(entry.sourceId) ?? 0
  return { changes: changes.sort((a, b) => rankOf(a) - rankOf(b)), kept }
})

/** Called for each page of entries that has a change, in the order of the journal. */
export type Take<E, R> = (
  changes: ReadonlyArray<RuleChange>,
  kept: ReadonlyArray<string>,
  proof: Proof,
) => Effect.Effect<void, E, R>

/** Goes through the open months of a book with flat memory. */
export const throughRules = Effect.fn("Reclassify.throughRules")(function* <E, R>(
  book: Book,
  reason: string,
  take: Take<E, R>,
  pageSize = entriesPerPage,
) {
  yield* (yield* PostingFacts).refresh(book)
  let after: Pick<EntryRow, "period" | "number"> = { period: "0001-01", number: 0 }
  let looked = 0
  for (;;) {
    const from = after
    const rows = yield* plannedWithProof([book], (proof) =>
      Effect.gen(function* () {
        const page = yield* pageOf(book, from, pageSize)
        const { changes, kept } = yield* changesOf(book, page, reason)
        if (page.length > 0) yield* take(changes, kept, proof)
        return page
      }),
    ).pipe(inStage("reclassify", () => `${counted(looked, "entry", "entries")} of the book ${book.code}`))
    const last = rows.at(-1)
    if (last === undefined) return looked
    looked += rows.length
    after = last
  }
})

/** Posts a page's reclassifications, all or none, with the dates of their entries, whose months are open. */
export const postChanges = Effect.fn("Reclassify.postChanges")(function* (
  book: Book,
  run: Run["Type"],
  changes: ReadonlyArray<RuleChange>,
  proof: Proof,
) {
  if (changes.length === 0) return
  const ledger = yield* Ledger
  const prepared = yield* ledger.prepare(
    book,
    changes.map(({ entry }) => entry),
    run.commit,
  )
  yield* run.commit(Effect.zipRight(proof, ledger.post(book, run.runId, prepared)))
  run.counters.journalEntries += changes.length
  run.counters.reclassifications += changes.length
})
