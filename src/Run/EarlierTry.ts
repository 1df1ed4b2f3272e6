/** What a process that is gone wrote of books for a run: whoever takes them next for the same run counts on from there. */
import { Effect } from "effect"
import { booksIn, byBook } from "../Book/ByBook.ts"
import type { Book } from "../Book.ts"
import { int4, nullable, uuid } from "../Database/Columns.ts"
import { Database } from "../Database.ts"

const columns = {
  bookId: int4,
  /** Null: the counts of the book as a whole. */
  accountId: nullable(uuid),
  entries: int4,
  journalEntries: int4,
  reclassifications: int4,
  changedResources: int4,
}

/** By book: what the run has written of it, and its new statement entries by account. */
export const earlierTries = Effect.fn("Sync.earlierTries")(function* (
  runId: number,
  books: ReadonlyArray<Book>,
) {
  const database = yield* Database
  const ids = books.map(({ bookId }) => bookId)
  const rows =
    ids.length === 0
      ? []
      : yield* database.rows(
          "Sync.earlierTries",
          columns,
          (sql) => sql`
            select k.book_id as "bookId", null::uuid as "accountId", 0 as entries,
              (select count(*) from ledger.journal_entries j
               where j.book_id = k.book_id and j.run_id = ${runId})::integer as "journalEntries",
              (select count(*) from ledger.journal_entries j
               where j.book_id = k.book_id and j.run_id = ${runId} and j.source_type <> 'resource_version'
                 and j.kind = 'reclassification')::integer as reclassifications,
              (select count(*) from mirror.resources r
               where r.book_id = k.book_id and r.run_id = ${runId})::integer as "changedResources"
            from ${booksIn(sql, ids)}
            union all
            select e.book_id, e.account_id, count(*)::integer, 0, 0, 0
            from ${booksIn(sql, ids)}
            join mirror.statement_entries e on e.book_id = k.book_id and e.run_id = ${runId} and not e.held
            -- One that was only enriched is not new.
            where not exists (
              select from mirror.statement_entry_versions v
              where v.book_id = e.book_id and v.entry_id = e.entry_id and v.run_id < ${runId})
            group by e.book_id, e.account_id`,
        )
  const found = byBook(rows)
  return (book: Book) => {
    const own = found.of(book)
    const sum = (name: "entries" | "journalEntries" | "reclassifications" | "changedResources") =>
      own.reduce((all, row) => all + row[name], 0)
    return {
      counters: {
        entries: sum("entries"),
        journalEntries: sum("journalEntries"),
        reclassifications: sum("reclassifications"),
        // How many more it read without a change is not known.
        resources: sum("changedResources"),
        changedResources: sum("changedResources"),
      },
      newEntries: new Map(
        own.flatMap(({ accountId, entries }) => (accountId === null ? [] : [[accountId, entries] as const])),
      ),
    }
  }
})
