/** What is to be written of an accounting system's format over given dates: all of it, what its batches do not hold, or nothing. */
import { Effect } from "effect"
import { byBook, isIn } from "../../Book/ByBook.ts"
import { arrayOf, bool, int4 } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { nativeBasis } from "../../Format/Entry.ts"
import type { FormatName } from "../../Format/Formats.ts"
import type { Covered } from "../Batch/Manifest/Lineage.ts"
import { exportError } from "../ExportError.ts"
import type { Selection } from "./ExportScope.ts"
import type { Had, Plan } from "./Plan.ts"
import { box, everyStep, intersect, union } from "./Region.ts"
import { selected } from "./Selected.ts"
import { coveredBy, type StandingBatch } from "./StandingBatches.ts"

type Part = Covered & { readonly book_id: number; readonly batch: number }

/**
 * By book, which of the rectangles have entries of the selection, by their batch, and whether an entry is in none of them. One pass
 * over the selection; what it keeps are days and steps, not entries.
 */
const overlaps = Effect.fn("Export.overlaps")(function* (
  bookIds: ReadonlyArray<number>,
  selection: Selection,
  parts: ReadonlyArray<Part>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.overlaps",
    { bookId: int4, batches: arrayOf(int4), news: bool },
    (sql) => sql`
      with points as materialized (
        select distinct e.book_id, e.effective_date as day, e.numbering as step from ledger.journal e
        where ${selected(sql, isIn(sql, bookIds), selection)}),
      parts as materialized (
        select * from json_to_recordset(${JSON.stringify(parts)}::text::json)
          as c (book_id integer, batch integer, "from" date, "to" date, after bigint, through bigint)),
      found as materialized (
        select p.book_id, p.day, p.step, array_agg(c.batch) as batches
        from points p
        left join parts c on c.book_id = p.book_id and p.day between c."from" and c."to"
          and p.step > coalesce(c.after, 0) and p.step <= c.through
        group by p.book_id, p.day, p.step)
      select f.book_id as "bookId", bool_or(f.batches = array[null]::integer[]) as news,
        coalesce((
          select array_agg(distinct x.batch order by x.batch) from found g cross join unnest(g.batches) as x (batch)
          where g.book_id = f.book_id and x.batch is not null), '{}') as batches
      from found f group by f.book_id`,
  )
  return byBook(rows)
})

/** What the batches of an accounting system's format already hold of the dates. */
export interface OwnBatches {
  readonly bookId: number
  readonly own: ReadonlyArray<StandingBatch>
}

const wholeOf = (selection: Selection, format: FormatName): Plan => ({
  ...{ selection, formats: [format], delta: false, follows: [], supersedes: [] },
})

/** In the base currency: the journal changes as a whole. */
const basePlan = Effect.fn("Export.basePlan")(function* (
  basis: string,
  selection: Selection,
  format: FormatName,
  { own }: OwnBatches,
  again: boolean,
) {
  const meeting = own.map(({ batch }) => batch)
  if (again) return { ...wholeOf(selection, format), supersedes: meeting }
  return yield* exportError(
    "Usage",
    `Batch ${own.map(({ batch, code }) => `${code}/${batch}`).join(", ")} has days of ${selection.text} for ${format} in ${basis} already. That journal changes as a whole: --again writes it again, to be imported in its place. Nothing was written.`,
  )
})

/** An accounting system's format over given dates, by book. */
export const tablePlans = Effect.fn("Export.tablePlans")(function* (
  standing: ReadonlyArray<OwnBatches>,
  basis: string,
  selection: Selection,
  format: FormatName,
  again: boolean,
) {
  const wanted = box(selection.from, selection.to, 0n, everyStep)
  const books = standing.map(({ bookId, own }) => ({
    bookId,
    own: own
      .filter(({ formats }) => formats.includes(format))
      .map((batch) => ({ ...batch, region: intersect(batch.region, wanted) }))
      .filter(({ region }) => region.length > 0),
  }))
  const met = books.filter(({ own }) => own.length > 0)
  const made = new Map<number, Plan | Had>(books.map(({ bookId }) => [bookId, wholeOf(selection, format)]))
  if (basis !== nativeBasis) {
    for (const book of met) {
      made.set(book.bookId, yield* basePlan(basis, selection, format, book, again))
    }
    return made
  }
  if (met.length === 0) return made
  const parts = met.flatMap(({ bookId, own }) =>
    own.flatMap(({ batch, region }) =>
      coveredBy(region, 0n).map((part): Part => ({ ...part, book_id: bookId, batch })),
    ),
  )
  const overlap = yield* overlaps(
    met.map(({ bookId }) => bookId),
    selection,
    parts,
  )
  for (const { bookId, own } of met) {
    const [found] = overlap.of({ bookId })
    if (found === undefined || found.batches.length === 0) continue
    const { batches, news } = found
    const whole = wholeOf(selection, format)
    if (again) made.set(bookId, { ...whole, supersedes: batches })
    else if (!news) made.set(bookId, { formats: [format], batches })
    else {
      const had = union(own.filter(({ batch }) => batches.includes(batch)).map(({ region }) => region))
      const rest = { ...selection, covered: coveredBy(had, 0n) }
      made.set(bookId, { ...whole, selection: rest, delta: true, follows: batches })
    }
  }
  return made
})
