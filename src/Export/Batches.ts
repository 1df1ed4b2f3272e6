/** The committed batches of a book, and what `--since-last` means after them. */
import { Effect } from "effect"
import { Database } from "../Database.ts"
import type { FormatName } from "./Formats.ts"
import { type Manifest, print } from "./Manifest.ts"
import { type Covered, type Selection, sinceSelection } from "./Scope.ts"

/** The number of the book's last committed batch; 0 where there is none. */
export const lastBatch = Effect.fn("Export.lastBatch")(function* (bookId: number) {
  const database = yield* Database
  const rows = yield* database.query(
    "Export.lastBatch",
    (sql) => sql<Array<{ batch: number }>>`
      select coalesce(max(batch), 0)::integer as batch from export.batches where book_id = ${bookId}`,
  )
  return rows[0]?.batch ?? 0
})

interface BaseRow {
  readonly since: bigint
  readonly covered: ReadonlyArray<Covered>
}

/**
 * What is new to one format: entries numbered after its last batch without dates (`all`, `since-…`), except those that a
 * batch of dates has covered since. A batch of one month says nothing about the others, so it cannot be the start. Batches
 * in the base currency hold other entries, and do not count.
 */
const newTo = Effect.fn("Export.newTo")(function* (bookId: number, format: FormatName) {
  const database = yield* Database
  const rows = yield* database.query(
    "Export.newTo",
    (sql) => sql<Array<BaseRow>>`
      with base as materialized (
        select coalesce(max(through_numbering), 0) as since from export.batches
        where book_id = ${bookId} and from_date is null and manifest -> 'base' is null and formats @> array[${format}::text])
      select since, coalesce((
        select json_agg(json_build_object('from', b.from_date::text, 'to', b.to_date::text,
          'through', b.through_numbering::text) order by b.batch)
        from export.batches b
        where b.book_id = ${bookId} and b.from_date is not null and b.manifest -> 'base' is null
          and b.formats @> array[${format}::text]
          and b.through_numbering > base.since), '[]') as covered
      from base`,
  )
  return rows[0] ?? { since: 0n, covered: [] }
})

/** Formats that were last exported together go on together; others get a batch of their own. */
export const sinceLast = Effect.fn("Export.sinceLast")(function* (
  bookId: number,
  formats: ReadonlyArray<FormatName>,
) {
  const groups = new Map<string, { selection: Selection; formats: Array<FormatName> }>()
  for (const format of formats) {
    const { since, covered } = yield* newTo(bookId, format)
    const key = JSON.stringify([since.toString(), covered])
    const group = groups.get(key) ?? { selection: sinceSelection(since, covered), formats: [] }
    group.formats.push(format)
    groups.set(key, group)
  }
  return [...groups.values()]
})

/** Makes a batch part of the books: from here on it is immutable. */
export const commitBatch = Effect.fn("Export.commitBatch")(function* (
  bookId: number,
  folder: string,
  manifest: Manifest,
) {
  const database = yield* Database
  const { batch, formats, scope, throughNumbering } = manifest
  const list = `{${formats.map((format) => `"${format}"`).join(",")}}`
  yield* database.query(
    "Export.commitBatch",
    (sql) => sql`
      insert into export.batches
        (book_id, batch, scope, from_date, to_date, formats, folder, through_numbering, manifest)
      values (${bookId}, ${batch}, ${scope.text}, ${scope.from}::text::date, ${scope.to}::text::date,
        ${list}::text::text[], ${folder}, ${throughNumbering}::text::bigint, ${print(manifest)}::text::json)`,
  )
})
