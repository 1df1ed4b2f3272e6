/** The batches that rely on a close: what an accounting system may have imported of a month that is being reopened. */
import { Effect } from "effect"
import { arrayOf, int4, oneOf, text } from "../../../Database/Columns.ts"
import { Database } from "../../../Database.ts"

const columns = {
  batch: int4,
  scope: text,
  formats: arrayOf(text),
  state: oneOf("committed", "acknowledged"),
}

/** Standing batches of a book whose manifest names the close, the first first. */
export const batchesOnClose = Effect.fn("Export.batchesOnClose")(function* (book: string, hash: string) {
  const database = yield* Database
  return yield* database.rows(
    "Export.batchesOnClose",
    columns,
    (sql) => sql`
      select s.batch, s.scope, s.formats, export.batch_state(s.book_id, s.batch) as state
      from export.standing_batches s
      join mirror.books b on b.book_id = s.book_id and b.code = ${book}
      where exists (
        select 1 from json_to_recordset(s.manifest #> '{lineage,closes}') as c (hash text) where c.hash = ${hash})
      order by s.batch`,
  )
})
