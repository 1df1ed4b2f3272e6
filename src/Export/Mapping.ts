/** What the books' accounts are called in each accounting system: a CSV that an accountant edits, kept in versions. */
import { readFile, writeFile } from "node:fs/promises"
import { Data, Effect, Either, Option } from "effect"
import { chooseBooks } from "../Book/ChosenBooks.ts"
import { allBooks, type Book } from "../Book.ts"
import { type Mistake, unreadable } from "../Common/CsvFile.ts"
import { Database } from "../Database.ts"
import { targetColumns } from "../Format/Targets.ts"
import { checkMapping } from "./Mapping/Check.ts"
import { fileText, readMapping } from "./Mapping/MappingCsv.ts"
import { type BookRow, keyOf } from "./Mapping/Row.ts"
import { addMapping, newestMapping } from "./Mapping/Store.ts"
import { baseOnlyAccounts, readAccounts } from "./Source/Accounts.ts"

/** `message` says what, where (file and line) and what to do. Nothing was stored. */
class AccountMappingError extends Data.TaggedError("AccountMappingError")<{
  readonly reason: "Unreadable" | "Unwritable" | "Invalid"
  readonly message: string
}> {}

const nothing: Readonly<Record<string, string>> = Object.fromEntries(
  targetColumns.map((column) => [column, ""]),
)

/**
 * A book's accounts, each once; several of the ledger may be one here. Those of the base-currency journal come last, once
 * the book has been valued.
 */
const accountsOf = Effect.fn("AccountMapping.accountsOf")(function* ({ bookId }: Book) {
  const { ordered } = yield* readAccounts(bookId)
  const all = [...ordered, ...(yield* baseOnlyAccounts(bookId))]
  return [...new Map(all.map((account) => [keyOf(account), account])).values()]
})

/** The chart in use with the newest mapping's names, a row per account of the chosen books. */
export const current = Effect.fn("AccountMapping.current")(function* (book: Option.Option<string>) {
  const rows: Array<BookRow> = []
  for (const each of yield* chooseBooks(Option.none(), book)) {
    const stored = yield* newestMapping(each.bookId)
    const known = new Map((stored?.rows ?? []).map((row) => [keyOf(row), row]))
    for (const account of yield* accountsOf(each)) {
      const { code, currency, name, role } = account
      rows.push({ ...nothing, ...known.get(keyOf(account)), book: each.code, role, currency, code, name })
    }
  }
  return rows
})

/** Writes the rows to a file that is not there yet: an accountant's work is not overwritten. */
export const writeTo = Effect.fn("AccountMapping.writeTo")(function* (
  file: string,
  rows: ReadonlyArray<BookRow>,
) {
  yield* Effect.tryPromise({
    try: () => writeFile(file, fileText(rows), { flag: "wx", flush: true, mode: 0o600 }),
    catch: (cause) =>
      new AccountMappingError({
        reason: "Unwritable",
        message: `${file} cannot be written: ${String(cause)}. Choose the name of a new file with --out.`,
      }),
  })
})

const most = 50

const invalid = (file: string, mistakes: ReadonlyArray<Mistake>) =>
  new AccountMappingError({
    reason: "Invalid",
    message: [
      ...mistakes.slice(0, most).map(({ line, text }) => `${file}:${line}: ${text}`),
      ...(mistakes.length > most ? [`… and ${mistakes.length - most} more.`] : []),
      "Nothing was stored: mend the file and import it again. tieout accounts export writes one that fits.",
    ].join("\n"),
  })

/** A book's new version, and how many accounts it names. */
export interface Imported {
  readonly book: string
  readonly version: number
  readonly accounts: number
}

/** Checks a file as a whole and stores a new version for each book that it has rows of, or nothing. */
export const importFrom = Effect.fn("AccountMapping.importFrom")(function* (file: string) {
  const database = yield* Database
  const bytes = yield* Effect.tryPromise({
    try: () => readFile(file),
    catch: (cause) => new AccountMappingError({ reason: "Unreadable", message: unreadable(file, cause) }),
  })
  const read = readMapping(bytes)
  if (Either.isLeft(read)) return yield* invalid(file, read.left)
  const books = yield* Effect.forEach(yield* allBooks(Option.none()), (book) =>
    Effect.map(accountsOf(book), (accounts) => ({ book: book.code, bookId: book.bookId, accounts })),
  )
  const { checked, mistakes } = checkMapping(read.right, books)
  if (mistakes.length > 0) return yield* invalid(file, mistakes)
  return yield* database.transaction(
    Effect.forEach(checked, ({ book, bookId, rows }) =>
      Effect.map(addMapping(bookId, rows), (version): Imported => ({ book, version, accounts: rows.length })),
    ),
  )
})
