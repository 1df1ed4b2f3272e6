/** What a manifest says of the batches before it and of the closes that it stands on. */
import { Effect } from "effect"
import type { Sql } from "../../Database/Client.ts"
import { int4, nullable, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Selection } from "./Scope.ts"

/** The hash of a batch's manifest, also of one that was committed before it was kept. */
export const manifestHash = (sql: Sql) =>
  sql`coalesce(b.manifest_sha256, encode(sha256(convert_to(b.manifest::text, 'UTF8')), 'hex'))`

/** The book's last batch, whatever became of it; null where there is none. */
export const previousBatch = Effect.fn("Export.previousBatch")(function* (bookId: number) {
  const database = yield* Database
  const [row] = yield* database.rows(
    "Export.previousBatch",
    { batch: int4, manifestSha256: text },
    (sql) => sql`
      select b.batch, ${manifestHash(sql)} as "manifestSha256"
      from export.batches b where b.book_id = ${bookId} order by b.batch desc limit 1`,
  )
  return row ?? null
})

/** The close of each month that the selection touches and that is closed, or was then; the earliest first. */
export const closesWithin = Effect.fn("Export.closesWithin")(function* (
  bookId: number,
  { asOf, from, to }: Selection,
) {
  const database = yield* Database
  const first = from === null ? "-infinity" : `${from.slice(0, 7)}-01`
  return yield* database.rows(
    "Export.closesWithin",
    { period: text, sequence: int4, hash: text, approvedBy: nullable(text) },
    (sql) => sql`
      select to_char(c.period, 'YYYY-MM') as period, c.sequence, c.hash, a.name as "approvedBy"
      from ledger.standing_closes(${bookId}, coalesce(${asOf}::text::timestamptz, 'infinity')) c
      left join ledger.close_approvals a on a.book_id = c.book_id and a.sequence = c.sequence
        and a.at <= coalesce(${asOf}::text::timestamptz, 'infinity')
      where c.period between ${first}::text::date and ${to ?? "infinity"}::text::date
      order by c.period`,
  )
})
