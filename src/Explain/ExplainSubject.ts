/** The steps of what an identifier stands for: each kind of thing with what belongs to it. */
import { Effect } from "effect"
import type { Database } from "../Database.ts"
import type { Subject } from "../Inquiry/Subject.ts"
import { account } from "./ExplainAccount.ts"
import { archivedNumber, archivedSources } from "./ExplainArchive.ts"
import { baseEntry } from "./ExplainBaseEntry.ts"
import { batch } from "./ExplainBatch.ts"
import { client, clientBooks } from "./ExplainClient.ts"
import { findings, furtherFindings, quarantined } from "./ExplainFinding.ts"
import { journalEntries } from "./ExplainJournalEntry.ts"
import { receivableBooks, receivableTransactions, receivableVersions } from "./ExplainReceivable.ts"
import { resource } from "./ExplainResource.ts"
import { furtherEntries, namedBy, statementEntries, type Traced } from "./ExplainStatementEntry.ts"
import { type Step, stepsOf } from "./Step.ts"

/** The steps of the resources that entries name. */
const resourcesOf = Effect.fn("Explain.resourcesOf")(function* (
  bookId: number,
  entries: ReadonlyArray<Traced>,
) {
  const steps: Array<Step> = []
  for (const { id, type } of namedBy(entries)) steps.push(...(yield* resource(bookId, type, id)))
  return steps
})

/** The findings and quarantined rows about any of these. */
const problemsOf = Effect.fn("Explain.problemsOf")(function* (
  bookId: number,
  ids: ReadonlyArray<string>,
  stream: string | null,
) {
  const found = yield* findings(bookId, { about: ids })
  return [
    ...stepsOf(found),
    ...furtherFindings(found),
    ...(yield* quarantined(bookId, { items: ids, stream })),
  ]
})

/** A receivable's versions, the cash of its transactions, and the journal entries of both. `shown` is listed already. */
const ofReceivable = Effect.fn("Explain.ofReceivable")(function* (
  { bookId, id }: Pick<Subject, "bookId" | "id">,
  shown: { readonly version: number; readonly entryId: string } | null,
) {
  const { books, kept } = yield* receivableBooks(bookId, id)
  const transactions = yield* receivableTransactions(books, id)
  const cash: Array<Step> = []
  const journal: Array<Step> = []
  for (const book of books) {
    const ids = transactions.flatMap(({ bookId: owner, entries }) => (owner === book ? entries : []))
    const moved = yield* statementEntries(book, { ids })
    cash.push(...stepsOf(moved), ...(yield* furtherEntries(book, { ids }, moved)))
    const booked = yield* journalEntries(book, { sources: [id, ...ids] })
    journal.push(...stepsOf(booked.filter(({ entryId }) => book !== bookId || entryId !== shown?.entryId)))
  }
  // In the borrower's view its findings are those of the borrower's book.
  const problems: Array<Step> = []
  for (const book of new Set([kept, ...books])) problems.push(...(yield* problemsOf(book, [id], null)))
  return [
    ...(yield* receivableVersions(kept, id, shown?.version)),
    ...stepsOf(transactions),
    ...cash,
    ...journal,
    ...problems,
  ]
})

const ofClient = Effect.fn("Explain.ofClient")(function* ({ bookId, id }: Subject) {
  const steps = [...(yield* client(bookId, id))]
  // Its list is the organization's, its accounts are its own book's.
  for (const book of yield* clientBooks(bookId, id)) steps.push(...(yield* problemsOf(book, [id], null)))
  return steps
})

/** `shown`: a journal entry that is listed already. The entries of a whole conversion have the conversion as their source. */
const ofResource = Effect.fn("Explain.ofResource")(function* (
  { bookId, id, kind }: Pick<Subject, "bookId" | "id" | "kind">,
  shown: string | null = null,
) {
  const type = kind.toUpperCase()
  const which = { resource: { type, id } }
  const entries = yield* statementEntries(bookId, which)
  const ids = entries.map(({ entryId }) => entryId)
  const journal = yield* journalEntries(bookId, { sources: type === "CONVERSION" ? [id, ...ids] : ids })
  return [
    // A payout has no endpoint, so only its entries are known.
    ...(type === "PAYOUT" ? [] : yield* resource(bookId, type, id)),
    ...stepsOf(entries),
    ...(yield* furtherEntries(bookId, which, entries)),
    ...stepsOf(journal.filter(({ entryId }) => entryId !== shown)),
    ...(yield* archivedSources(bookId, [id, ...ids], id)),
    ...(yield* problemsOf(bookId, [id, ...ids], null)),
  ]
})

