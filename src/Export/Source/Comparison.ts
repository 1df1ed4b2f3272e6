/**
 * Compares then and now, in the transaction of an as-of export: entries that were recorded since and, in the base currency,
 * lines that other rates or other entries of the month now value differently. Months that were valued from the same inputs are
 * skipped.
 */
import { Effect, Stream } from "effect"
import type { Book } from "../../Book.ts"
import { parse } from "../../Common/MinorUnits.ts"
import type { Sql } from "../../Database/Client.ts"
import { int2, int4, int8, nullable, numeric, type RowOf, text } from "../../Database/Columns.ts"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import { Database } from "../../Database.ts"
import type { Account, Entry } from "../../Format/Entry.ts"
import { type Journal, journalTable } from "../../Valuation/BaseJournal.ts"
import type { ValuationOptions } from "../../Valuation/ValuedBook.ts"
import { valueNow } from "../../Valuation.ts"
import type { ExportError } from "../ExportError.ts"
import type { Selection } from "../Request/ExportScope.ts"
import { endOf } from "../Source.ts"
import { type BookAccounts, chartAccounts, inBase, readAccounts } from "./Accounts.ts"
import { accountOf, balancesAsOf, balancesBefore, type Sums } from "./Balances.ts"
import { numberIn, streamEntries } from "./Entries.ts"
import { series } from "./EntryQuery.ts"
import { bounded } from "./ValuedMonths.ts"

/** A line that the books did not have then, or had with another amount. */
export interface LaterLine {
  readonly journalNumber: string
  readonly line: number
  readonly effectiveDate: string
  /** Empty where it is not an entry of the books. */
  readonly recordedAt: string
  readonly kind: string
  readonly account: Account
  /** Null if it was not there; absent where entries never change. */
  readonly before: bigint | null
  readonly now: bigint | null
  readonly difference: bigint
}

/** The lines of some entries; `entries` counts those that no chunk had before. */
interface LaterChunk {
  readonly entries: number
  readonly lines: ReadonlyArray<LaterLine>
}

export interface Comparison {
  readonly accounts: ReadonlyArray<Account>
  readonly before: Sums
  readonly now: Sums
  readonly later: Stream.Stream<LaterChunk, DatabaseError | ExportError, Database>
}

const linesOf = ({ effectiveDate, kind, lines, number, recordedAt }: Entry): ReadonlyArray<LaterLine> =>
  lines.map(({ account, minor, number: line }) => ({
    ...{ journalNumber: number, line, effectiveDate, recordedAt, kind, account },
    before: null,
    now: null,
    difference: minor,
  }))

/** In the books' own currencies: entries never change, so the difference is what was recorded since. */
export const nativeComparison = Effect.fn("Export.nativeComparison")(function* (
  book: Book,
  selection: Selection,
  asOf: string,
) {
  const accounts = yield* readAccounts(book.bookId)
  const later: Selection = { ...selection, from: null, asOf: null, recordedAfter: asOf }
  const end = endOf(selection)
  return {
    accounts: accounts.ordered,
    before: yield* balancesAsOf(book.bookId, end, accounts, asOf),
    now: yield* balancesBefore({ bookId: book.bookId, journal: "native" }, end, accounts),
    later: Stream.map(streamEntries({ ...book, accounts }, "native", later, "number"), ({ entries }) => ({
      entries: entries.length,
      lines: entries.flatMap(linesOf),
    })),
  } satisfies Comparison
})

/**
 * The lines of one journal in the months that differ, one per entry and account. An entry of the books is the same then and
 * now by its identifier; one that only this journal has, by its kind, day, conversion and first account, and, of several
 * such, by their order: its number may be another.
 */
const linesIn = (sql: Sql, bookId: number, to: string, journal: Journal) => sql`
  select i.*, l.account, l.line, l.amount
  from (
    select e.period, e.series, e.number, e.effective_date, e.recorded_at, e.kind,
      case when e.series = 'journal' then e.entry_id::text
        else concat_ws(' ', e.kind, e.effective_date, e.resource_id, f.account,
          row_number() over (
            partition by e.series, e.period, e.kind, e.effective_date, e.resource_id, f.account
            order by e.number)) end as identity
    from ${journalTable(sql, journal, "journal")} e
    cross join lateral (
      select l.account from ${journalTable(sql, journal, "journal_lines")} l
      where l.book_id = e.book_id and l.period = e.period and l.series = e.series and l.number = e.number
        and l.line_number = 1 limit 1) f
    where e.book_id = ${bookId} and e.effective_date <= ${to}::text::date
      and e.period = any (array(select period from differing))) i
  cross join lateral (
    select l.account, min(l.line_number) as line, sum(l.amount) as amount
    from ${journalTable(sql, journal, "journal_lines")} l
    where l.book_id = ${bookId} and l.period = i.period and l.series = i.series and l.number = i.number
    group by l.account having sum(l.amount) <> 0) l`

