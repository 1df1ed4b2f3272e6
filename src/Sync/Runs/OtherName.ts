import { Effect } from "effect"
import { text } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"

/**
 * Warns at the first read of a connection where the database has books of one that the settings no longer name: a connection
 * under another name is another one, whose accounts are read from their beginning and booked in books of their own.
 */
export const warnOfOtherName = Effect.fn("Sync.warnOfOtherName")(function* (
  connection: string,
  named: ReadonlyArray<string>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Sync.otherNames",
    { connection: text },
    (sql) => sql`
      select distinct b.connection from mirror.books b
      join mirror.accounts a on a.book_id = b.book_id
      where b.connection <> all (${textArray(sql, named)}) and not exists (
        select from mirror.books o join mirror.accounts k on k.book_id = o.book_id where o.connection = ${connection})
      order by 1`,
  )
  if (rows.length === 0) return
  const others = rows.map((row) => row.connection).join(", ")
  yield* Effect.logWarning(
    `Connection ${connection} was never read into this database, which has books of ${others}: the settings no longer name ${rows.length === 1 ? "that one" : "those"}. If ${connection} is another name for the same credentials, everything is booked a second time, in other books: stop this run (Ctrl-C), restore the last backup, and give the connection its former name back.`,
  )
})
