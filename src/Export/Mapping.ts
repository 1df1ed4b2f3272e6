/** What the books' accounts are called in each accounting system: a CSV or workbook that an accountant edits, kept in versions. */
import { Data, Effect, Either, Option } from "effect"
import { chooseBooks } from "../Book/ChosenBooks.ts"
import { allBooks, type Book } from "../Book.ts"
import { type Mistake, unreadable, unwritable } from "../Common/CsvFile.ts"
import { writeNewFile } from "../Common/NewFile.ts"
import { largestImport } from "../Common/RegularFile/ImportBounds.ts"
import { readNamed } from "../Common/RegularFile.ts"
import { Database } from "../Database.ts"
import { targetColumns } from "../Format/Targets.ts"
import type { ValuationOptions } from "../Valuation/ValuedBook.ts"
import { changesBetween, type MappingChange, type Unmapped, unmappedIn } from "./Mapping/Changes.ts"
import { addMapping, mappedBooks, newestMapping } from "./Mapping/KeptMappings.ts"
import { type CheckedBook, checkMapping } from "./Mapping/MappingCheck.ts"
import { fileText, readMapping, workbookOf } from "./Mapping/MappingCsv.ts"
import { type BookRow, keyOf, type MappingRow } from "./Mapping/MappingRow.ts"
import { type SharedCode, sharedInMapping } from "./Mapping/SharedCodes.ts"
import { baseOnlyAccounts, chartAccounts, readAccounts } from "./Source/Accounts.ts"

/** `message` says what, where (file and line) and what to do. Nothing was stored. */
class AccountMappingError extends Data.TaggedError("AccountMappingError")<{
  readonly reason: "Unreadable" | "Unwritable" | "Exists" | "NoFolder" | "Invalid"
  readonly message: string
}> {}

const nothing: Readonly<Record<string, string>> = Object.fromEntries(
  targetColumns.map((column) => [column, ""]),
)

/** The base-currency journal's own accounts, as the chart calls them before a book is valued for the first time. */
type Base = Pick<ValuationOptions, "baseCurrency" | "chart">

/**
 * A book's accounts, each once; several of the ledger may be one here. Those of the base-currency journal come last, if asked
 * for with those that the book will only have once it is valued.
 */
const accountsOf = Effect.fn("AccountMapping.accountsOf")(function* (
  { bookId, code }: Book,
  base: Base | null,
) {
  const { ordered } = yield* readAccounts(bookId)
  const valued = yield* baseOnlyAccounts(bookId)
  const later = base === null || valued.length > 0 ? [] : chartAccounts(code, base)
  const all = [...ordered, ...valued, ...later]
  return [...new Map(all.map((account) => [keyOf(account), account])).values()]
})

/** The chart in use with the newest mapping's names, a row per account of the chosen books. */
export const current = Effect.fn("AccountMapping.current")(function* (
  book: Option.Option<string>,
  base: Base | null = null,
) {
  const rows: Array<BookRow> = []
  for (const each of yield* chooseBooks(Option.none(), book)) {
    const stored = yield* newestMapping(each.bookId)
    const known = new Map((stored?.rows ?? []).map((row) => [keyOf(row), row]))
    for (const account of yield* accountsOf(each, base)) {
      const { code, currency, name, role } = account
      rows.push({ ...nothing, ...known.get(keyOf(account)), book: each.code, role, currency, code, name })
    }
  }
  return rows
})

/** Writes the rows to a file that is not there yet, a workbook by its name: an accountant's work is not overwritten. */
export const writeTo = Effect.fn("AccountMapping.writeTo")(function* (
  file: string,
  rows: ReadonlyArray<BookRow>,
) {
  yield* Effect.tryPromise({
    try: async () => writeNewFile(file, /\.xlsx$/i.test(file) ? await workbookOf(rows) : fileText(rows)),
    catch: (cause) => new AccountMappingError(unwritable(file, cause)),
  })
})

