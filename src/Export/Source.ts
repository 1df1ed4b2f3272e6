/** Where a batch's figures come from: the books in their own currencies, or the base-currency journal. */
import { Effect } from "effect"
import { ofBook } from "../Book/ByBook.ts"
import { isDate, shiftDate } from "../Common/Time.ts"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import type { Database } from "../Database.ts"
import { nativeMovements } from "../Format/Csv/NativeMovements.ts"
import type { Account } from "../Format/Entry.ts"
import type { SingleFile } from "../Format/Format.ts"
import type { Manifest } from "./Batch/Manifest.ts"
import type { ExportError } from "./ExportError.ts"
import type { Selection } from "./Request/ExportScope.ts"
import { type BookAccounts, inBase, type JournalAccounts } from "./Source/Accounts.ts"
import { balancesAsOf, balancesOfBooks, type Sums, type SumsByBook, selectedSums } from "./Source/Balances.ts"
import { type Chunks, streamedChunks } from "./Source/Chunks.ts"
import { type CurrencyEntries, currencyEntries, type LinesOf } from "./Source/CurrencyEntries.ts"
import { type EntryChunk, streamEntries } from "./Source/Entries.ts"
import { numberedByDate } from "./Source/EntryOrder.ts"
import { type JournalName, lookUpOneByOne } from "./Source/JournalViews.ts"
import { bounded, valuedMonths } from "./Source/ValuedMonths.ts"

type Read<A> = Effect.Effect<A, DatabaseError | ExportError, Database>

/** Read in the caller's repeatable-read transaction. */
export interface Source {
  readonly accounts: JournalAccounts
  /** Before the first entry, and after the last. */
  readonly opening: Sums
  readonly closing: Sums
  /** The selected entries' sums, by account: only accounts that they touch with a line that is worth something. */
  readonly moved: Read<Sums>
  /** The same with every account that they touch: a line that is worth nothing in the base currency moved something all the same. */
  readonly touched: Read<Sums>
  /** Includes what the service says about the payments, if wanted. */
  readonly entries: (order: "number" | "date", withPayments?: boolean) => Chunks<EntryChunk>
  /** By currency, how many of the selected entries there are, and how many have an amount of more than so many decimals. */
  readonly entriesByCurrency: (decimals: number, lines: LinesOf) => Read<CurrencyEntries>
  /** Whether the entries by number are in the order of their dates as well. */
  readonly numberedByDate: Read<boolean>
  /** Files that accompany every export. */
  readonly alongside: ReadonlyArray<SingleFile>
  readonly base: Omit<NonNullable<Manifest["base"]>, "omitted"> | undefined
}

export interface SourceBook {
  readonly bookId: number
  readonly code: string
}

/** The first day after the selection, or `infinity`. */
export const endOf = ({ to }: Pick<Selection, "to">): string => {
  const next = to === null ? null : shiftDate(to, 1)
  // After the last day of the year 9999 comes none that can be written.
  return next !== null && isDate(next) ? next : "infinity"
}

/** For several books, by book: the balances before the first selected entry and after the last, and the movements between. */
export const readBalances = Effect.fn("Export.balances")(function* (
  journal: JournalName,
  selection: Selection,
  books: ReadonlyMap<number, JournalAccounts>,
) {
  const { asOf, covered, from, since } = selection
  /** Sums of the entries dated before a day, as far as the selection may know them. */
  const before = (day: string) =>
    asOf === null
      ? balancesOfBooks(journal, day, books)
      : Effect.map(
          Effect.forEach(books, ([bookId, accounts]) =>
            Effect.map(balancesAsOf(bookId, day, accounts, asOf), (sums) => [bookId, sums] as const),
          ),
          (sums): SumsByBook => new Map(sums),
        )
  const closing = yield* before(endOf(selection))
  const moved = yield* Effect.cached(selectedSums(journal, selection, books))
  // The balances before, computed from the balances after and the selected entries, without reading the history again.
  const withoutNews = (news: SumsByBook): SumsByBook =>
    new Map(
      [...books].map(([bookId, { ordered }]) => {
        const [held, own] = [ofBook(closing, bookId), ofBook(news, bookId)]
        return [bookId, new Map(ordered.map((one) => [one, (held.get(one) ?? 0n) - (own.get(one) ?? 0n)]))]
      }),
    )
  const opening =
    since === null && covered.length === 0
      ? yield* before(from ?? "-infinity")
      : yield* Effect.map(moved, withoutNews)
  return { opening, closing, moved }
})

const readSource = Effect.fn("Export.readSource")(function* (
  book: SourceBook,
  journal: JournalName,
  selection: Selection,
  accounts: JournalAccounts,
) {
  const { bookId } = book
  const { closing, moved, opening } = yield* readBalances(journal, selection, new Map([[bookId, accounts]]))
  const source: Source = {
    ...{ accounts, opening: ofBook(opening, bookId), closing: ofBook(closing, bookId) },
    moved: Effect.map(moved, (sums) => ofBook(sums, bookId)),
    touched: Effect.map(selectedSums(journal, selection, new Map([[bookId, accounts]]), true), (sums) =>
      ofBook(sums, bookId),
    ),
    entries: (order, withPayments) =>
      streamedChunks(streamEntries({ ...book, accounts }, journal, selection, order, withPayments)),
    entriesByCurrency: (decimals, lines) =>
      Effect.map(currencyEntries([bookId], journal, selection, decimals, lines), (found) =>
        ofBook(found, bookId),
      ),
    // The base-currency journal has two series of numbers, whose dates take turns.
    numberedByDate: journal === "native" ? numberedByDate(bookId, selection) : Effect.succeed(false),
    alongside: [],
    base: undefined,
  }
  return source
})

/** The books in their own currencies. */
export const nativeSource = (book: SourceBook, selection: Selection, accounts: JournalAccounts) =>
  readSource(book, "native", selection, accounts)

/** Which base-currency journal a selection is of, and what it selects there: an as-of journal holds only what was recorded by then. */
export const inBaseJournal = Effect.fn("Export.inBaseJournal")(function* (
  bookId: number,
  selection: Selection,
) {
  const scope = yield* bounded(bookId, selection)
  const journal: JournalName = selection.asOf === null ? "kept" : "then"
  return { journal, scope: { ...scope, asOf: null } } as const
})

/**
 * The base-currency journal. Value the book through the end of the selection first: with `value` or, for an as-of export, with
 * `valueThen` in the same transaction. `baseOnly`: the accounts that only this journal has.
 */
export const baseSource = Effect.fn("Export.baseSource")(function* (
  book: SourceBook,
  selection: Selection,
  native: BookAccounts,
  baseOnly: ReadonlyArray<Account>,
) {
  const { journal, scope } = yield* inBaseJournal(book.bookId, selection)
  const base = yield* valuedMonths(book, scope, journal, baseOnly[0]?.currency)
  yield* lookUpOneByOne(true)
  const source = yield* readSource(book, journal, scope, inBase(native, baseOnly, base.currency))
  return { ...source, alongside: [nativeMovements], base } satisfies Source
})
