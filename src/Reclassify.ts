/**
 * Reclassification by hand: moves what one statement entry left in suspense, in a clearing account or in transit, or what a
 * loan payment exceeded or fell short by, to another account. It is an entry of its own with the person and the reason, and
 * touches neither cash nor a closed month.
 */
import { Effect, Option } from "effect"
import type { Book } from "./Book.ts"
import * as Money from "./Common/Money.ts"
import { int4, nullable, text } from "./Database/Columns.ts"
import { Database } from "./Database.ts"
import { journalNumber } from "./Format/Entry.ts"
import type { JournalEntry, RuleAccount } from "./Ledger/JournalEntry.ts"
import { type Proof, planned } from "./Ledger/Plan.ts"
import { debitsFirst } from "./Ledger/Posting.ts"
import { Ledger } from "./Ledger.ts"
import { findEntry, type Standing, type StandingLine, standingOf } from "./Reclassify/Reclassifiable.ts"
import { movable, targetOf } from "./Reclassify/Target.ts"
import { printedSum } from "./Reconcile/Printed.ts"
import { Reconcile } from "./Reconcile.ts"
import { beginRun, type Run } from "./Run.ts"
import { holding } from "./Sync/Runs/Holding.ts"
import { recordEnd } from "./Sync/Runs/Proving.ts"
import { SyncBusy } from "./Sync/Runs/RunReport.ts"

export interface ReclassifyRequest {
  /** A journal number, a finding or a statement entry's identifier, as `tieout explain` takes them. */
  readonly id: string
  readonly to: string
  /** The account's name, required for a new code. */
  readonly name: Option.Option<string>
  /** At most 150 characters. */
  readonly reason: string
  readonly who: string
}

export interface Reclassified {
  readonly book: string
  /** The journal number of the new entry; null: not numbered yet. */
  readonly number: string | null
  readonly entryId: string
  readonly effectiveDate: string
  /** `12.50 EUR`; debit positive. */
  readonly amount: string
  readonly from: Pick<StandingLine, "code" | "name">
  readonly to: RuleAccount
  readonly reason: string
}

const entryOf = (standing: Standing, from: StandingLine, to: RuleAccount, reason: string): JournalEntry => {
  const amount = Money.fromTrusted(from.amount)
  const line = { currency: from.currency, partnerAccountId: null }
  const rule = from.ruleCode === "" ? null : { code: from.code, name: from.name }
  return {
    sourceType: "manual",
    sourceId: standing.entryId,
    kind: "reclassification",
    sequence: standing.made + 1,
    occurredAt: standing.at,
    partnerAccountId: standing.partnerAccountId,
    position: standing.position,
    resourceType: standing.resourceType,
    resourceId: standing.resourceId,
    description: `Reclassification by hand: ${reason}`,
    externalReference: Option.fromNullable(standing.externalReference),
    counterparty: Option.fromNullable(standing.counterparty),
    lines: debitsFirst([
      { ...line, role: from.role, amount: Money.negate(amount), rule },
      { ...line, role: "other", amount, rule: to },
    ]),
  }
}

const postedEntry = Effect.fn("Reclassify.posted")(function* (book: Book, entry: JournalEntry) {
  const database = yield* Database
  return yield* database.row(
    "Reclassify.posted",
    { date: text, period: text, number: nullable(int4) },
    (sql) => sql`
      select j.effective_date::text as date, to_char(j.period, 'YYYY-MM') as period, n.number
      from ledger.journal_entries j
      left join ledger.journal_numbers n on n.book_id = j.book_id and n.entry_id = j.entry_id
      where j.book_id = ${book.bookId} and j.source_id = ${entry.sourceId}::uuid and j.source_type = 'manual'
        and j.sequence = ${entry.sequence}`,
  )
})

/** Posts the reclassification of what stands there now, dated by the months that are closed now. */
const posting = (request: ReclassifyRequest, book: Book, entryId: string, run: Run["Type"], proof: Proof) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const standing = yield* standingOf(book, entryId)
    const from = yield* movable(standing)
    const to = yield* targetOf(book, from, request.to, Option.getOrNull(request.name))
    const entry = entryOf(standing, from, to, request.reason)
    const prepared = yield* ledger.prepare(book, [entry])
    yield* run.commit(
      Effect.all([proof, ledger.post(book, run.runId, prepared), ledger.assignNumbers([book], run.runId)], {
        discard: true,
      }),
    )
    return { standing, from, to, entry }
  })

/** While no sync of the connection runs: it might be about to correct the same movement. */
const postAlone = (request: ReclassifyRequest, book: Book, entryId: string, run: Run["Type"]) =>
  Effect.gen(function* () {
    const { entry, from, standing, to } = yield* planned(book, (proof) =>
      posting(request, book, entryId, run, proof),
    )
    run.counters.journalEntries += 1
    run.counters.reclassifications += 1
    yield* (yield* Reconcile).month([book], standing.month)
    const { date, number, period } = yield* postedEntry(book, entry)
    return {
      book: book.code,
      number: number === null ? null : journalNumber(book.code, period, number),
      entryId,
      effectiveDate: date,
      amount: printedSum(from.amount, from.currency),
      from: { code: from.code, name: from.name },
      to,
      reason: request.reason,
    } satisfies Reclassified
  })

/** Fails with `ReclassifyError`, `NothingFound`, or `SyncBusy` while a sync of the connection runs. */
export const reclassify = Effect.fn("Reclassify.reclassify")(function* (request: ReclassifyRequest) {
  const database = yield* Database
  const { book, entryId } = yield* findEntry(request.id)
  const work = Effect.gen(function* () {
    // Checked before the run begins: a refused request leaves no run behind.
    const from = yield* movable(yield* standingOf(book, entryId))
    yield* targetOf(book, from, request.to, Option.getOrNull(request.name))
    const run = yield* beginRun(book.connection, "reclassify")
    return yield* postAlone(request, book, entryId, run).pipe(
      Effect.onExit((exit) => recordEnd(run, exit, () => ({ code: 0, by: request.who }))),
    )
  })
  return yield* holding(database, book.connection, work).pipe(
    Effect.catchTag("LockBusy", () => new SyncBusy({ connection: book.connection })),
  )
})