/** A person's reclassification has the source of what it moves; else one identifier may be that of two things of different kinds. */
const belongTogether = (one: string, other: string): boolean =>
  [one, other].includes("manual") || one === other

const ofJournalEntry = Effect.fn("Explain.ofJournalEntry")(function* ({ bookId, id }: Subject) {
  const [asked] = yield* journalEntries(bookId, { entryId: id })
  if (asked === undefined) return []
  const { sourceId, sourceType, version } = asked.source
  if (sourceType === "receivable_version") {
    const receivable = yield* ofReceivable({ bookId, id: sourceId }, { version, entryId: asked.entryId })
    return [asked.step, ...receivable]
  }
  if (sourceType === "resource_version") {
    const conversion = { bookId, id: sourceId, kind: "conversion" } as const
    return [asked.step, ...(yield* ofResource(conversion, asked.entryId))]
  }
  const siblings = yield* journalEntries(bookId, { sources: [sourceId] })
  const others = siblings.filter(
    ({ entryId, source }) => entryId !== asked.entryId && belongTogether(source.sourceType, sourceType),
  )
  const entries = yield* statementEntries(bookId, { ids: [sourceId] })
  const opened = sourceType === "opening" ? yield* account(bookId, sourceId) : []
  const ids = [sourceId, ...namedBy(entries).map((named) => named.id)]
  return [
    asked.step,
    ...stepsOf(others),
    ...stepsOf(entries),
    ...opened,
    ...(yield* resourcesOf(bookId, entries)),
    ...(yield* problemsOf(bookId, ids, null)),
  ]
})

const ofStatementEntry = Effect.fn("Explain.ofStatementEntry")(function* ({ bookId, id }: Subject) {
  const entries = yield* statementEntries(bookId, { ids: [id] })
  const whole = namedBy(entries).flatMap((named) => (named.type === "CONVERSION" ? [named.id] : []))
  const journal = yield* journalEntries(bookId, { sources: [id, ...whole] })
  const ids = [id, ...namedBy(entries).map((named) => named.id)]
  return [
    ...stepsOf(entries),
    ...stepsOf(journal),
    ...(yield* archivedSources(bookId, ids, id)),
    ...(yield* resourcesOf(bookId, entries)),
    ...(yield* problemsOf(bookId, ids, null)),
  ]
})

const ofAccount = Effect.fn("Explain.ofAccount")(function* ({ bookId, id }: Subject) {
  const last = yield* statementEntries(bookId, { lastOf: id })
  return [
    ...(yield* account(bookId, id)),
    ...(yield* problemsOf(bookId, [id], `statement:${id}`)),
    ...stepsOf(last),
    ...(yield* furtherEntries(bookId, { lastOf: id }, last)),
  ]
})

/** The steps of one subject. A finding's steps continue with the subject that it is about. */
export const ofSubject = (subject: Subject): Effect.Effect<ReadonlyArray<Step>, Explaining, Database> => {
  switch (subject.kind) {
    case "journal_entry":
      return ofJournalEntry(subject)
    case "statement_entry":
      return ofStatementEntry(subject)
    case "account":
      return ofAccount(subject)
    case "finding":
      return ofFinding(subject)
    case "receivable":
      return ofReceivable(subject, null)
    case "client":
      return ofClient(subject)
    case "base_entry":
      return baseEntry(subject.bookId, subject.id)
    case "batch":
      return batch(subject.bookId, subject.id)
    case "archived_entry":
      return archivedNumber(subject.bookId, subject.id)
    case "quarantined":
      return quarantined(subject.bookId, { quarantineId: subject.id })
    default:
      return ofResource(subject)
  }
}

type Explaining = Effect.Effect.Error<ReturnType<typeof ofAccount>>

const explainable: ReadonlyMap<string, Subject["kind"]> = new Map(
  (
    ["account", "statement_entry", "deposit", "withdrawal", "conversion", "receivable", "client"] as const
  ).map((kind) => [kind, kind]),
)

const ofFinding = Effect.fn("Explain.ofFinding")(function* (subject: Subject) {
  const [found] = yield* findings(subject.bookId, { findingId: subject.id })
  if (found === undefined) return []
  const { id, type } = found.about
  const rows = type === "stream" ? yield* quarantined(subject.bookId, { items: [], stream: id }) : []
  const kind = explainable.get(type)
  // A receivable may have several findings of one check: a suffix after its identifier distinguishes them.
  const [subjectId = id] = kind === "receivable" ? id.split(" ") : [id]
  const steps = kind === undefined ? [] : yield* ofSubject({ ...subject, kind, id: subjectId })
  // The subject's own problems include the finding; it is listed once.
  return [found.step, ...rows, ...steps.filter(({ title }) => title !== found.step.title)]
})
