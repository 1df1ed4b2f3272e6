/** Imported rates: append-only versions, of which the newest for a day and pair counts. */
import { desc } from "drizzle-orm"
import { Data, Effect } from "effect"
import type { Sql } from "../../Database/Client.ts"
import { bool, int4, nullable, type RowOf, text } from "../../Database/Columns.ts"
import { rates } from "../../Database/Tables/Valuation.ts"
import { columnsOf, plainArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import type { RateRow } from "./RateTable.ts"

const rateColumns = { date: text, from: text, to: text, rate: text, source: text }

const versionedColumns = { ...rateColumns, version: int4 }

const conflictColumns = { date: text, from: text, to: text, rate: text, reverse: text, version: int4 }

/** Rates that would stand beside one of the opposite direction, stored before, from which they are more than 1 % apart. */
export class ContradictedRates extends Data.TaggedError("ContradictedRates")<{
  readonly rates: ReadonlyArray<RowOf<typeof conflictColumns>>
}> {}

/**
 * A rate that is only turned round does not count where its pair has one of its own: a correction that is stated in the other
 * direction would change nothing. A file that states both directions has been checked by itself.
 */
const refuseContradicted = Effect.fn("Valuation.refuseContradicted")(function* (
  rows: ReadonlyArray<RateRow>,
) {
  const database = yield* Database
  const rates = yield* database.rows("Valuation.refuseContradicted", conflictColumns, (sql) => {
    const { plain } = columnsOf(sql, rows)
    return sql`
      with file as (
        select f.date::date as date, f.from_currency, f.to_currency, f.rate
        from unnest(${plain(({ date }) => date)}, ${plain(({ from }) => from)}, ${plain(({ to }) => to)},
          ${plain(({ rate }) => rate, "numeric")}) as f (date, from_currency, to_currency, rate))
      select f.date::text as date, f.from_currency as "from", f.to_currency as "to", f.rate::text as rate,
        r.rate::text as reverse, r.version
      from file f
      cross join lateral (
        select r.rate, r.version from valuation.rates r
        where r.date = f.date and r.from_currency = f.to_currency and r.to_currency = f.from_currency
        order by r.version desc limit 1) r
      where abs(f.rate * r.rate - 1) > 0.01 and not exists (
        select from file o
        where o.date = f.date and o.from_currency = f.to_currency and o.to_currency = f.from_currency)
      order by f.date, f.from_currency, f.to_currency`
  })
  if (rates.length > 0) return yield* new ContradictedRates({ rates })
})

const addVersion = Effect.fn("Valuation.addVersion")(function* (
  rows: ReadonlyArray<RateRow>,
  mayContradict: boolean,
) {
  const database = yield* Database
  yield* database.execute(
    "Valuation.addVersion.lock",
    (sql) => sql`lock table valuation.rate_imports in exclusive mode`,
  )
  if (!mayContradict) yield* refuseContradicted(rows)
  const { version } = yield* database.row(
    "Valuation.addVersion.next",
    { version: int4 },
    (sql) => sql`
      -- The clock after the wait for the lock: of two concurrent imports the later version gets the later time.
      insert into valuation.rate_imports (version, imported_at)
      select coalesce(max(version), 0) + 1, clock_timestamp() from valuation.rate_imports returning version`,
  )
  yield* database.execute("Valuation.addVersion", (sql) => {
    const { plain, text } = columnsOf(sql, rows)
    return sql`
      insert into valuation.rates (date, from_currency, to_currency, version, rate, source)
      select f.date, f.from_currency, f.to_currency, ${version}, f.rate, f.source
      from (
        select r.date::date as date, r.from_currency, r.to_currency, r.rate::numeric as rate, r.source
        from unnest(${plain(({ date }) => date)}, ${plain(({ from }) => from)}, ${plain(({ to }) => to)},
          ${plain(({ rate }) => rate)}, ${text(({ source }) => source)})
          as r (date, from_currency, to_currency, rate, source)) f
      left join lateral (
        select k.rate::text as rate, k.source from valuation.rates k
        where k.date = f.date and k.from_currency = f.from_currency and k.to_currency = f.to_currency
        order by k.version desc limit 1) k on true
      -- A history that is imported again states again what is stored: kept each time, it would grow with the square of its days.
      where (f.rate::text, f.source) is distinct from (k.rate, k.source)`
  })
  return version
})

/**
 * Adds a version, whole or not at all, with what differs from the rates in force; returns its number. `mayContradict`: of a bank,
 * which states one direction alone, so that a rate of one's own in the other direction goes before.
 */
export const addRates = Effect.fn("Valuation.addRates")(function* (
  rows: ReadonlyArray<RateRow>,
  mayContradict = false,
) {
  const database = yield* Database
  return yield* database.transaction(addVersion(rows, mayContradict))
})

/** How many rates a version has: those that differed from the rates in force before it. */
export const storedIn = Effect.fn("Valuation.storedIn")(function* (version: number) {
  const database = yield* Database
  const { stored } = yield* database.row(
    "Valuation.storedIn",
    { stored: int4 },
    (sql) => sql`select count(*)::integer as stored from valuation.rates where version = ${version}`,
  )
  return stored
})

/** Every rate in force, by pair and day. */
export const allRates = Effect.fn("Valuation.allRates")(function* () {
  const database = yield* Database
  const { date, fromCurrency: from, rate, source, toCurrency: to, version } = rates
  return yield* database.orm("Valuation.allRates", (orm) =>
    orm
      .selectDistinctOn([from, to, date], { date, from, to, rate, source })
      .from(rates)
      .orderBy(from, to, date, desc(version)),
  )
})

/** Days `YYYY-MM-DD`, both included. */
export interface Days {
  readonly from: string
  readonly to: string
}

const between = (sql: Sql, base: string, currencies: ReadonlyArray<string>, { from, to }: Days) => sql`
  r.date between ${from}::text::date and ${to}::text::date
  and valuation.may_value(r.from_currency, r.to_currency, ${base}::text, ${plainArray(sql, currencies)})`

/** Rates between the base currency and a book's currencies, or through the euro, up to an import (null: all imports). */
export const ratesBetween = Effect.fn("Valuation.ratesBetween")(function* (
  baseCurrency: string,
  currencies: ReadonlyArray<string>,
  days: Days,
  through: number | null,
) {
  const database = yield* Database
  return yield* database.rows(
    "Valuation.ratesBetween",
    rateColumns,
    (sql) => sql`
      select r.date::text as date, r.from_currency as "from", r.to_currency as "to", r.rate, r.source
      from valuation.rates_between(${baseCurrency}::text, ${plainArray(sql, currencies)}, ${days.from}::text::date,
        ${days.to}::text::date, ${through}::integer) r
      order by r.date, r.from_currency, r.to_currency`,
  )
})

/** Rates imported after one import and up to another (null: all), the earliest import first. */
export const laterRates = Effect.fn("Valuation.laterRates")(function* (
  baseCurrency: string,
  currencies: ReadonlyArray<string>,
  days: Days,
  after: number,
  through: number | null,
) {
  const database = yield* Database
  return yield* database.rows(
    "Valuation.laterRates",
    versionedColumns,
    (sql) => sql`
      select r.date::text as date, r.from_currency as "from", r.to_currency as "to", r.rate::text as rate, r.source,
        r.version
      from valuation.rates r
      where ${between(sql, baseCurrency, currencies, days)} and r.version > ${after}
        and (${through}::integer is null or r.version <= ${through})
      order by r.version, r.date, r.from_currency, r.to_currency`,
  )
})

/** The first day for which an import has another rate than those before it had; null: it only adds days, or states them again. */
export const firstCorrected = Effect.fn("Valuation.firstCorrected")(function* (version: number) {
  const database = yield* Database
  const { first } = yield* database.row(
    "Valuation.firstCorrected",
    { first: nullable(text) },
    (sql) => sql`
      select min(r.date)::text as first from valuation.rates r
      cross join lateral (
        select k.rate from valuation.rates k
        where k.date = r.date and k.from_currency = r.from_currency and k.to_currency = r.to_currency and k.version < r.version
        order by k.version desc limit 1) k
      where r.version = ${version} and r.rate <> k.rate`,
  )
  return first
})

/**
 * Whether an import corrects a rate between these days. A closed month has the one before, whether its close knew it or it was the
 * first that was imported afterwards.
 */
export const corrects = Effect.fn("Valuation.corrects")(function* (
  version: number,
  baseCurrency: string,
  currencies: ReadonlyArray<string>,
  days: Days,
) {
  const database = yield* Database
  const { corrected } = yield* database.row(
    "Valuation.corrects",
    { corrected: bool },
    (sql) => sql`
      select exists (
        select from valuation.rates r
        cross join lateral (
          select k.rate from valuation.rates k
          where k.date = r.date and k.from_currency = r.from_currency and k.to_currency = r.to_currency and k.version < r.version
          order by k.version desc limit 1) k
        where r.version = ${version} and ${between(sql, baseCurrency, currencies, days)} and r.rate <> k.rate) as corrected`,
  )
  return corrected
})

const pairSummaryColumns = {
  from: text,
  to: text,
  days: int4,
  first: text,
  last: text,
  newestVersion: int4,
}

/** The stored rates, a line per pair. */
export const pairs = Effect.fn("Valuation.pairs")(function* () {
  const database = yield* Database
  return yield* database.rows(
    "Valuation.pairs",
    pairSummaryColumns,
    (sql) => sql`
      select from_currency as "from", to_currency as "to", count(distinct date)::integer as days,
        min(date)::text as first, max(date)::text as last, max(version) as "newestVersion"
      from valuation.rates group by from_currency, to_currency order by from_currency, to_currency`,
  )
})
