/** The valued months of the base-currency journal, and where a selection of it ends. */
import { Effect } from "effect"
import { arrayOf, bool, int2, int4, nullable, oneOf, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import type { Journal } from "../../Valuation/BaseJournal.ts"
import { journalTable } from "../../Valuation/BaseJournal.ts"
import { exportError } from "../ExportError.ts"
import type { Selection } from "../Request/ExportScope.ts"

/** A selection with a beginning and an end. */
export interface BoundedSelection extends Selection {
  readonly from: string
  readonly to: string
}

/**
 * A scope without an end ends with the last month that has entries, or that was valued: a batch may have its revaluations, and
 * one with everything takes that batch's place. As of a time it ends with the last month that has entries.
 */
export const bounded = Effect.fn("Export.bounded")(function* (bookId: number, selection: Selection) {
  const from = selection.from ?? "1970-01-01"
  if (selection.to !== null) return { ...selection, from, to: selection.to } satisfies BoundedSelection
  const database = yield* Database
  const { last } = yield* database.row(
    "Export.bounded",
    { last: text },
    (sql) => sql`
      select (coalesce(greatest(
          (select max(period) from ledger.periods where book_id = ${bookId} and last_number > 0),
          (select max(period) from valuation.months
            where book_id = ${bookId} and state is not null and ${selection.asOf === null})
        ), '1970-01-01') + interval '1 month' - interval '1 day')::date::text as last`,
  )
  return { ...selection, from, to: last } satisfies BoundedSelection
})

const monthColumns = {
  period: text,
  currency: text,
  method: oneOf("average", "fifo"),
  rates: oneOf("file", "conversions"),
  maxRateAgeDays: int2,
  monetaryRoles: arrayOf(text),
  ratesVersion: nullable(int4),
  fingerprint: text,
  over: bool,
  valuedAt: text,
}

const readMonths = Effect.fn("Export.valuedMonths")(function* (
  bookId: number,
  { from, to }: BoundedSelection,
  journal: Journal,
) {
  const database = yield* Database
  return yield* database.rows(
    "Export.valuedMonths",
    monthColumns,
    (sql) => sql`
      select to_char(m.period, 'YYYY-MM') as period, m.base_currency as currency, m.method, m.rates,
        m.max_rate_age_days as "maxRateAgeDays",
        array_remove(string_to_array(m.monetary_roles, ' '), '') as "monetaryRoles", m.rates_version as "ratesVersion", m.fingerprint, m.over,
        to_char(m.valued_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "valuedAt"
      from ${journalTable(sql, journal, "months")} m
      where m.book_id = ${bookId} and m.state is not null
        and m.period between date_trunc('month', ${from}::text::date::timestamp)::date and ${to}::text::date
      order by m.period`,
  )
})

/** The valued months of a selection and their one currency, `otherwise` where there are none. */
export const valuedMonths = Effect.fn("Export.baseMonths")(function* (
  book: { readonly bookId: number; readonly code: string },
  selection: BoundedSelection,
  journal: Journal,
  otherwise: string | undefined,
) {
  const months = yield* readMonths(book.bookId, selection, journal)
  const currency = months.at(-1)?.currency ?? otherwise
  if (currency === undefined) {
    return yield* exportError("Usage", `The book ${book.code} has no entries yet: there is nothing to value.`)
  }
  if (months.some((month) => month.currency !== currency)) {
    return yield* exportError(
      "Refused",
      `The months of book ${book.code} are valued in more than one base currency: export those of one.`,
    )
  }
  return { currency, months: months.map(({ currency: _, ...month }) => month) }
})

/** The fingerprints of the months that a batch of the selection would be written from now. */
export const fingerprintsOf = Effect.fn("Export.fingerprints")(function* (
  bookId: number,
  selection: Selection,
) {
  const months = yield* readMonths(bookId, yield* bounded(bookId, selection), "kept")
  return months.map(({ fingerprint, period }) => `${period} ${fingerprint}`)
})
