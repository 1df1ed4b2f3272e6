/** The part of a manifest about the batches before it and the closes that it relies on. */
import { Effect } from "effect"
import { booksIn, byBook } from "../../Book/ByBook.ts"
import type { Sql } from "../../Database/Client.ts"
import { int4, nullable, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Selection } from "./ExportScope.ts"

/** The hash of a batch's manifest, also of one that was committed before it was kept. */
export const manifestHash = (sql: Sql) =>
  sql`coalesce(b.manifest_sha256, encode(sha256(convert_to(b.manifest::text, 'UTF8')), 'hex'))`

/** By book, its last batch, in whatever state; none if there is none. */
export const previousBatches = Effect.fn("Export.previousBatches")(function* (
  bookIds: ReadonlyArray<number>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.previousBatches",
    { bookId: int4, batch: int4, manifestSha256: text },
    (sql) => sql`
      select k.book_id as "bookId", last.batch, last."manifestSha256"
      from ${booksIn(sql, bookIds)}
      cross join lateral (
        select b.batch, ${manifestHash(sql)} as "manifestSha256"
        from export.batches b where b.book_id = k.book_id order by b.batch desc limit 1) last`,
  )
  return new Map(rows.map(({ bookId, ...batch }) => [bookId, batch]))
})

/** By book, the close of each month that the selection touches and that is closed, or was then; the earliest first. */
export const closesWithin = Effect.fn("Export.closesWithin")(function* (
  bookIds: ReadonlyArray<number>,
  { asOf, from, to }: Selection,
) {
  const database = yield* Database
  const first = from === null ? "-infinity" : `${from.slice(0, 7)}-01`
  const rows = yield* database.rows(
    "Export.closesWithin",
    { bookId: int4, period: text, sequence: int4, hash: text, approvedBy: nullable(text) },
    (sql) => sql`
      select k.book_id as "bookId", to_char(c.period, 'YYYY-MM') as period, c.sequence, c.hash, a.name as "approvedBy"
      from ${booksIn(sql, bookIds)}
      cross join lateral ledger.standing_closes(k.book_id, coalesce(${asOf}::text::timestamptz, 'infinity')) c
      left join ledger.close_approvals a on a.book_id = k.book_id and a.sequence = c.sequence
        and a.at <= coalesce(${asOf}::text::timestamptz, 'infinity')
      where c.period between ${first}::text::date and ${to ?? "infinity"}::text::date
      order by c.period`,
  )
  return byBook(rows)
})
