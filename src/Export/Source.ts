/** Where a batch's figures come from: the books in their own currencies, or the base-currency journal. */
import { Effect, type Stream } from "effect"
import { shiftDate } from "../Common/Time.ts"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import type { Database } from "../Database.ts"
import { nativeMovements } from "../Format/Csv/NativeMovements.ts"
import type { Account } from "../Format/Entry.ts"
import type { SingleFile } from "../Format/Format.ts"
import type { Manifest } from "./Batch/Manifest.ts"
import type { ExportError } from "./ExportError.ts"
import type { Selection } from "./Request/Scope.ts"
import { type BookAccounts, inBase, type JournalAccounts } from "./Source/Accounts.ts"
import { balancesAsOf, balancesBefore, type Sums, selectedSums } from "./Source/Balances.ts"
import { type CurrencyEntries, currencyEntries } from "./Source/CurrencyEntries.ts"
import { type EntryChunk, streamEntries } from "./Source/Entries.ts"
import { numberedByDate } from "./Source/EntryOrder.ts"
import { type JournalName, lookUpOneByOne } from "./Source/Journal.ts"
import { bounded, valuedMonths } from "./Source/ValuedMonths.ts"

type Read<A> = Effect.Effect<A, DatabaseError | ExportError, Database>

/** Read in the caller's repeatable-read transaction. */
export interface Source {
  readonly accounts: JournalAccounts
  /** Before the first entry, and after the last. */
  readonly opening: Sums
  readonly closing: Sums
  /** The selected entries' sums, by account: only accounts that they touch. */
  readonly moved: Read<Sums>
  /** With what the service says of the payments where that is wanted. */
  readonly entries: (
    order: "number" | "date",
    withPayments?: boolean,
  ) => Stream.Stream<EntryChunk, DatabaseError | ExportError, Database>
  /** By currency, how many of the selected entries there are, and how many have an amount of more than so many decimals. */
  readonly entriesByCurrency: (decimals: number) => Read<CurrencyEntries>
  /** Whether the entries by number are in the order of their dates as well. */
  readonly numberedByDate: Read<boolean>
  /** Files that are written whatever was asked for. */
  readonly alongside: ReadonlyArray<SingleFile>
  readonly base: Omit<NonNullable<Manifest["base"]>, "omitted"> | undefined
}

interface SourceBook {
  readonly bookId: number
  readonly code: string
}

/** The first day after the selection, or `infinity`. */
export const endOf = ({ to }: Pick<Selection, "to">): string => (to === null ? "infinity" : shiftDate(to, 1))

const readSource = Effect.fn("Export.readSource")(function* (
  book: SourceBook,
  journal: JournalName,
  selection: Selection,
  accounts: JournalAccounts,
) {
  const journalOfBook = { bookId: book.bookId, journal }
  const { asOf, covered, from, since } = selection
  /** Of the entries dated before a day that the selection may know. */
  const balances = (day: string) =>
    asOf === null
      ? balancesBefore(journalOfBook, day, accounts)
      : balancesAsOf(book.bookId, day, accounts, asOf)
  const closing = yield* balances(endOf(selection))
  const moved = selectedSums(journalOfBook, selection, accounts)
  // Everything but the news: without reading the history again.
  const withoutNews = Effect.map(
    moved,
    (news): Sums =>
      new Map(
        accounts.ordered.map((account) => [
          account,
          (closing.get(account) ?? 0n) - (news.get(account) ?? 0n),
        ]),
      ),
  )
  const opening =
    since === null && covered.length === 0 ? yield* balances(from ?? "-infinity") : yield* withoutNews
  const source: Source = {
    ...{ accounts, opening, closing, moved },
    entries: (order, withPayments) => streamEntries(book, journal, selection, order, accounts, withPayments),
    entriesByCurrency: (decimals) => currencyEntries(journalOfBook, selection, decimals),
    // The base-currency journal has two series of numbers, whose dates take turns.
    numberedByDate: journal === "native" ? numberedByDate(book.bookId, selection) : Effect.succeed(false),
    alongside: [],
    base: undefined,
  }
  return source
})

/** The books in their own currencies. */
export const nativeSource = (book: SourceBook, selection: Selection, accounts: JournalAccounts) =>
  readSource(book, "native", selection, accounts)

/**
 * The base-currency journal. Value the book through the end of the selection first: with `value`, or, of a time, with
 * `valueThen` in the same transaction. `baseOnly`: the accounts that only this journal has.
 */
export const baseSource = Effect.fn("Export.baseSource")(function* (
  book: SourceBook,
  selection: Selection,
  native: BookAccounts,
  baseOnly: ReadonlyArray<Account>,
) {
  const journal = selection.asOf === null ? "kept" : "then"
  const scope = yield* bounded(book.bookId, selection)
  const base = yield* valuedMonths(book, scope, journal, baseOnly[0]?.currency)
  yield* lookUpOneByOne(true)
  // What the journal said at a time has been made of what was recorded by then.
  const source = yield* readSource(
    book,
    journal,
    { ...scope, asOf: null },
    inBase(native, baseOnly, base.currency),
  )
  return { ...source, alongside: [nativeMovements], base } satisfies Source
})
