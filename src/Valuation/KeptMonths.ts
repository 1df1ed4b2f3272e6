/**
 * Stores the base-currency journal: a month is written as a whole, and replaced as a whole while it is open.
 */
import { and, eq, isNotNull } from "drizzle-orm"
import { Effect } from "effect"
import { print } from "../Common/MinorUnits.ts"
import { bool, int2, int4, nullable, type RowOf, text } from "../Database/Columns.ts"
import { asText } from "../Database/Tables/ColumnTypes.ts"
import { valuedMonths } from "../Database/Tables/Valuation.ts"
import { plainArray, textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { BaseEntry, BaseLine } from "./Base.ts"
import { type Journal, journalTable } from "./BaseJournal.ts"
import { baseScale } from "./Rates/Rate.ts"

const headColumns = {
  /** `YYYY-MM` */
  period: text,
  baseCurrency: text,
  method: text,
  rates: text,
  maxRateAgeDays: int2,
  /** The roles revalued at its end, in order, separated by spaces. */
  monetaryRoles: text,
  ratesVersion: nullable(int4),
  fingerprint: text,
  /** The fingerprint of the month before; empty for the first month. */
  previous: text,
  /** The last journal number that it covers. */
  throughNumber: int4,
  over: bool,
}

/** How a month was valued. */
export type MonthHead = RowOf<typeof headColumns>

const keptColumns = {
  ...headColumns,
  /** Whether this valuation existed as of that time. */
  byThen: bool,
}

export type KeptMonth = RowOf<typeof keptColumns>

/** All valued months, without their states. `asOf` is from `resolveAsOf`; null: now. */
export const monthHeads = Effect.fn("Valuation.monthHeads")(function* (bookId: number, asOf: string | null) {
  const database = yield* Database
  return yield* database.rows(
    "Valuation.monthHeads",
    keptColumns,
    (sql) => sql`
      select to_char(period, 'YYYY-MM') as period, base_currency as "baseCurrency", method, rates,
        max_rate_age_days as "maxRateAgeDays", monetary_roles as "monetaryRoles", rates_version as "ratesVersion",
        fingerprint, previous,
        through_number as "throughNumber", over,
        valued_at <= coalesce(${asOf}::text::timestamptz, 'infinity') as "byThen"
      from valuation.months where book_id = ${bookId} and state is not null order by period`,
  )
})

export const storedState = Effect.fn("Valuation.storedState")(function* (bookId: number, period: string) {
  const database = yield* Database
  const [row] = yield* database.orm("Valuation.storedState", (orm) =>
    orm
      .select({ state: asText(valuedMonths.state) })
      .from(valuedMonths)
      .where(
        and(
          eq(valuedMonths.bookId, bookId),
          eq(valuedMonths.period, `${period}-01`),
          isNotNull(valuedMonths.state),
        ),
      ),
  )
  return row?.state
})

/** Begins a month, replacing its former valuation. Part of the caller's transaction, like the functions below. */
export const beginMonth = Effect.fn("Valuation.beginMonth")(function* (
  bookId: number,
  head: MonthHead,
  journal: Journal,
) {
  const database = yield* Database
  const first = `${head.period}-01`
  yield* database.execute(
    "Valuation.beginMonth.replace",
    (sql) =>
      sql`delete from ${journalTable(sql, journal, "months")} where book_id = ${bookId} and period = ${first}::text::date`,
  )
  yield* database.execute(
    "Valuation.beginMonth",
    (sql) => sql`
      insert into ${journalTable(sql, journal, "months")} (book_id, period, base_currency, method, rates, max_rate_age_days,
        monetary_roles, rates_version, fingerprint, previous, through_number, over)
      values (${bookId}, ${first}::text::date, ${head.baseCurrency}, ${head.method}, ${head.rates},
        ${head.maxRateAgeDays}, ${head.monetaryRoles}, ${head.ratesVersion}, ${head.fingerprint},
        ${head.previous}, ${head.throughNumber}, ${head.over})`,
  )
})

export const endMonth = Effect.fn("Valuation.endMonth")(function* (
  bookId: number,
  period: string,
  state: string,
  journal: Journal,
) {
  const database = yield* Database
  yield* database.execute(
    "Valuation.endMonth",
    (sql) => sql`
      update ${journalTable(sql, journal, "months")} set state = ${state}::text::json
      where book_id = ${bookId} and period = ${`${period}-01`}::text::date`,
  )
})

const column = <A>(rows: ReadonlyArray<A>, valueOf: (row: A) => string | number | null) =>
  rows.map((row) => {
    const value = valueOf(row)
    return value === null ? null : String(value)
  })

interface PlacedLine {
  readonly entry: BaseEntry
  readonly line: BaseLine
  readonly place: number
}

/** Writes entries with all their lines in one statement. */
export const writeEntries = Effect.fn("Valuation.writeEntries")(function* (
  bookId: number,
  period: string,
  entries: ReadonlyArray<BaseEntry>,
  journal: Journal,
) {
  if (entries.length === 0) return
  const database = yield* Database
  const first = `${period}-01`
  const lines = entries.flatMap((entry) =>
    entry.lines.map((line, at): PlacedLine => ({ entry, line, place: at + 1 })),
  )
  const nativeOf = ({ line: { native } }: PlacedLine) =>
    native === null ? null : print(native.minor, native.account.scale)
  yield* database.execute(
    "Valuation.writeEntries",
    (sql) => sql`
      with header as (
        insert into ${journalTable(sql, journal, "entries")} (book_id, period, series, number, effective_date, line_count, entry_id, kind,
          description, resource_id, reverses)
        select ${bookId}, ${first}::text::date, h.series, h.number::integer, h.date::date, h.lines::smallint,
          h.entry_id::bigint, h.kind, h.description, h.resource_id, h.reverses::integer
        from unnest(${plainArray(
          sql,
          column(entries, ({ series }) => series),
        )},
          ${plainArray(
            sql,
            column(entries, ({ number }) => number),
          )},
          ${plainArray(
            sql,
            column(entries, ({ date }) => date),
          )},
          ${plainArray(
            sql,
            column(entries, (entry) => entry.lines.length),
          )},
          ${plainArray(
            sql,
            column(entries, ({ entryId }) => entryId),
          )},
          ${textArray(
            sql,
            column(entries, ({ kind }) => kind),
          )},
          ${textArray(
            sql,
            column(entries, ({ description }) => description),
          )},
          ${textArray(
            sql,
            column(entries, ({ resourceId }) => resourceId),
          )},
          ${plainArray(
            sql,
            column(entries, ({ reverses }) => reverses),
          )})
          as h (series, number, date, lines, entry_id, kind, description, resource_id, reverses))
      insert into ${journalTable(sql, journal, "postings")} (book_id, period, series, number, line_number, account_id, role, amount, native,
        native_currency, basis, rate, rate_date, rate_source)
      select ${bookId}, ${first}::text::date, l.series, l.number::integer, l.place::smallint, l.account_id::integer,
        l.role, l.amount::numeric, l.native::numeric, l.currency, l.basis, l.rate, l.rate_date::date, l.rate_source
      from unnest(${plainArray(
        sql,
        column(lines, ({ entry }) => entry.series),
      )},
        ${plainArray(
          sql,
          column(lines, ({ entry }) => entry.number),
        )},
        ${plainArray(
          sql,
          column(lines, ({ place }) => place),
        )},
        ${plainArray(
          sql,
          column(lines, ({ line }) => (typeof line.account === "number" ? line.account : null)),
        )},
        ${plainArray(
          sql,
          column(lines, ({ line }) => (typeof line.account === "number" ? null : line.account)),
        )},
        ${plainArray(
          sql,
          column(lines, ({ line }) => print(line.minor, baseScale)),
        )},
        ${plainArray(sql, column(lines, nativeOf))},
        ${plainArray(
          sql,
          column(lines, ({ line }) => line.native?.account.currency ?? null),
        )},
        ${plainArray(
          sql,
          column(lines, ({ line }) => line.basis),
        )},
        ${plainArray(
          sql,
          column(lines, ({ line }) => line.rate?.text ?? null),
        )},
        ${plainArray(
          sql,
          column(lines, ({ line }) => line.rate?.date ?? null),
        )},
        ${textArray(
          sql,
          column(lines, ({ line }) => line.rate?.source ?? null),
        )})
        as l (series, number, place, account_id, role, amount, native, currency, basis, rate, rate_date, rate_source)`,
  )
})
