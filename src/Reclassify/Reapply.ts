/** `tieout reclassify --rules`: shows what changed posting rules move in open months, or moves it. */
import { Effect, Option } from "effect"
import { chooseBooks } from "../Book/ChosenBooks.ts"
import type { Book } from "../Book.ts"
import { printedSum } from "../Common/AmountText.ts"
import * as Money from "../Common/Money.ts"
import { int4 } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import type { Line } from "../Ledger/JournalEntry.ts"
import { Ledger } from "../Ledger.ts"
import { Reconcile } from "../Reconcile.ts"
import { beginRun } from "../Run.ts"
import { holding } from "../Sync/Runs/ConnectionLock.ts"
import { recordEnd } from "../Sync/Runs/Proving.ts"
import { SyncBusy } from "../Sync/Runs/RunReport.ts"
import { postChanges, type RuleChange, throughRules } from "./ByRules.ts"
import { monthsInSuspense } from "./Chosen.ts"

export interface ReapplyRequest {
  /** A book's code or its client's id; all books when none. */
  readonly book: Option.Option<string>
  /** Moves nothing. */
  readonly preview: boolean
  /** At most 150 characters. */
  readonly reason: string
  readonly who: string
}

/** One reclassification for a person: its debits and credits. */
export interface ShownChange {
  readonly number: string
  readonly effectiveDate: string
  readonly description: string
  readonly debit: string
  readonly credit: string
  /** `12.50 EUR` */
  readonly amount: string
}

/** The total that moves from one account to another. */
export interface MovedTotal {
  readonly debit: string
  readonly credit: string
  readonly entries: number
  readonly amount: string
}

export interface Reapplied {
  readonly book: string
  /** Entries of open months that were examined. */
  readonly looked: number
  /** Entries that a sync which was stopped left without a number: a preview does not examine them, and moving numbers them first. */
  readonly unnumbered: number
  readonly changed: number
  /** The first thousand changes. */
  readonly changes: ReadonlyArray<ShownChange>
  readonly totals: ReadonlyArray<MovedTotal>
  /** How many entries stay where a person moved them; then the first thousand, by journal number. */
  readonly keptByHand: number
  readonly kept: ReadonlyArray<string>
}

const mostShown = 1_000

const sideOf = (
  lines: ReadonlyArray<Line>,
  positive: boolean,
  nameOf: (line: Line) => string,
): { readonly accounts: string; readonly amount: Money.Amount } => {
  const side = lines.filter(({ amount }) => Money.isPositive(amount) === positive)
  return {
    accounts: side.map(nameOf).join(", "),
    amount: side.reduce((sum, { amount }) => Money.add(sum, amount), Money.zero),
  }
}

/** Adds up the changes, and collects the ones to show. */
const tally = (book: Book) => {
  const changes: Array<ShownChange> = []
  const kept: Array<string> = []
  const totals = new Map<string, Omit<MovedTotal, "amount"> & { amount: Money.Amount; currency: string }>()
  const months = new Set<string>()
  let changed = 0
  let keptByHand = 0
  const add = (
    { description, effectiveDate, entry, number, period }: RuleChange,
    nameOf: (line: Line) => string,
  ): void => {
    const { accounts: debit, amount } = sideOf(entry.lines, true, nameOf)
    const { accounts: credit } = sideOf(entry.lines, false, nameOf)
    const currency = entry.lines[0]?.currency ?? ""
    months.add(period)
    changed += 1
    if (changes.length < mostShown) {
      const printed = printedSum(Money.toText(amount), currency)
      changes.push({ number, effectiveDate, description, debit, credit, amount: printed })
    }
    const key = JSON.stringify([debit, credit, currency])
    const before = totals.get(key)
    totals.set(key, {
      debit,
      credit,
      currency,
      entries: (before?.entries ?? 0) + 1,
      amount: Money.add(before?.amount ?? Money.zero, amount),
    })
  }
  return {
    take: Effect.fnUntraced(function* (page: ReadonlyArray<RuleChange>, left: ReadonlyArray<string>) {
      const nameOf = yield* (yield* Ledger).namesOf(
        book,
        page.flatMap(({ entry }) => entry.lines),
      )
      for (const change of page) add(change, nameOf)
      keptByHand += left.length
      kept.push(...left.slice(0, mostShown - kept.length))
    }),
    months: (): ReadonlyArray<string> => [...months].sort(),
    result: (looked: number, unnumbered = 0): Reapplied => ({
      book: book.code,
      looked,
      unnumbered,
      changed,
      changes,
      totals: [...totals.values()].map(({ amount, credit, currency, debit, entries }) => ({
        debit,
        credit,
        entries,
        amount: printedSum(Money.toText(amount), currency),
      })),
      keptByHand,
      kept,
    }),
  }
}

/** Numbers that are given meanwhile may count an entry that was examined, too. */
const unnumberedIn = Effect.fn("Reclassify.unnumbered")(function* ({ bookId }: Book) {
  const database = yield* Database
  const { waiting } = yield* database.row(
    "Reclassify.unnumbered",
    { waiting: int4 },
    (sql) => sql`
      select count(*)::integer as waiting
      from ledger.unnumbered u
      join ledger.journal_entries j on j.book_id = u.book_id and j.entry_id = u.entry_id
      where u.book_id = ${bookId} and j.source_type = 'statement_entry' and j.sequence = 0`,
  )
  return waiting
})

const previewed = Effect.fn("Reclassify.preview")(function* (book: Book, { reason }: ReapplyRequest) {
  const sum = tally(book)
  const unnumbered = yield* unnumberedIn(book)
  const looked = yield* throughRules(book, reason, sum.take)
  return sum.result(looked, unnumbered)
})

/** Runs while no sync of the connection does, since it might be about to correct the same movements. */
const applied = Effect.fn("Reclassify.apply")(function* (book: Book, { reason, who }: ReapplyRequest) {
  const ledger = yield* Ledger
  const reconcile = yield* Reconcile
  const sum = tally(book)
  const run = yield* beginRun(book.connection, "reclassify")
  const work = Effect.gen(function* () {
    yield* run.commit(ledger.assignNumbers([book], run.runId))
    const looked = yield* throughRules(book, reason, (changes, kept, proof) =>
      Effect.zipRight(postChanges(book, run, changes, proof), sum.take(changes, kept)),
    )
    yield* run.commit(ledger.assignNumbers([book], run.runId))
    // Also what an earlier process moved that was killed before it came here.
    const months = new Set([...sum.months(), ...(yield* monthsInSuspense(book))])
    for (const month of months) yield* reconcile.month([book], month)
    return sum.result(looked)
  })
  return yield* work.pipe(Effect.onExit((exit) => recordEnd(run, exit, () => ({ code: 0, by: who }))))
})

/**
 * One result for each chosen book. Fails with `SyncBusy` while a sync of a book's connection runs; the books before it are
 * done.
 */
export const reapply = Effect.fn("Reclassify.reapply")(function* (request: ReapplyRequest) {
  const database = yield* Database
  const books = yield* chooseBooks(Option.none(), request.book)
  return yield* Effect.forEach(books, (book, at) =>
    request.preview
      ? previewed(book, request)
      : holding(database, book.connection, applied(book, request)).pipe(
          Effect.catchTag("LockBusy", () => {
            const before = at === 0 ? "" : "; the books before it are done"
            return new SyncBusy({
              connection: book.connection,
              undone: `nothing of ${book.code} was moved${before}`,
            })
          }),
        ),
  )
})
