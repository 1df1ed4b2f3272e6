/** The base-currency journal as a batch's source, in the caller's repeatable-read transaction. */
import { Effect } from "effect"
import { Database } from "../../Database.ts"
import { nativeMovements } from "../../Format/Csv/NativeMovements.ts"
import type { Account } from "../../Format/Entry.ts"
import { type Journal, journalTable } from "../../Valuation/BaseJournal.ts"
import type { Manifest } from "../Batch/Manifest.ts"
import { exportError } from "../ExportError.ts"
import type { Selection } from "../Request/Scope.ts"
import { endOf, type Source } from "../Source.ts"
import type { BookAccounts } from "./Balances.ts"
import { type BaseAccounts, baseAccounts, baseSums } from "./BaseAccounts.ts"
import { streamBaseEntries } from "./BaseEntries.ts"

interface MonthRow extends NonNullable<NonNullable<Manifest["base"]>["months"][number]> {
  readonly currency: string
}

/** What an export of a time reads has been made in its transaction. */
const journalOf = (asOf: string | null): Journal => (asOf === null ? "kept" : "then")

/** The valued months of the scope; `last` bounds a scope without an end. */
const monthsOf = Effect.fn("Export.valuedMonths")(function* (bookId: number, { asOf, from, to }: Selection) {
  const journal = journalOf(asOf)
  const database = yield* Database
  return yield* database.query(
    "Export.valuedMonths",
    (sql) => sql<Array<MonthRow>>`
      select to_char(m.period, 'YYYY-MM') as period, m.base_currency as currency, m.method, m.rates,
        m.max_rate_age_days as "maxRateAgeDays",
        array_remove(string_to_array(m.monetary_roles, ' '), '') as "monetaryRoles", m.rates_version as "ratesVersion", m.fingerprint, m.over,
        to_char(m.valued_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "valuedAt"
      from ${journalTable(sql, journal, "months")} m
      where m.book_id = ${bookId} and m.state is not null
        and m.period >= date_trunc('month', ${from ?? "1970-01-01"}::text::date::timestamp)
        and m.period <= ${to}::text::date
      order by m.period`,
  )
})

/** Balances before a day: those at the end of the month before, and the days between. */
export const baseSumsBefore = Effect.fn("Export.baseSumsBefore")(function* (
  bookId: number,
  day: string,
  accounts: BaseAccounts,
  journal: Journal,
) {
  const database = yield* Database
  const rows = yield* database.query(
    "Export.baseSumsBefore",
    (sql) => sql<Array<{ key: string; amount: string }>>`
      with day as materialized (
        select ${day}::text::date as day, date_trunc('month', ${day}::text::date::timestamp)::date as month)
      select b.key, (b.value::numeric / 100)::numeric(1000, 2)::text as amount
      from (
        select m.state from ${journalTable(sql, journal, "months")} m
        where m.book_id = ${bookId} and m.state is not null and m.period < (select month from day)
        order by m.period desc limit 1) last
      cross join lateral json_each_text(last.state -> 'balances') b
      union all
      select coalesce(p.account_id::text, p.role), sum(p.amount)::text
      from ${journalTable(sql, journal, "entries")} e
      cross join lateral (
        select p.account_id, p.role, p.amount from ${journalTable(sql, journal, "postings")} p
        where p.book_id = e.book_id and p.period = e.period and p.series = e.series and p.number = e.number
        offset 0) p
      where e.book_id = ${bookId} and e.period = (select month from day) and e.effective_date < (select day from day)
      group by 1`,
  )
  return baseSums(rows, accounts)
})

const movedIn = Effect.fn("Export.baseMoved")(function* (
  bookId: number,
  from: string,
  to: string,
  accounts: BaseAccounts,
  journal: Journal,
) {
  const database = yield* Database
  const rows = yield* database.query(
    "Export.baseMoved",
    (sql) => sql<Array<{ key: string; amount: string }>>`
      select coalesce(p.account_id::text, p.role) as key, sum(p.amount)::text as amount
      from ${journalTable(sql, journal, "entries")} e
      cross join lateral (
        select p.account_id, p.role, p.amount from ${journalTable(sql, journal, "postings")} p
        where p.book_id = e.book_id and p.period = e.period and p.series = e.series and p.number = e.number
        offset 0) p
      where e.book_id = ${bookId} and e.effective_date between ${from}::text::date and ${to}::text::date
        and e.period between date_trunc('month', ${from}::text::date::timestamp)::date and ${to}::text::date
        and p.amount <> 0
      group by 1`,
  )
  return baseSums(rows, accounts)
})

