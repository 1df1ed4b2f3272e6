/**
 * Reclassification by hand: moves what one statement entry left in suspense, in a clearing account or in transit, or what a
 * loan payment exceeded or fell short by, to another account. It is an entry of its own with the person and the reason, and
 * touches neither cash nor a closed month.
 */
import { Effect, Option } from "effect"
import type { Book } from "./Book.ts"
import { printedSum } from "./Common/AmountText.ts"
import { int4, nullable, text } from "./Database/Columns.ts"
import { columnsOf } from "./Database/TextArray.ts"
import { Database } from "./Database.ts"
import { journalNumber } from "./Format/Entry.ts"
import { type Proof, plannedWithProof } from "./Ledger/ClosedMonthGuard.ts"
import type { RuleAccount } from "./Ledger/JournalEntry.ts"
import { Ledger } from "./Ledger.ts"
import { type AllOf, type ChosenEntry, chosenEntries } from "./Reclassify/Chosen.ts"
import { type Destination, filledOf, type Move, movesOf } from "./Reclassify/Move.ts"
import { type Proposal, proposalsFor } from "./Reclassify/Proposal.ts"
import type { StandingLine } from "./Reclassify/Reclassifiable.ts"
import { Reconcile } from "./Reconcile.ts"
import { beginRun, type Run } from "./Run.ts"
import { holding } from "./Sync/Runs/ConnectionLock.ts"
import { recordEnd } from "./Sync/Runs/Proving.ts"
import { SyncBusy } from "./Sync/Runs/RunReport.ts"

export interface ReclassifyRequest extends Destination {
  /** Journal numbers, findings or statement entries' identifiers, as `tieout explain` takes them. */
  readonly ids: ReadonlyArray<string>
  /** Also the entries of all open findings of a check. */
  readonly allOf?: AllOf
  /** Nothing is posted. */
  readonly preview?: boolean
  readonly who: string
}

export interface Reclassified {
  readonly book: string
  /** The journal number of the new entry; null: not numbered yet, or a preview. */
  readonly number: string | null
  readonly entryId: string
  /** The journal number of the entry that it moves; null: not numbered yet. */
  readonly of: string | null
  /** In a preview, the day that it would have now. */
  readonly effectiveDate: string
  /** `12.50 EUR`; debit positive. */
  readonly amount: string
  readonly from: Pick<StandingLine, "code" | "name">
  /** As the book calls it, in the currency of the amount. */
  readonly to: RuleAccount
  readonly reason: string
}

export interface ReclassifiedAll {
  readonly moved: ReadonlyArray<Reclassified>
  /** Posting rules that would make the next reclassification unnecessary. */
  readonly proposals: ReadonlyArray<Proposal>
}

const keyOf = ({ book, entry: { sequence, sourceId } }: Pick<Move, "book" | "entry">): string =>
  `${book.bookId} ${sourceId} ${sequence}`

/** The dates and numbers of the entries that were posted, by `keyOf`. */
const postedEntries = Effect.fn("Reclassify.posted")(function* (moves: ReadonlyArray<Move>) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Reclassify.posted",
    { key: text, date: text, period: text, number: nullable(int4) },
    (sql) => {
      const { plain } = columnsOf(sql, moves)
      return sql`
        select concat_ws(' ', m.book_id, m.source_id, m.sequence) as key, j.date, j.period, j.number
        from unnest(${plain(({ book }) => String(book.bookId), "int4")}, ${plain(({ entry }) => entry.sourceId, "uuid")},
          ${plain(({ entry }) => String(entry.sequence), "int4")}) as m (book_id, source_id, sequence)
        -- Each by its key (offset 0), however many there are.
        cross join lateral (
          select j.effective_date::text as date, to_char(j.period, 'YYYY-MM') as period, n.number
          from ledger.journal_entries j
          left join ledger.journal_numbers n on n.book_id = j.book_id and n.entry_id = j.entry_id
          where j.book_id = m.book_id and j.source_id = m.source_id and j.source_type = 'manual'
            and j.sequence = m.sequence offset 0) j`
    },
  )
  return new Map(rows.map((row) => [row.key, row]))
})

/** Checks again what the moves explain, so that their findings close. */
const proving = Effect.fn("Reclassify.proving")(function* (
  books: ReadonlyArray<Book>,
  moves: ReadonlyArray<Move>,
) {
  const reconcile = yield* Reconcile
  for (const book of books) {
    const own = moves.filter((move) => move.book.bookId === book.bookId)
    for (const month of new Set(own.map(({ standing }) => standing.month))) {
      yield* reconcile.month([book], month)
    }
  }
})

/**
 * Posts the reclassifications in one transaction, from the amounts that stand there now and dated by the months that are closed
 * now. Their findings close in the same one: a finding that a killed process left open would name what nobody can move any more.
 */
