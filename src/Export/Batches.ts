/** What `--since-last` means after the batches of a book. */
import { Effect } from "effect"
import { Database } from "../Database.ts"
import type { FormatName } from "./Formats.ts"
import { type Covered, type Selection, sinceSelection } from "./Scope.ts"

interface BaseRow {
  readonly since: bigint
  readonly covered: ReadonlyArray<Covered>
}

/**
 * What is new to one format: entries numbered after its last batch without dates (`all`, `since-…`), except those that a
 * batch of dates has covered since. A batch of one month says nothing about the others, so it cannot be the start. Batches
 * in the base currency hold other entries, and do not count.
 */
const newTo = Effect.fn("Export.newTo")(function* (bookId: number, basis: string, format: FormatName) {
  const database = yield* Database
  const rows = yield* database.query(
    "Export.newTo",
    (sql) => sql<Array<BaseRow>>`
      with standing as materialized (
        select b.batch, b.from_date, b.to_date, b.through_numbering from export.batches b
        where b.book_id = ${bookId} and b.currency_basis = ${basis} and b.formats @> array[${format}::text]
          and b.as_of is null and export.batch_state(b.book_id, b.batch) in ('committed', 'acknowledged')),
      base as materialized (
        select coalesce(max(through_numbering), 0) as since from standing where from_date is null)
      select since, coalesce((
        select json_agg(json_build_object('from', b.from_date::text, 'to', b.to_date::text,
          'through', b.through_numbering::text) order by b.batch)
        from standing b
        where b.from_date is not null and b.through_numbering > base.since), '[]') as covered
      from base`,
  )
  return rows[0] ?? { since: 0n, covered: [] }
})

/** Formats that were last exported together go on together; others get a batch of their own. */
export const sinceLast = Effect.fn("Export.sinceLast")(function* (
  bookId: number,
  basis: string,
  formats: ReadonlyArray<FormatName>,
) {
  const groups = new Map<string, { selection: Selection; formats: Array<FormatName> }>()
  for (const format of formats) {
    const { since, covered } = yield* newTo(bookId, basis, format)
    const key = JSON.stringify([since.toString(), covered])
    const group = groups.get(key) ?? { selection: sinceSelection(since, covered), formats: [] }
    group.formats.push(format)
    groups.set(key, group)
  }
  return [...groups.values()]
})