const omittedIn = Effect.fn("Export.baseOmitted")(function* (
  bookId: number,
  from: string,
  to: string,
  journal: Journal,
) {
  const database = yield* Database
  const [row] = yield* database.query(
    "Export.baseOmitted",
    (sql) => sql<Array<{ omitted: number }>>`
      select count(*)::integer as omitted from ${journalTable(sql, journal, "entries")} e
      where e.book_id = ${bookId} and e.effective_date between ${from}::text::date and ${to}::text::date
        and e.period between date_trunc('month', ${from}::text::date::timestamp)::date and ${to}::text::date
        and not exists (select 1 from ${journalTable(sql, journal, "postings")} p where p.book_id = e.book_id and p.period = e.period
          and p.series = e.series and p.number = e.number and p.amount <> 0)`,
  )
  return row?.omitted ?? 0
})

/** A scope without an end ends with the last month that has entries: later ones may have been valued, too. */
export const bounded = Effect.fn("Export.baseBounds")(function* (bookId: number, selection: Selection) {
  if (selection.to !== null) return { ...selection, from: selection.from ?? "1970-01-01", to: selection.to }
  const database = yield* Database
  const [row] = yield* database.query(
    "Export.baseBounds",
    (sql) => sql<Array<{ last: string }>>`
      select (coalesce(max(period), '1970-01-01') + interval '1 month' - interval '1 day')::date::text as last
      from ledger.periods where book_id = ${bookId} and last_number > 0`,
  )
  return { ...selection, from: selection.from ?? "1970-01-01", to: row?.last ?? "1970-01-01" }
})

/** The fingerprints of the months that a batch of the selection would be written from now. */
export const fingerprintsOf = Effect.fn("Export.fingerprints")(function* (
  bookId: number,
  selection: Selection,
) {
  const months = yield* monthsOf(bookId, yield* bounded(bookId, selection))
  return months.map(({ fingerprint, period }) => `${period} ${fingerprint}`)
})

/**
 * Value the book through the end of the selection first: with `value`, or with `valueThen` in the same transaction. `own`: the
 * accounts that only this journal has.
 */
export const baseSource = Effect.fn("Export.baseSource")(function* (
  book: { readonly bookId: number; readonly code: string },
  selection: Selection,
  native: BookAccounts,
  own: ReadonlyArray<Account>,
) {
  const { bookId } = book
  const scope = yield* bounded(bookId, selection)
  const journal = journalOf(scope.asOf)
  const months = yield* monthsOf(bookId, scope)
  const currency = months.at(-1)?.currency ?? own[0]?.currency
  if (currency === undefined) {
    return yield* exportError("Usage", `The book ${book.code} has no entries yet: there is nothing to value.`)
  }
  if (months.some((month) => month.currency !== currency)) {
    return yield* exportError(
      "Refused",
      `The months of book ${book.code} are valued in more than one base currency: export those of one.`,
    )
  }
  const accounts = baseAccounts(native, own, currency)
  const source: Source = {
    accounts: accounts.accounts,
    opening:
      selection.from === null ? new Map() : yield* baseSumsBefore(bookId, scope.from, accounts, journal),
    closing: yield* baseSumsBefore(bookId, endOf(scope), accounts, journal),
    moved: movedIn(bookId, scope.from, scope.to, accounts, journal),
    entries: (order) => streamBaseEntries(book, { ...scope, journal }, order, accounts),
    alongside: [nativeMovements],
    nativeOf: accounts.nativeOf,
    base: {
      currency,
      months: months.map(({ currency: _, ...month }) => month),
      omitted: yield* omittedIn(bookId, scope.from, scope.to, journal),
    },
  }
  return source
})
