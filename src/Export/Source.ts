/** Where a batch's figures come from: the books in their own currencies, or the base-currency journal. */
import { Effect, type Stream } from "effect"
import { shiftDate } from "../Common/Time.ts"
import type { DatabaseError } from "../Database/DatabaseError.ts"
import type { Database } from "../Database.ts"
import type { Account } from "../Format/Entry.ts"
import type { SingleFile } from "../Format/Format.ts"
import type { Manifest } from "./Batch/Manifest.ts"
import type { ExportError } from "./ExportError.ts"
import type { Selection } from "./Request/Scope.ts"
import {
  type BookAccounts,
  balancesAsOf,
  balancesBefore,
  type Sums,
  selectedSums,
} from "./Source/Balances.ts"
import { type EntryChunk, streamEntries } from "./Source/Entries.ts"

type Read<A> = Effect.Effect<A, DatabaseError | ExportError, Database>

/** Read in the caller's repeatable-read transaction. */
export interface Source {
  readonly accounts: BookAccounts
  /** Before the first entry, and after the last. */
  readonly opening: Sums
  readonly closing: Sums
  /** The selected entries' sums, by account: only accounts that they touch. */
  readonly moved: Read<Sums>
  readonly entries: (
    order: "number" | "date",
  ) => Stream.Stream<EntryChunk, DatabaseError | ExportError, Database>
  /** Files that are written whatever was asked for. */
  readonly alongside: ReadonlyArray<SingleFile>
  /** The account of the books behind one of `accounts`: what an account mapping knows. */
  readonly nativeOf: (account: Account) => Account
  readonly base: Manifest["base"]
}

/** The first day after the selection, or `infinity`. */
export const endOf = ({ to }: Selection): string => (to === null ? "infinity" : shiftDate(to, 1))

/** Of the entries dated before a day that the selection may know. */
const balancesOf = (bookId: number, { asOf }: Selection, day: string, accounts: BookAccounts) =>
  asOf === null ? balancesBefore(bookId, day, accounts) : balancesAsOf(bookId, day, accounts, asOf)

const openings = Effect.fn("Export.openings")(function* (
  bookId: number,
  selection: Selection,
  accounts: BookAccounts,
  closing: Sums,
) {
  if (selection.since === null && selection.covered.length === 0)
    return yield* balancesOf(bookId, selection, selection.from ?? "-infinity", accounts)
  // Everything but the news: without reading the history again.
  const news = yield* selectedSums(bookId, selection, accounts)
  return new Map(
    accounts.ordered.map((account) => [account, (closing.get(account) ?? 0n) - (news.get(account) ?? 0n)]),
  )
})

/** The books in their own currencies. */
export const nativeSource = Effect.fn("Export.nativeSource")(function* (
  book: { readonly bookId: number; readonly code: string },
  selection: Selection,
  accounts: BookAccounts,
) {
  const closing = yield* balancesOf(book.bookId, selection, endOf(selection), accounts)
  const source: Source = {
    accounts,
    opening: yield* openings(book.bookId, selection, accounts, closing),
    closing,
    moved: selectedSums(book.bookId, selection, accounts),
    entries: (order) => streamEntries(book, selection, order, accounts),
    alongside: [],
    nativeOf: (account) => account,
    base: undefined,
  }
  return source
})
