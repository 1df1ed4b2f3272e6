/** The number of a summary: that of its first entry, with an S behind it. */
import { Effect } from "effect"
import { arrayOf, int4, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import type { Reference } from "../Inquiry/Reference.ts"
import type { Subject } from "../Inquiry/Subject.ts"
import type { Step } from "./Step.ts"

const columns = { batch: int4, scope: text, formats: arrayOf(text) }

/** Batches listed, the newest first. */
const shownBatches = 10

/** The month of the summary's first entry, `YYYY-MM`; undefined: it is no summary's number. */
const monthOf = (references: ReadonlyArray<Reference>): string | undefined =>
  references.flatMap((one) =>
    (one.kind === "number" || one.kind === "short") && one.summary ? [one.period] : [],
  )[0]

/** The steps before the first entry's own; none if it is not a summary's number. */
export const summary = Effect.fn("Explain.summary")(function* (
  id: string,
  references: ReadonlyArray<Reference>,
  { book, bookId }: Subject,
) {
  const month = monthOf(references)
  if (month === undefined) return []
  const database = yield* Database
  const rows = yield* database.rows(
    "Explain.summary",
    columns,
    (sql) => sql`
      select s.batch, s.scope, s.formats from export.standing_batches s
      where s.book_id = ${bookId} and s.manifest #>> '{tables,mode}' = 'summary'
        and coalesce(s.from_date, '-infinity') < (${`${month}-01`}::text::date + interval '1 month')
        and coalesce(s.last_day, 'infinity') >= ${`${month}-01`}::text::date
      order by s.batch desc limit ${shownBatches}`,
  )
  const step: Step = {
    title: `summary ${id.trim().toUpperCase()}: its first entry follows`,
    facts: [
      ...rows.map(
        ({ batch, formats, scope }) =>
          ["batch", `${book}/${batch}, ${formats.join(", ")} of ${scope}`] as const,
      ),
      ["its entries", "summary_entries_FORMAT.csv in the batch's folder lists all of them"],
    ],
  }
  return [step]
})