const shownMistakes = 50

const invalid = (file: string, mistakes: ReadonlyArray<Mistake>) =>
  new AccountMappingError({
    reason: "Invalid",
    message: [
      ...mistakes.slice(0, shownMistakes).map(({ line, text }) => `${file}:${line}: ${text}`),
      ...(mistakes.length > shownMistakes ? [`… and ${mistakes.length - shownMistakes} more.`] : []),
      "Nothing was stored: mend the file and import it again. tieout accounts export writes one that fits.",
    ].join("\n"),
  })

/** A book's mapping after an import, and what that changed. */
export interface Imported {
  readonly book: string
  readonly version: number
  readonly accounts: number
  /** The changes against the version before; empty if no version was added. */
  readonly changes: ReadonlyArray<MappingChange>
  readonly unmapped: ReadonlyArray<Unmapped>
  /** Codes that several bank accounts and wallets share. */
  readonly shared: ReadonlyArray<SharedCode>
}

const importBook = Effect.fn("AccountMapping.importBook")(function* (
  { absent, book, bookId, rows }: CheckedBook,
  unsaid: ReadonlyArray<string>,
) {
  const stored = yield* newestMapping(bookId)
  const before = new Map((stored?.rows ?? []).map((row: MappingRow) => [keyOf(row), row]))
  const kept = absent.map((account): MappingRow => {
    const { code, currency, name, role } = account
    return before.get(keyOf(account)) ?? { ...nothing, code, currency, name, role }
  })
  const named = rows.map((row): MappingRow => {
    const old = before.get(keyOf(row))
    return { ...row, ...Object.fromEntries(unsaid.map((column) => [column, old?.[column] ?? ""])) }
  })
  const all = [...named, ...kept]
  const changes = changesBetween(stored?.rows ?? [], all)
  const added = all.some((row) => !before.has(keyOf(row)))
  const version =
    stored !== null && changes.length === 0 && !added ? stored.version : yield* addMapping(bookId, all)
  const imported: Imported = {
    ...{ book, version, accounts: all.length, changes },
    ...{ unmapped: unmappedIn(all, all), shared: sharedInMapping(all) },
  }
  return imported
})

/** Checks a file as a whole and stores a new version for each book whose mapping it changes, or nothing. */
export const importFrom = Effect.fn("AccountMapping.importFrom")(function* (
  file: string,
  base: Base | null = null,
) {
  const database = yield* Database
  const bytes = yield* Effect.try({
    try: () => readNamed(file, largestImport),
    catch: (cause) => new AccountMappingError({ reason: "Unreadable", message: unreadable(file, cause) }),
  })
  const read = yield* Effect.promise(() => readMapping(bytes))
  if (Either.isLeft(read)) return yield* invalid(file, read.left)
  const books = yield* Effect.forEach(yield* allBooks(Option.none()), (book) =>
    Effect.map(accountsOf(book, base), (accounts) => ({ book: book.code, bookId: book.bookId, accounts })),
  )
  const { checked, mistakes } = checkMapping(read.right.rows, books)
  if (mistakes.length > 0) return yield* invalid(file, mistakes)
  const { absent } = read.right
  return yield* database.transaction(Effect.forEach(checked, (one) => importBook(one, absent)))
})

export interface UnmappedBook extends Unmapped {
  readonly book: string
}

/** The unmapped accounts of the books that have a mapping. Reads nothing of the others. */
export const unmappedAccounts = Effect.fn("AccountMapping.unmapped")(function* (books: ReadonlyArray<Book>) {
  const mapped = yield* mappedBooks()
  const found: Array<UnmappedBook> = []
  for (const book of books) {
    if (!mapped.has(book.bookId)) continue
    const stored = yield* newestMapping(book.bookId)
    const unmapped = unmappedIn(stored?.rows ?? [], yield* accountsOf(book, null))
    found.push(...unmapped.map((one) => ({ book: book.code, ...one })))
  }
  return found
})
