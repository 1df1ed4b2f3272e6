/** What the books' accounts are called in each accounting system: a CSV or workbook that an accountant edits, kept in versions. */
import { Data, Effect, Either, Option } from "effect"
import { ofBook } from "../Book/ByBook.ts"
import { chooseBooks } from "../Book/ChosenBooks.ts"
import { allBooks, type Book } from "../Book.ts"
import { type Mistake, unreadable, unwritable } from "../Common/Files/CsvFile.ts"
import { writeWholeFile } from "../Common/Files/NewFile.ts"
import { largestImport } from "../Common/Files/RegularFile/ImportBounds.ts"
import { readNamed } from "../Common/Files/RegularFile.ts"
import { Database } from "../Database.ts"
import { targetColumns } from "../Format/Targets.ts"
import type { ValuationOptions } from "../Valuation/ValuedBook.ts"
import { changesBetween, type MappingChange, type Unmapped, unmappedIn } from "./Mapping/Changes.ts"
import { addMapping, newestMappings, type StoredMapping, waitForImports } from "./Mapping/KeptMappings.ts"
import { type CheckedBook, checkMapping, identityOf } from "./Mapping/MappingCheck.ts"
import { fileText, readMapping, workbookOf } from "./Mapping/MappingCsv.ts"
import { type BookRow, keyOf, type MappingRow } from "./Mapping/MappingRow.ts"
import { type Named, renamedRows } from "./Mapping/Renamed.ts"
import { type SharedCode, sharedInMapping } from "./Mapping/SharedCodes.ts"
import { accountsOfBooks, baseOnlyOfBooks, chartAccounts } from "./Source/Accounts.ts"

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
 * The books' accounts; several may have one name, and are one in a mapping. Those of the base-currency journal come last, if
 * asked for with those that the book will only have once it is valued.
 */
const accountsOf = Effect.fn("AccountMapping.accountsOf")(function* (
  books: ReadonlyArray<Book>,
  base: Base | null,
) {
  const ids = books.map(({ bookId }) => bookId)
  const accounts = yield* accountsOfBooks(ids)
  const baseOnly = yield* baseOnlyOfBooks(ids)
  return books.map(({ bookId, code: book }) => {
    const { ordered } = ofBook(accounts, bookId)
    const valued = ofBook(baseOnly, bookId)
    const later = base === null || valued.length > 0 ? [] : chartAccounts(book, base)
    return { bookId, book, accounts: [...ordered, ...valued, ...later] }
  })
})

const byName = (accounts: ReadonlyArray<Named>): ReadonlyArray<Named> => [
  ...new Map(accounts.map((account) => [keyOf(account), account])).values(),
]

/** The chart in use with the newest mapping's names, a row per account of the chosen books. */
export const current = Effect.fn("AccountMapping.current")(function* (
  book: Option.Option<string>,
  base: Base | null = null,
) {
  const books = yield* chooseBooks(Option.none(), book)
  const stored = yield* newestMappings(books.map(({ bookId }) => bookId))
  const rows: Array<BookRow> = []
  for (const one of yield* accountsOf(books, base)) {
    const kept = renamedRows(stored.get(one.bookId)?.rows ?? [], one.accounts)
    const known = new Map(kept.map(({ partnerAccountId: _, ...row }) => [keyOf(row), row]))
    for (const account of byName(one.accounts)) {
      const { code, currency, name, role } = account
      rows.push({ ...nothing, ...known.get(keyOf(account)), book: one.book, role, currency, code, name })
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
    try: async () => writeWholeFile(file, /\.xlsx$/i.test(file) ? await workbookOf(rows) : fileText(rows)),
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
  { absent, accounts, book, bookId, rows }: CheckedBook,
  unsaid: ReadonlyArray<string>,
  stored: StoredMapping | null,
) {
  const stands = renamedRows(stored?.rows ?? [], accounts)
  const before = new Map(stands.map((row): [string, MappingRow] => [keyOf(row), row]))
  const kept = absent.map(
    (account): MappingRow => ({ ...nothing, ...before.get(keyOf(account)), ...identityOf(account) }),
  )
  const named = rows.map((row): MappingRow => {
    const old = before.get(keyOf(row))
    return { ...row, ...Object.fromEntries(unsaid.map((column) => [column, old?.[column] ?? ""])) }
  })
  const all = [...named, ...kept]
  const changes = changesBetween(stands, all)
  const written = new Set((stored?.rows ?? []).map(keyOf))
  const added = all.some((row) => !written.has(keyOf(row)))
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
  const books = yield* accountsOf(yield* allBooks(Option.none()), base)
  const { checked, mistakes } = checkMapping(read.right.rows, books)
  if (mistakes.length > 0) return yield* invalid(file, mistakes)
  const { absent } = read.right
  return yield* database.transaction(
    Effect.gen(function* () {
      yield* waitForImports
      const stored = yield* newestMappings(checked.map(({ bookId }) => bookId))
      return yield* Effect.forEach(checked, (one) => importBook(one, absent, stored.get(one.bookId) ?? null))
    }),
  )
})

export interface UnmappedBook extends Unmapped {
  readonly book: string
}

/** The unmapped accounts of the books that have a mapping. Reads nothing of the others. */
export const unmappedAccounts = Effect.fn("AccountMapping.unmapped")(function* (books: ReadonlyArray<Book>) {
  const stored = yield* newestMappings(books.map(({ bookId }) => bookId))
  const mapped = books.filter(({ bookId }) => stored.has(bookId))
  return (yield* accountsOf(mapped, null)).flatMap(({ accounts, book, bookId }) =>
    unmappedIn(renamedRows(stored.get(bookId)?.rows ?? [], accounts), byName(accounts)).map(
      (one): UnmappedBook => ({ book, ...one }),
    ),
  )
})
