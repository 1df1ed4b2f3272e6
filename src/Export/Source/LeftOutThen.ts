/** Currencies that earlier batches left out by the settings of then. */
import { Effect } from "effect"
import { isIn } from "../../Book/ByBook.ts"
import { arrayOf, int4, text } from "../../Database/Columns.ts"
import { plainArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { nativeBasis } from "../../Format/Entry.ts"
import { leftOut } from "../../Format/FormatSettings.ts"
import { type FormatName, tablesOf } from "../../Format/Formats.ts"

interface Earlier {
  readonly bookId: number
  readonly formats: ReadonlyArray<string>
  readonly batches: ReadonlyArray<number>
}

/** Batches without currencies that the settings no longer leave out. */
export interface Lacking {
  readonly book: string
  readonly formats: ReadonlyArray<string>
  readonly batches: ReadonlyArray<number>
  readonly currencies: ReadonlyArray<string>
}

/** What the batches lack, for a person. */
export const lackingText = ({ batches, book, currencies, formats }: Lacking): string =>
  `LEFT OUT: ${formats.join(",")} has nothing in ${currencies.join(", ")} of what ${batches.length === 1 ? "batch" : "batches"} ${batches.map((batch) => `${book}/${batch}`).join(", ")} ${batches.length === 1 ? "holds" : "hold"}, since formats.leaveOut named it then. --again with their days, or --all, writes everything, to be imported in the batch's place.`

/**
 * The batches of these whose files lack currencies that moved in what they were to hold, and that the settings (`leaveOut`) no longer
 * leave out. Nothing else exports those entries, since an accounting system gets each entry once.
 */
const leftOutThen = Effect.fn("Export.leftOutThen")(function* (
  { batches, bookId, formats }: Earlier,
  leaveOut: ReadonlyArray<string>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.leftOutThen",
    { batch: int4, currency: text },
    (sql) => sql`
      select b.batch, l.currency
      from export.batches b
      cross join json_array_elements_text(coalesce(b.manifest #> '{tables,leftOut}', '[]')) as l (currency)
      where b.book_id ${isIn(sql, [bookId])} and b.batch = any (${plainArray(sql, batches.map(String), "int4")})
        and exists (
          select 1 from json_to_recordset(b.manifest -> 'currencies') as c (currency text)
          where c.currency = l.currency)
      order by b.batch`,
  )
  const then = [...new Set(rows.map(({ currency }) => currency))]
  const lacking = new Set(tablesOf(formats).flatMap((format) => leftOut(format, { leaveOut: then })))
  return rows.filter(({ currency }) => lacking.has(currency) && !leaveOut.includes(currency))
})

/** Of a book's batches that have all that was asked for, and of those that a new one continues. */
export const lackingOf = Effect.fn("Export.lackingOf")(function* (
  { bookId, code }: { readonly bookId: number; readonly code: string },
  earlier: ReadonlyArray<Omit<Earlier, "bookId">>,
  leaveOut: ReadonlyArray<string>,
) {
  const found: Array<Lacking> = []
  for (const { batches, formats } of earlier) {
    if (batches.length === 0) continue
    const lacks = yield* leftOutThen({ bookId, batches, formats }, leaveOut)
    if (lacks.length === 0) continue
    found.push({
      ...{ book: code, formats },
      batches: [...new Set(lacks.map(({ batch }) => batch))],
      currencies: [...new Set(lacks.map(({ currency }) => currency))].toSorted(),
    })
  }
  return found
})

/**
 * The batches of each format before `next`, where one was to leave out a currency that the settings no longer do: an export of what
 * is new continues all of them. Once such an export has written a batch, it has been said: only that batch and those after it are asked.
 */
const continuedBy = Effect.fn("Export.continuedBy")(function* (
  bookId: number,
  next: number | null,
  formats: ReadonlyArray<FormatName>,
  leaveOut: ReadonlyArray<string>,
) {
  const database = yield* Database
  return yield* database.rows("Export.continuedBy", { format: text, batches: arrayOf(int4) }, (sql) => {
    const before = sql`b.book_id = ${bookId} and b.currency_basis = ${nativeBasis} and f.format = any (b.formats)
        and b.batch < coalesce(${next}::integer, b.batch + 1)`
    return sql`
        select f.format, array(
          select b.batch from export.standing_batches b where ${before} order by b.batch) as batches
        from unnest(${plainArray(
          sql,
          tablesOf(formats).map(({ name }) => name),
        )}) as f (format)
        where exists (
          select 1 from export.standing_batches b
          cross join json_array_elements_text(coalesce(b.manifest #> '{tables,leftOut}', '[]')) as l (currency)
          where ${before} and l.currency <> all (${plainArray(sql, leaveOut)})
            and b.batch >= coalesce((
              select max(b.batch) from export.standing_batches b where ${before} and b.scope like 'since-%'), 0))`
  })
})

/** Of what an export since the last time continues. `next`: the first batch that it wrote of the book; null: none. */
export const lackingSince = Effect.fn("Export.lackingSince")(function* (
  book: { readonly bookId: number; readonly code: string },
  next: number | null,
  formats: ReadonlyArray<FormatName>,
  leaveOut: ReadonlyArray<string>,
) {
  const continued = yield* continuedBy(book.bookId, next, formats, leaveOut)
  return yield* lackingOf(
    book,
    continued.map(({ batches, format }) => ({ batches, formats: [format] })),
    leaveOut,
  )
})
