/**
 * Moves closed years out of the database: a dump of everything, read back and proved, then the removal of what the rest of the
 * books no longer needs. What stays is decided in `drizzle/rules.sql` (`ledger.archive_units`), and so is the removal.
 */
import { existsSync } from "node:fs"
import { basename, dirname } from "node:path"
import { Cause, Effect, type Option } from "effect"
import { archiveError } from "./Archive/ArchiveError.ts"
import { type BookArchive, bookArchive } from "./Archive/BookArchive.ts"
import type { ArchiveHeader } from "./Backup/ArchiveHeader.ts"
import { backupError } from "./Backup/BackupError.ts"
import { tablesOf } from "./Backup/Catalog.ts"
import { readBack } from "./Backup/ReadBack.ts"
import { rowDigest } from "./Backup/RowDigests.ts"
import { type Backup, backupWith } from "./Backup.ts"
import { chooseBooks } from "./Book/ChosenBooks.ts"
import type { Book } from "./Book.ts"
import { osUser } from "./Close/Person.ts"
import { errorOf } from "./Common/ErrorKind.ts"
import { makeFolder } from "./Common/Files/Folders.ts"
import { bool, text } from "./Database/Columns.ts"
import { DatabaseError } from "./Database/DatabaseError.ts"
import { LockBusy } from "./Database/SessionLock.ts"
import { Database } from "./Database.ts"
import { backfillLock } from "./Run.ts"
import { holding } from "./Sync/Runs/ConnectionLock.ts"
import { SyncBusy } from "./Sync/Runs/RunReport.ts"

export interface ArchiveRequest {
  readonly year: number
  readonly connection: Option.Option<string>
  /** None: all of the connection, or of all. */
  readonly book: Option.Option<string>
  /** The dump. */
  readonly file: string
  readonly dryRun: boolean
  /** Archives also books that were never valued in the base currency. */
  readonly neverValued: boolean
  readonly who: string
}

export interface Archived {
  readonly year: number
  readonly dryRun: boolean
  /** Null: none was made. */
  readonly dump: Backup | null
  readonly books: ReadonlyArray<BookArchive>
}

const mustOwn = Effect.fn("Archive.mustOwn")(function* () {
  const database = yield* Database
  const { may } = yield* database.row(
    "Archive.mustOwn",
    { may: bool },
    (sql) => sql`
      select has_function_privilege('ledger.archive_year(integer, integer, text, text, text, timestamptz, text, text)', 'execute')
        as may`,
  )
  if (!may)
    return yield* archiveError(
      "Owner",
      "This role may not archive here: name the owner of the tables by DATABASE_URL, as for tieout migrate. Nothing was changed.",
    )
})

/** The tables that rows leave, as `ledger.archive_plan` names them. */
const leftTables: ReadonlySet<string> = new Set([
  "ledger.journal_entries",
  "ledger.journal_numbers",
  "ledger.postings",
  "mirror.resource_versions",
  "mirror.resources",
  "valuation.entries",
  "valuation.postings",
])

/** In the dump's snapshot. */
const headerOf = Effect.fn("Archive.header")(function* (
  { neverValued, year }: ArchiveRequest,
  books: ReadonlyArray<Book>,
) {
  const database = yield* Database
  const leaving: Array<ArchiveHeader["books"][number]> = []
  for (const book of books) {
    const now = yield* bookArchive(book, year, neverValued)
    if (now.state !== "archivable")
      return yield* archiveError(
        "Moved",
        `${book.code} can no longer be archived (${[now.state, ...now.refusals].join("; ")}). Nothing was removed.`,
      )
    const { rows } = yield* database.row(
      "Archive.digest",
      { rows: text },
      (sql) => sql`select ledger.archive_digest(${book.bookId}, ${year}) as rows`,
    )
    leaving.push({ book: book.code, rows })
  }
  const shapes = (yield* tablesOf()).filter(({ name }) => leftTables.has(name))
  const tables = yield* Effect.forEach(shapes, rowDigest)
  return { year, books: leaving, tables } satisfies ArchiveHeader
})

/** Reads the file to its end: it must be what was written, and hold the rows of the snapshot to the letter. */
const proved = Effect.fn("Archive.prove")(function* (dump: Backup) {
  const { content, digests, header } = yield* readBack(
    dump.file,
    ({ archive }) => archive?.tables.map(({ table }) => table) ?? [],
  )
  const stated = header.archive
  if (stated === undefined || content.sha256 !== dump.sha256 || content.rows !== dump.rows)
    return yield* archiveError("Dump", `${dump.file} is not what was written. Nothing was removed.`)
  const wrong = stated.tables.filter(
    ({ digest, rows, table }) =>
      !digests.some((found) => found.table === table && found.rows === rows && found.digest === digest),
  )
  if (wrong.length > 0)
    return yield* archiveError(
      "Dump",
      `${dump.file} lacks rows of ${wrong.map(({ table }) => table).join(", ")}, or has others. Nothing was removed.`,
    )
  return stated
})

