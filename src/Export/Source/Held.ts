/** The sources of several small books in their own currencies, read with one statement for all of them and held in memory. */
import { Effect } from "effect"
import { booksIn, ofBook } from "../../Book/ByBook.ts"
import { int4, int8 } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Entry } from "../../Format/Entry.ts"
import type { Selection } from "../Request/ExportScope.ts"
import { readBalances, type Source, type SourceBook } from "../Source.ts"
import { accountsOfBooks } from "./Accounts.ts"
import { heldChunks } from "./Chunks.ts"
import { type CurrencyEntries, currencyEntries, type LinesOf } from "./CurrencyEntries.ts"
import { type EntryChunk, entriesOfBooks, inFetches } from "./Entries.ts"
import { lookUpOneByOne } from "./JournalViews.ts"

const inDateOrder = (entries: ReadonlyArray<Entry>): boolean =>
  entries.every(
    ({ effectiveDate }, at) => at === 0 || (entries[at - 1]?.effectiveDate ?? "") <= effectiveDate,
  )

/** By date: of one day, entries keep the order of their numbers. */
const byDate = (chunks: ReadonlyArray<EntryChunk>): ReadonlyArray<EntryChunk> => {
  const entries = chunks
    .flatMap((chunk) => chunk.entries)
    .toSorted((a, b) => (a.effectiveDate < b.effectiveDate ? -1 : a.effectiveDate > b.effectiveDate ? 1 : 0))
  const numbering = chunks.map((chunk) => chunk.numbering).toSorted((a, b) => (a < b ? -1 : 1))
  return inFetches(entries).map((some) => ({ entries: some, numbering: numbering.at(-1) ?? 0n }))
}

/** In the caller's repeatable-read transaction. `withEntries`: the same with the entries, the last that is read. */
export const heldSources = Effect.fn("Export.heldSources")(function* (
  books: ReadonlyArray<SourceBook>,
  selection: Selection,
) {
  const ids = books.map(({ bookId }) => bookId)
  // Reads a few rows of each book, so through the indexes, whatever the planner estimates for several books at once.
  yield* lookUpOneByOne(true)
  const accounts = yield* accountsOfBooks(ids)
  const { closing, moved, opening } = yield* readBalances("native", selection, accounts)
  const counted = new Map<string, ReadonlyMap<number, CurrencyEntries>>()
  const countAll = Effect.fnUntraced(function* (decimals: number, lines: LinesOf) {
    const key = `${decimals} ${lines}`
    const known = counted.get(key) ?? (yield* currencyEntries(ids, "native", selection, decimals, lines))
    counted.set(key, known)
    return known
  })
  const figuresOf = (bookId: number) => {
    const own = Effect.map(moved, (sums) => ofBook(sums, bookId))
    return {
      accounts: ofBook(accounts, bookId),
      opening: ofBook(opening, bookId),
      closing: ofBook(closing, bookId),
      // In the books' own currencies no line is worth nothing.
      ...{ moved: own, touched: own },
      entriesByCurrency: (decimals: number, lines: LinesOf) =>
        Effect.map(countAll(decimals, lines), (found) => ofBook(found, bookId)),
    }
  }
  const sources = new Map(ids.map((bookId) => [bookId, figuresOf(bookId)]))
  const withEntries = Effect.fnUntraced(function* (withPayments: boolean) {
    const asked = books.map((book) => ({ ...book, accounts: ofBook(accounts, book.bookId) }))
    const entries = yield* entriesOfBooks(asked, selection, withPayments)
    return new Map(
      [...sources].map(([bookId, figures]): readonly [number, Source] => {
        const chunks = ofBook(entries, bookId)
        const ordered = inDateOrder(chunks.flatMap((chunk) => chunk.entries))
        return [
          bookId,
          {
            ...figures,
            entries: (order) => heldChunks(order === "number" ? chunks : byDate(chunks)),
            numberedByDate: Effect.succeed(ordered),
            alongside: [],
            base: undefined,
          },
        ]
      }),
    )
  })
  return { sources, withEntries }
})

/** By book, how many entries of a selection there may be, counted up to `most`: of days within a month, those of the month. */
export const sizesOf = Effect.fn("Export.sizesOf")(function* (
  bookIds: ReadonlyArray<number>,
  { from, since, to }: Pick<Selection, "from" | "since" | "to">,
  most: number,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.sizesOf",
    { bookId: int4, entries: int8 },
    (sql) => sql`
      select k.book_id as "bookId", counted.entries
      from ${booksIn(sql, bookIds)}
      cross join lateral (
        select count(*) as entries from (
          select from ledger.journal_numbers n
          where n.book_id = k.book_id
            and n.period between date_trunc('month', ${from ?? "-infinity"}::text::timestamp)::date and ${to ?? "infinity"}::text::date
            and n.numbering > ${since ?? "0"}::text::bigint
          limit ${most + 1}::integer) n) counted`,
  )
  return new Map(rows.map(({ bookId, entries }) => [bookId, Number(entries)]))
})
