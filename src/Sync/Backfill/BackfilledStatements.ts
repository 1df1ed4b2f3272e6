/** Reads one account's statement again around a window, and records entries that the mirror lacks or has with other content. */
import { Data, Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import * as Money from "../../Common/Money.ts"
import { nowByUs } from "../../Common/Time.ts"
import { int8 } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { openingCorrection } from "../../Ledger/Opening.ts"
import type { MirroredAccount } from "../../Mirror/MirroredAccounts.ts"
import { Quarantine } from "../../Mirror/Quarantine.ts"
import { heldFrom, type PlacedEntry, StatementEntries } from "../../Mirror/StatementEntries.ts"
import { Run } from "../../Run.ts"
import { Hydration } from "../Resources/Hydration.ts"
import { FloodGate } from "../Runs/FloodGate.ts"
import { statementStream } from "../Statements/Checkpoint.ts"
import { Pages } from "../Statements/StatementPage.ts"
import type { Comparison } from "./Compare.ts"
import { comparedStatement } from "./ComparedStatement.ts"
import { corrections, goneAt } from "./KnownStatement.ts"
import type { Window } from "./Window.ts"

export interface AccountBackfill {
  readonly book: string
  readonly accountId: string
  readonly currency: string
  /** Statement entries in the window. */
  readonly entries: number
  /** Balances at the window's start and end, major unit, as text; null where nothing is known before it. */
  readonly opening: string | null
  readonly closing: string | null
  /** The running balance carries from the opening to the closing, and nothing is missing, changed, gone or unreadable. */
  readonly proved: boolean
  readonly breakAt: string | null
  readonly missing: ReadonlyArray<string>
  readonly changed: ReadonlyArray<string>
  readonly gone: ReadonlyArray<string>
  /** Entries older than all that were known, which are booked now. */
  readonly older: number
  readonly unreadable: number
}

/** A sync has read on in the statement while this waited for its turn, so the comparison is out of date. */
export class StatementMoved extends Data.TaggedError("StatementMoved")<{ readonly accountId: string }> {}

const made = Effect.gen(function* () {
  const database = yield* Database
  const entries = yield* StatementEntries
  const quarantine = yield* Quarantine
  const hydration = yield* Hydration
  const pages = yield* Pages
  const flood = yield* FloodGate
  const compared = yield* comparedStatement

  /** Books entries older than any known one, and takes their amounts off the opening balance. */
  const bookOlder = Effect.fn("Backfill.Statements.bookOlder")(function* (
    book: Book,
    { firstKnown, older }: Comparison,
  ) {
    if (older.length === 0 || Option.isNone(firstKnown)) return
    const run = yield* Run
    const first = firstKnown.value
    const count = BigInt(older.length)
    const fresh = older.map(
      (entry, at): PlacedEntry => ({ entry, position: first.position - count + BigInt(at) }),
    )
    const hydrated = yield* hydration.hydrate(book, fresh, [])
    const sequence = (yield* corrections(database, book, first.entry.accountId)) + 1
    yield* pages.absorb(
      book,
      {
        fresh,
        opens: false,
        more: Option.toArray(openingCorrection(fresh, first, sequence)),
        hydrated: {
          ...hydrated,
          missing: [...hydrated.missing, ...hydrated.malformed.map(({ key }) => key)],
        },
      },
      entries.put(book, run.runId, fresh, false),
    )
  })

  /** Takes entries that now name their resource out of suspense. */
  const bookEnriched = Effect.fn("Backfill.Statements.bookEnriched")(function* (
    book: Book,
    { enriched }: Comparison,
  ) {
    if (enriched.length === 0) return
    const run = yield* Run
    const hydrated = yield* hydration.hydrate(book, enriched, [])
    const missing = [...hydrated.missing, ...hydrated.malformed.map(({ key }) => key)]
    yield* pages.absorb(
      book,
      { fresh: [], enriched, opens: false, hydrated: { ...hydrated, missing } },
      entries.enrich(book, run.runId, enriched),
    )
  })

  /** Fails if more or less of the statement is mirrored or held than when it was compared. */
  const unmoved = Effect.fn("Backfill.Statements.unmoved")(function* (
    book: Book,
    { accountId, entries: known }: MirroredAccount,
    held: bigint,
  ) {
    const mirrored = yield* database.row(
      "Backfill.Statements.unmoved",
      { entries: int8 },
      (sql) => sql`
          select entries from mirror.accounts where book_id = ${book.bookId} and account_id = ${accountId}`,
    )
    const now = yield* entries.heldCount(book, accountId)
    if (mirrored.entries !== known || now !== held) return yield* new StatementMoved({ accountId })
  })

  const goneOf = Effect.fn("Backfill.Statements.goneOf")(function* (
    book: Book,
    { accountId }: MirroredAccount,
    { askedAt, gone }: Comparison,
  ) {
    const now = yield* nowByUs
    const asked = Option.getOrElse(askedAt ?? Option.none(), () => now)
    const found = yield* Effect.forEach(gone, (stretch) => goneAt(database, book, accountId, stretch, asked))
    return found.flat()
  })

  /**
   * A comparison, and the booked entries that were passed over. That an entry is gone is said for good: it is what two readings, one
   * after the other, do not show, since an answer may be of an hour ago. What came within the last minute is no evidence of either.
   */
  const confirmed = Effect.fn("Backfill.Statements.confirmed")(function* (
    book: Book,
    account: MirroredAccount,
    window: Window,
  ) {
    const first = yield* compared(book, account, window)
    const missed = new Set((yield* goneOf(book, account, first)).map(({ entryId }) => entryId))
    if (missed.size === 0) return { found: first, gone: [], isAllThere: true }
    const found = yield* compared(book, account, window)
    const stillMissed = yield* goneOf(book, account, found)
    const gone = stillMissed.flatMap(({ entryId, mayLag }) =>
      missed.has(entryId) && !mayLag ? [entryId] : [],
    )
    return { found, gone, isAllThere: stillMissed.length === 0 }
  })

  /** Fails with `StatementMoved`, without having written anything, if it has to be compared again. */
  const readAgain = Effect.fn("Backfill.Statements.readAgain")(function* (
    book: Book,
    account: MirroredAccount,
    window: Window,
  ) {
    const run = yield* Run
    const { accountId } = account
    const { held } = account
    const { found, gone, isAllThere } = yield* confirmed(book, account, window)
    // A statement may be compared several times: each counts by itself. What is in quarantine already is no flood.
    const stream = statementStream(accountId)
    const unknown = yield* quarantine.unknown(book, stream, found.malformed)
    yield* flood.judge(stream, { rows: found.rows, malformed: unknown.length }, unknown)
    const more = yield* quarantine.more(book, stream, found.malformed)
    const broken = Option.isSome(found.breakAt)
    const missing = broken ? [...found.older, ...found.missing] : found.missing
    const write = Effect.gen(function* () {
      yield* unmoved(book, account, held)
      yield* run.commit(
        Effect.gen(function* () {
          yield* entries.contradict(book, run.runId, found.changed)
          yield* entries.gone(book, run.runId, gone)
          yield* entries.shown(book, run.runId, found.back)
          yield* entries.put(
            book,
            run.runId,
            missing.map((entry, at) => ({ entry, position: heldFrom + held + BigInt(at) + 1n })),
            true,
          )
          yield* quarantine.put(book, run.runId, stream, found.malformed)
        }),
      )
      if (!broken) yield* bookOlder(book, found)
    })
    const news = [missing, found.changed, gone, found.back, found.malformed, found.older]
    if (news.some(({ length }) => length > 0)) yield* run.turn(write)
    yield* bookEnriched(book, found)
    run.counters.contradictions += found.changed.length + gone.length
    run.counters.held += missing.length
    run.counters.quarantined += more
    const text = Option.match({ onNone: () => null, onSome: Money.toText })
    return {
      book: book.code,
      accountId,
      currency: account.currency,
      entries: found.entries,
      opening: text(found.opening),
      closing: text(found.closing),
      proved: !broken && isAllThere && missing.length + found.changed.length + found.malformed.length === 0,
      breakAt: Option.getOrNull(found.breakAt),
      missing: missing.map(({ entryId }) => entryId),
      changed: found.changed.map(({ entryId }) => entryId),
      gone,
      older: broken ? 0 : found.older.length,
      unreadable: found.malformed.length,
    } satisfies AccountBackfill
  })

  return { readAgain }
})

export class BackfillStatements extends Effect.Service<BackfillStatements>()("tieout/Backfill/Statements", {
  effect: made,
}) {
  static readonly made = Effect.map(made, (parts) => new BackfillStatements(parts))
}
