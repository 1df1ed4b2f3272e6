/** The batches of a book that count: committed or acknowledged, not superseded, and not as-of exports. */
import { Effect, Schema } from "effect"
import { byBook, isIn } from "../../Book/ByBook.ts"
import {
  arrayOf,
  bool,
  int4,
  int8,
  jsonOf,
  nullable,
  oneOf,
  type RowOf,
  text,
} from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { nativeBasis } from "../../Format/Entry.ts"
import { Covered } from "../Batch/Manifest/Lineage.ts"
import { box, everyStep, type Region, subtract, union } from "./Region.ts"

const batchColumns = {
  bookId: int4,
  code: text,
  batch: int4,
  scope: text,
  basis: text,
  from: nullable(text),
  to: nullable(text),
  formats: arrayOf(text),
  since: int8,
  through: int8,
  covered: jsonOf(Schema.Array(Covered)),
  rated: bool,
}
type BatchRow = RowOf<typeof batchColumns>

export interface StandingBatch {
  /** The book's code. */
  readonly code: string
  readonly batch: number
  /** `2026-10`, `2026-10-01_2026-10-15`, `all`, `since-4` */
  readonly scope: string
  /** `native`, or the base currency. */
  readonly basis: string
  readonly formats: ReadonlyArray<string>
  /** Written with rates (`--with-rates`), in the currencies that moved. */
  readonly rated: boolean
  /** The entries that it has. */
  readonly region: Region
}

/** Rectangles of a region as a manifest keeps them. `from`: the step below which nothing is listed. */
export const coveredBy = (region: Region, from: bigint): ReadonlyArray<Covered> =>
  region.flatMap(({ spans, ...days }) =>
    spans.map(({ after, through }) => ({
      ...days,
      ...(after > from ? { after: after.toString() } : {}),
      through: through.toString(),
    })),
  )

/** How a batch of the base-currency journal is written again: in the other way its entries would change their currency. */
export const flagOf = ({ rated }: { readonly rated: boolean }): string => (rated ? "--with-rates" : "--base")

/** In the base currency the days decide, since entries that only that journal has are not numbered in steps. */
const regionOf = ({ basis, covered, from, since, through, to }: BatchRow): Region =>
  basis === nativeBasis
    ? subtract(
        box(from, to, since, through),
        union(covered.map((part) => box(part.from, part.to, BigInt(part.after ?? 0), BigInt(part.through)))),
      )
    : box(from, to, 0n, everyStep)

/** The entries of each of a format's batches. */
export const regionsOf = (format: string, standing: ReadonlyArray<StandingBatch>): ReadonlyArray<Region> =>
  standing.filter(({ formats }) => formats.includes(format)).map(({ region }) => region)

/** By book, one row per batch, without its manifest; the first first. `basis`: null for all of them. */
export const standingOfBooks = Effect.fn("Export.standingOfBooks")(function* (
  bookIds: ReadonlyArray<number>,
  basis: string | null,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.standingBatches",
    batchColumns,
    (sql) => sql`
      select b.book_id as "bookId", k.code, b.batch, b.scope, b.currency_basis as basis, b.from_date::text as from, b.formats,
        b.last_day::text as to, b.since_numbering as since, b.through_numbering as through, b.covered,
        case when b.currency_basis <> ${nativeBasis} then coalesce(b.manifest #>> '{tables,rated}', '') = 'true' else false end as rated
      from export.standing_batches b join mirror.books k on k.book_id = b.book_id
      where b.book_id ${isIn(sql, bookIds)} and b.currency_basis = coalesce(${basis}::text, b.currency_basis)
      order by b.batch`,
  )
  return byBook(
    rows.map((row): StandingBatch & { readonly bookId: number } => ({
      bookId: row.bookId,
      code: row.code,
      batch: row.batch,
      scope: row.scope,
      basis: row.basis,
      formats: row.formats,
      rated: row.rated,
      region: regionOf(row),
    })),
  )
})

/** Of one book. */
export const standingBatches = (bookId: number, basis: string) =>
  Effect.map(standingOfBooks([bookId], basis), (standing) => standing.of({ bookId }))

const columnsOnClose = {
  batch: int4,
  scope: text,
  formats: arrayOf(text),
  state: oneOf("committed", "acknowledged"),
}

/**
 * The standing batches of a book whose manifest names the close, in order: an accounting system may have imported them, so they
 * matter when the month is reopened.
 */
export const batchesOnClose = Effect.fn("Export.batchesOnClose")(function* (book: string, hash: string) {
  const database = yield* Database
  return yield* database.rows(
    "Export.batchesOnClose",
    columnsOnClose,
    (sql) => sql`
      select s.batch, s.scope, s.formats, export.batch_state(s.book_id, s.batch) as state
      from export.standing_batches s
      join mirror.books b on b.book_id = s.book_id and b.code = ${book}
      where exists (
        select 1 from json_to_recordset(s.manifest #> '{lineage,closes}') as c (hash text) where c.hash = ${hash})
      order by s.batch`,
  )
})
