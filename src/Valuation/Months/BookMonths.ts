/** The facts about a book's months that a valuation needs, as of now or of an earlier time. */
import { Effect } from "effect"
import { archivedThrough } from "../../Book/Archived.ts"
import type { Sql } from "../../Database/Client.ts"
import { int4, nullable, type RowOf, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { recordedBy } from "../../Ledger/AsOf.ts"

const closedWithColumns = {
  period: text,
  /** The newest import of rates at the close. */
  ratesVersion: int4,
  /** The settings' method at the close; null where the book had not been valued. */
  method: nullable(text),
}

type ClosedWith = RowOf<typeof closedWithColumns>

export interface BookMonths {
  /** From `resolveAsOf`; null: now. */
  readonly asOf: string | null
  /** `YYYY-MM`; null: nothing is numbered. */
  readonly first: string | null
  readonly last: string | null
  /** The current month in the book's time zone. */
  readonly current: string
  readonly closedThrough: string | null
  /** The last closed month that was not reopened since. */
  readonly keptThrough: string | null
  /** The last archived month, whose entries are no longer in the database. */
  readonly archivedThrough: string | null
  /** The closes of months, the earliest month first, each with what it recorded for the base-currency journal. */
  readonly closes: ReadonlyArray<ClosedWith>
  /** The newest import of rates; null before the first. */
  readonly ratesVersion: number | null
  /** The last journal number of every month that has one. */
  readonly numbers: ReadonlyMap<string, number>
  /** Months in which entries with smaller numbers were recorded after `asOf`. */
  readonly partial: ReadonlySet<string>
}

const numbersColumns = {
  period: text,
  last: int4,
  count: int4,
}

/** Numbers are gapless from 1, in whatever order their entries were recorded. */
const numbersOf = (sql: Sql, bookId: number, asOf: string | null, archived: string | null) =>
  asOf === null
    ? sql`
        select to_char(period, 'YYYY-MM') as period, last_number as last, last_number as count from ledger.periods
        where book_id = ${bookId} and last_number > 0 order by ledger.periods.period`
    : sql`
        select to_char(e.period, 'YYYY-MM') as period, max(e.number) as last, count(*)::integer as count
        from ledger.journal e where e.book_id = ${bookId} ${recordedBy(sql, asOf)}
          and e.period > ${archived === null ? "-infinity" : `${archived}-01`}::text::date
        group by e.period
        union all
        -- All of what is archived was recorded by then: refuseBefore.
        select to_char(p.period, 'YYYY-MM'), p.last_number, p.last_number from ledger.periods p
        where p.book_id = ${bookId} and p.last_number > 0
          and p.period <= ${archived === null ? "-infinity" : `${archived}-01`}::text::date
        order by 1`

const closedColumns = {
  closed: nullable(text),
  kept: nullable(text),
}

/** All months before a closed month are closed, too. */
const closedOf = (sql: Sql, bookId: number, asOf: string | null) =>
  asOf === null
    ? sql`
        select to_char(closed_through, 'YYYY-MM') as closed, to_char(closed_through, 'YYYY-MM') as kept
        from ledger.locks where book_id = ${bookId}`
    : sql`
        select to_char(max(c.period), 'YYYY-MM') as closed, to_char(max(c.period) filter (where not exists (
            select 1 from ledger.closes r
            where r.book_id = ${bookId} and r.period = c.period and r.at > ${asOf}::text::timestamptz)), 'YYYY-MM') as kept
        from ledger.standing_closes(${bookId}, ${asOf}::text::timestamptz) c`

const upTo = (sql: Sql, column: "at" | "imported_at", asOf: string | null) =>
  asOf === null ? sql`true` : sql`${sql(column)} <= ${asOf}::text::timestamptz`

export const bookMonths = Effect.fn("Valuation.bookMonths")(function* (bookId: number, asOf: string | null) {
  const database = yield* Database
  const [now] = yield* database.rows(
    "Valuation.bookMonths",
    { current: text, version: nullable(int4) },
    (sql) => sql`
      select to_char(coalesce(${asOf}::text::timestamptz, now()) at time zone coalesce(l.time_zone, 'UTC'), 'YYYY-MM') as current,
        (select max(version) from valuation.rate_imports where ${upTo(sql, "imported_at", asOf)}) as version
      from ledger.locks l where l.book_id = ${bookId}`,
  )
  if (now === undefined) return yield* Effect.dieMessage(`book ${bookId} has no ledger`)
  const archived = yield* archivedThrough(bookId)
  const [locked] = yield* database.rows("Valuation.bookMonths.closed", closedColumns, (sql) =>
    closedOf(sql, bookId, asOf),
  )
  const rows = yield* database.rows("Valuation.bookMonths.numbers", numbersColumns, (sql) =>
    numbersOf(sql, bookId, asOf, archived),
  )
  const closes = yield* database.rows(
    "Valuation.bookMonths.closes",
    closedWithColumns,
    (sql) => sql`
      select distinct on (c.period) to_char(c.period, 'YYYY-MM') as period, coalesce((
        select max(i.version) from valuation.rate_imports i where i.imported_at <= c.at), 0) as "ratesVersion",
        c.valuation_method as method
      from ledger.closes c where c.book_id = ${bookId} and c.action = 'close' and ${upTo(sql, "at", asOf)}
      order by c.period, c.sequence desc`,
  )
  return {
    asOf,
    first: rows[0]?.period ?? null,
    last: rows.at(-1)?.period ?? null,
    current: now.current,
    closedThrough: locked?.closed ?? null,
    keptThrough: locked?.kept ?? null,
    archivedThrough: archived,
    closes: [...closes],
    ratesVersion: now.version,
    numbers: new Map(rows.map(({ last, period }) => [period, last])),
    partial: new Set(rows.flatMap(({ count, last, period }) => (count === last ? [] : [period]))),
  } satisfies BookMonths
})