const posting = (
  request: ReclassifyRequest,
  entries: ReadonlyArray<ChosenEntry>,
  books: ReadonlyArray<Book>,
  run: Run["Type"],
  proof: Proof,
) =>
  Effect.gen(function* () {
    const ledger = yield* Ledger
    const moves = yield* movesOf(request, entries)
    const prepared = yield* Effect.forEach(books, (book) =>
      Effect.map(
        ledger.prepare(
          book,
          moves.filter((move) => move.book.bookId === book.bookId).map(({ entry }) => entry),
          run.commit,
        ),
        (own) => ledger.post(book, run.runId, own),
      ),
    )
    yield* run.commit(
      Effect.all([proof, ...prepared, ledger.assignNumbers(books, run.runId), proving(books, moves)], {
        discard: true,
      }),
    )
    return moves
  })

/** `dated`: the day of its entry, and its number once it has one. */
const reclassified = Effect.fn("Reclassify.reclassified")(function* (
  moves: ReadonlyArray<Move>,
  { reason }: ReclassifyRequest,
  dated: (move: Move) => { readonly date: string; readonly number: string | null },
) {
  const filled = yield* filledOf(moves)
  return moves.map((move): Reclassified => {
    const { book, entry, from, standing } = move
    const { date, number } = dated(move)
    return {
      book: book.code,
      number,
      entryId: entry.sourceId,
      of: standing.number === null ? null : journalNumber(book.code, standing.period, standing.number),
      effectiveDate: date,
      amount: printedSum(from.amount, from.currency),
      from: { code: from.code, name: from.name },
      to: filled(move),
      reason,
    }
  })
})

/** Runs while no sync of the connection does, since it might be about to correct the same movement. */
const postAlone = (
  request: ReclassifyRequest,
  entries: ReadonlyArray<ChosenEntry>,
  books: ReadonlyArray<Book>,
  run: Run["Type"],
) =>
  Effect.gen(function* () {
    const moves = yield* plannedWithProof(books, (proof) => posting(request, entries, books, run, proof))
    run.counters.journalEntries += moves.length
    run.counters.reclassifications += moves.length
    const posted = yield* postedEntries(moves)
    const moved = yield* reclassified(moves, request, (move) => {
      const found = posted.get(keyOf(move))
      if (found === undefined) return { date: move.standing.day, number: null }
      const { date, number, period } = found
      return { date, number: number === null ? null : journalNumber(move.book.code, period, number) }
    })
    const [first] = moves
    return { moved, first }
  })

/** The moves in a preview, with the days that the entries would have now. */
const previewOf = Effect.fn("Reclassify.preview")(function* (
  request: ReclassifyRequest,
  entries: ReadonlyArray<ChosenEntry>,
) {
  const moves = yield* movesOf(request, entries)
  return yield* reclassified(moves, request, ({ standing }) => ({ date: standing.day, number: null }))
})

/** Fails with `ReclassifyError`, `NothingFound`, or `SyncBusy` while a sync of the connection runs. */
export const reclassifyAll = Effect.fn("Reclassify.reclassifyAll")(function* (request: ReclassifyRequest) {
  const database = yield* Database
  const entries = yield* chosenEntries(request.ids, Option.fromNullable(request.allOf))
  const [first] = entries
  if (first === undefined) return { moved: [], proposals: [] } satisfies ReclassifiedAll
  if (request.preview === true) {
    return { moved: yield* previewOf(request, entries), proposals: [] } satisfies ReclassifiedAll
  }
  const { connection } = first.book
  const books = [...new Map(entries.map(({ book }) => [book.bookId, book])).values()].sort(
    (a, b) => a.bookId - b.bookId,
  )
  const work = Effect.gen(function* () {
    // Checked before the run begins, so that a refused request leaves no run behind.
    yield* movesOf(request, entries)
    const run = yield* beginRun(connection, "reclassify")
    return yield* postAlone(request, entries, books, run).pipe(
      Effect.onExit((exit) => recordEnd(run, exit, () => ({ code: 0, by: request.who }))),
    )
  })
  const { first: move, moved } = yield* holding(database, connection, work).pipe(
    Effect.catchTag("LockBusy", () => new SyncBusy({ connection, undone: "nothing was moved" })),
  )
  const to = moved[0]?.to
  const proposals =
    to === undefined || move === undefined
      ? []
      : yield* proposalsFor(
          books,
          moved.map(({ entryId }) => entryId),
          { ...to, ruleCode: move.to.code, currency: move.from.currency, book: move.book },
        )
  return { moved, proposals } satisfies ReclassifiedAll
})

/** One entry. */
export const reclassify = ({
  id,
  ...request
}: Omit<ReclassifyRequest, "ids" | "allOf" | "preview"> & { readonly id: string }) =>
  Effect.flatMap(reclassifyAll({ ...request, ids: [id] }), ({ moved: [moved] }) =>
    moved === undefined ? Effect.dieMessage("one entry was named and none was moved") : Effect.succeed(moved),
  )
