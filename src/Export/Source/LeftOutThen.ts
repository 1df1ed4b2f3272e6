/** Currencies that earlier batches left out by the settings of then. */
import { Effect } from "effect"
import { isIn } from "../../Book/ByBook.ts"
import { text } from "../../Database/Columns.ts"
import { plainArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { leftOut } from "../../Format/FormatSettings.ts"
import { tablesOf } from "../../Format/Formats.ts"

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

/**
 * The currencies that moved in what these batches were to hold, that their files lack, and that the settings (`leaveOut`) no longer
 * leave out. Nothing else exports those entries, since an accounting system gets each entry once.
 */
const leftOutThen = Effect.fn("Export.leftOutThen")(function* (
  { batches, bookId, formats }: Earlier,
  leaveOut: ReadonlyArray<string>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.leftOutThen",
    { currency: text },
    (sql) => sql`
      select distinct l.currency
      from export.batches b
      cross join json_array_elements_text(coalesce(b.manifest #> '{tables,leftOut}', '[]')) as l (currency)
      where b.book_id ${isIn(sql, [bookId])} and b.batch = any (${plainArray(sql, batches.map(String), "int4")})
        and exists (
          select 1 from json_to_recordset(b.manifest -> 'currencies') as c (currency text)
          where c.currency = l.currency)`,
  )
  const then = rows.map(({ currency }) => currency)
  const lacking = tablesOf(formats).flatMap((format) => leftOut(format, { leaveOut: then }))
  return [...new Set(lacking)].filter((currency) => !leaveOut.includes(currency)).toSorted()
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
    const currencies = yield* leftOutThen({ bookId, batches, formats }, leaveOut)
    if (currencies.length > 0) found.push({ book: code, formats, batches, currencies })
  }
  return found
})