const lineColumns = {
  /** Tells the entries apart. */
  entry: int8,
  series,
  period: text,
  number: int4,
  line: int2,
  date: text,
  recorded_at: text,
  kind: text,
  account: text,
  before: nullable(numeric),
  now: nullable(numeric),
}

const changedLines = (sql: Sql, bookId: number, to: string) => sql`
  with differing as materialized (
    select coalesce(t.period, n.period) as period
    from (select period, fingerprint from ${journalTable(sql, "then", "months")} where book_id = ${bookId}) t
    full join (select period, fingerprint from ${journalTable(sql, "now", "months")}
      where book_id = ${bookId} and period <= ${to}::text::date) n on n.period = t.period
    where t.fingerprint is distinct from n.fingerprint),
  changed as (
    select coalesce(n.series, t.series) as series, coalesce(n.period, t.period) as period,
      coalesce(max(n.number) over same, max(t.number) over same) as number, coalesce(n.line, t.line) as line,
      coalesce(n.account, t.account) as account, coalesce(n.effective_date, t.effective_date) as effective_date,
      coalesce(n.recorded_at, t.recorded_at) as recorded_at, coalesce(n.kind, t.kind) as kind,
      coalesce(n.identity, t.identity) as identity, t.amount as before, n.amount as now
    from (${linesIn(sql, bookId, to, "then")}) t
    full join (${linesIn(sql, bookId, to, "now")}) n
      on n.series = t.series and n.period = t.period and n.identity = t.identity and n.account = t.account
    where t.amount is distinct from n.amount
    window same as (partition by coalesce(n.series, t.series), coalesce(n.period, t.period),
      coalesce(n.identity, t.identity)))
  select dense_rank() over (order by c.period, c.series desc, c.number, c.identity) as entry, c.series,
    to_char(c.period, 'YYYY-MM') as period, c.number, c.line, c.effective_date::text as date,
    case when c.series = 'journal' then to_char(c.recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')
      else '' end as recorded_at,
    c.kind, c.account, c.before, c.now
  from changed c
  order by c.period, c.series desc, c.number, c.identity, c.line, c.account`

const lineOf = (book: string, accounts: BookAccounts, row: RowOf<typeof lineColumns>): LaterLine => {
  const account = accountOf(accounts, row.account)
  const minorOf = (amount: string | null): bigint => (amount === null ? 0n : parse(amount, account.scale))
  const [before, now] = [minorOf(row.before), minorOf(row.now)]
  return {
    journalNumber: numberIn(book, row.series, row.period, row.number),
    line: row.line,
    effectiveDate: row.date,
    recordedAt: row.recorded_at,
    kind: row.kind,
    account,
    before,
    now,
    difference: now - before,
  }
}

const fingerprintsThen = Effect.fn("Export.fingerprintsThen")(function* (bookId: number) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.fingerprintsThen",
    { period: text, fingerprint: text },
    (sql) => sql`
      select to_char(period, 'YYYY-MM') as period, fingerprint from ${journalTable(sql, "then", "months")}
      where book_id = ${bookId}`,
  )
  return new Map(rows.map(({ fingerprint, period }) => [period, fingerprint]))
})

/**
 * In the base currency; the export has made the as-of journal. If rates are missing to value the books as of now, returns their
 * number instead.
 */
export const baseComparison = Effect.fn("Export.baseComparison")(function* (
  book: Book,
  selection: Selection,
  options: ValuationOptions,
) {
  const { bookId } = book
  const database = yield* Database
  const scope = yield* bounded(bookId, selection)
  const lacking = yield* valueNow(book, scope.to, options, yield* fingerprintsThen(bookId))
  if (lacking > 0) return lacking
  const accounts = inBase(
    yield* readAccounts(bookId),
    chartAccounts(book.code, options),
    options.baseCurrency,
  )
  const end = endOf(scope)
  const later = database
    .rowStream("Export.baseDifference", lineColumns, (sql) => changedLines(sql, bookId, scope.to))
    .pipe(
      Stream.chunks,
      Stream.mapAccum(0n, (last, rows) => {
        const lines = [...rows]
        const latest = lines.at(-1)?.entry ?? last
        const chunk: LaterChunk = {
          entries: Number(latest - last),
          lines: lines.map((row) => lineOf(book.code, accounts, row)),
        }
        return [latest, chunk] as const
      }),
    )
  return {
    accounts: accounts.ordered,
    before: yield* balancesBefore({ bookId, journal: "then" }, end, accounts),
    now: yield* balancesBefore({ bookId, journal: "now" }, end, accounts),
    later,
  } satisfies Comparison
})