/**
 * Runs an effect while nothing else of the book's connection runs. Excludes exports and backfills, too: an export that began before
 * would commit a batch whose entries have left meanwhile, and a backfill keeps in memory what is archived.
 */
const alone = <A, E, R>(
  database: Database,
  { bookId, connection }: Book,
  undone: string,
  effect: Effect.Effect<A, E, R>,
) => {
  const locked = database.withSessionLock(
    backfillLock(connection),
    database.withSessionLock(`export ${bookId}`, effect),
  )
  return holding(database, connection, locked).pipe(
    Effect.catchIf(
      (error) => error instanceof LockBusy,
      ({ lock }) => {
        const what = lock.startsWith("export") ? "export" : lock.startsWith("backfill") ? "backfill" : "sync"
        return new SyncBusy({ connection, what, undone })
      },
    ),
  )
}

const removed = Effect.fn("Archive.remove")(function* (
  { who, year }: ArchiveRequest,
  book: Book,
  dump: Backup,
  rows: string,
) {
  const database = yield* Database
  const user = yield* osUser
  const removal = database.transaction(
    database.execute(
      "Archive.remove",
      (sql) => sql`
        select ledger.archive_year(${book.bookId}, ${year}, ${rows}, ${basename(dump.file)}, ${dump.sha256},
          ${dump.createdAt}::text::timestamptz, ${who}, ${user})`,
    ),
    { isolation: "repeatable read" },
  )
  const undone = `nothing of ${book.code} was removed; ${dump.file} stays, with what was archived before`
  yield* alone(database, book, undone, removal).pipe(
    Effect.catchIf(
      (error) => error instanceof DatabaseError && error.sqlstate === "TO014",
      ({ message }) => archiveError("Moved", `${message} Nothing of ${book.code} was removed; run it again.`),
    ),
  )
})

/**
 * Leaves out, and names, each book that something keeps from being archived. Archives each other book in a transaction of its
 * own: after an error or an interruption the books before it are complete, and running the command again does the rest.
 */
export const archive = Effect.fn("Archive.archive")(function* (request: ArchiveRequest) {
  const { dryRun, file, neverValued, year } = request
  const database = yield* Database
  yield* mustOwn()
  const books = yield* chooseBooks(request.connection, request.book)
  const found = new Map<string, BookArchive>()
  for (const book of books) {
    const looking = database.transaction(bookArchive(book, year, neverValued), {
      isolation: "repeatable read",
    })
    found.set(book.code, yield* looking)
  }
  const leaving = books.filter(({ code }) => found.get(code)?.state === "archivable")
  const result = { year, dryRun, dump: null }
  const listed = () => books.flatMap(({ code }) => found.get(code) ?? [])
  if (dryRun || leaving.length === 0) return { ...result, books: listed() } satisfies Archived
  // Asked before the dump, which may take an hour, and again when the rows leave.
  for (const book of leaving) {
    yield* alone(database, book, "nothing was archived, and no dump was written", Effect.void)
  }
  yield* Effect.tryPromise({
    try: () => makeFolder(dirname(file)),
    catch: (cause) =>
      backupError("File", `${dirname(file)} cannot be made: ${String(cause)}. Nothing was removed.`),
  })
  if (existsSync(file)) {
    return yield* backupError(
      "Usage",
      `${file} is there already: keep it, since nothing else may have the entries that it holds, and name another file by --out. Nothing was removed.`,
    )
  }
  const dump = yield* backupWith(file, headerOf(request, leaving), false)
  const removing = Effect.gen(function* () {
    const stated = yield* proved(dump)
    for (const book of leaving) {
      const rows = stated.books.find((one) => one.book === book.code)?.rows
      const before = found.get(book.code)
      if (rows === undefined || before === undefined) continue
      yield* removed(request, book, dump, rows)
      found.set(book.code, { ...before, state: "archived" })
    }
  })
  // An error of this command's own says so itself.
  yield* Effect.onError(removing, (cause) =>
    Cause.isInterruptedOnly(cause) || errorOf(cause) instanceof DatabaseError
      ? Effect.logWarning(
          `${file} stays, and is to be kept: it alone has what was archived until now. Run the command again for the other books, with another --out or with none.`,
        )
      : Effect.void,
  )
  return { ...result, dump, books: listed() } satisfies Archived
})
