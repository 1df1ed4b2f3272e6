/**
 * What the base-currency journal says otherwise now than at a time: entries recorded since, and those that other rates or
 * another course of the month value otherwise. Months that were valued from the same are not looked at.
 */
import { Effect, Stream } from "effect"
import type { Book } from "../../Book.ts"
import { parse } from "../../Common/MinorUnits.ts"
import type { Sql } from "../../Database/Client.ts"
import { Database } from "../../Database.ts"
import { type Journal, journalTable } from "../../Valuation/BaseJournal.ts"
import { baseScale } from "../../Valuation/Rates/Rate.ts"
import type { ValuationOptions } from "../../Valuation/ValuedBook.ts"
import { valueNow } from "../../Valuation.ts"
import type { Selection } from "../Request/Scope.ts"
import { endOf } from "../Source.ts"
import { readAccounts } from "./Balances.ts"
import { type BaseAccounts, baseAccounts, chartAccounts } from "./BaseAccounts.ts"
import { numberOf } from "./BaseEntries.ts"
import { baseSumsBefore, bounded } from "./BaseSource.ts"
import type { Comparison, LaterChunk, LaterLine } from "./Difference.ts"

interface LineRow {
  /** Tells the entries apart. */
  readonly entry: bigint
  readonly series: "journal" | "fx"
  readonly period: string
  readonly number: number
  readonly line: number
  readonly date: string
  readonly recorded_at: string
  readonly kind: string
  readonly key: string
  readonly before: string | null
  readonly now: string | null
}

/**
 * The lines of one journal in the months that differ, one per entry and account. An entry of the books is the same then and
 * now by its identifier; one that only this journal has, by its kind, day, conversion and first account, and, of several
 * such, by their order: its number may be another.
 */
const linesIn = (sql: Sql, bookId: number, to: string, journal: Exclude<Journal, "kept">) => sql`
  select i.*, l.key, l.line, l.amount
  from (
    select v.period, v.series, v.number, v.effective_date, v.entry_id, v.kind,
      case when v.series = 'journal' then v.entry_id::text
        else concat_ws(' ', v.kind, v.effective_date, v.resource_id, coalesce(f.account_id::text, f.role),
          row_number() over (
            partition by v.series, v.period, v.kind, v.effective_date, v.resource_id, f.account_id, f.role
            order by v.number)) end as identity
    from ${journalTable(sql, journal, "entries")} v
    cross join lateral (
      select f.account_id, f.role from ${journalTable(sql, journal, "postings")} f
      where f.book_id = v.book_id and f.period = v.period and f.series = v.series and f.number = v.number
        and f.line_number = 1 limit 1) f
    where v.book_id = ${bookId} and v.effective_date <= ${to}::text::date
      and v.period = any (array(select period from differing))) i
  cross join lateral (
    select coalesce(p.account_id::text, p.role) as key, min(p.line_number) as line, sum(p.amount) as amount
    from ${journalTable(sql, journal, "postings")} p
    where p.book_id = ${bookId} and p.period = i.period and p.series = i.series and p.number = i.number
    group by 1 having sum(p.amount) <> 0) l`

const changedLines = (sql: Sql, bookId: number, to: string) => sql<Array<LineRow>>`
  with differing as materialized (
    select coalesce(t.period, n.period) as period
    from (select period, fingerprint from ${journalTable(sql, "then", "months")} where book_id = ${bookId}) t
    full join (select period, fingerprint from ${journalTable(sql, "now", "months")}
      where book_id = ${bookId} and period <= ${to}::text::date) n on n.period = t.period
    where t.fingerprint is distinct from n.fingerprint),
  changed as (
    select coalesce(n.series, t.series) as series, coalesce(n.period, t.period) as period,
      coalesce(max(n.number) over same, max(t.number) over same) as number, coalesce(n.line, t.line) as line, coalesce(n.key, t.key) as key,
      coalesce(n.effective_date, t.effective_date) as effective_date, coalesce(n.kind, t.kind) as kind,
      coalesce(n.entry_id, t.entry_id) as entry_id, coalesce(n.identity, t.identity) as identity,
      t.amount as before, n.amount as now
    from (${linesIn(sql, bookId, to, "then")}) t
    full join (${linesIn(sql, bookId, to, "now")}) n
      on n.series = t.series and n.period = t.period and n.identity = t.identity and n.key = t.key
    where t.amount is distinct from n.amount
    window same as (partition by coalesce(n.series, t.series), coalesce(n.period, t.period),
      coalesce(n.identity, t.identity)))
  select dense_rank() over (order by c.period, c.series desc, c.number, c.identity) as entry, c.series,
    to_char(c.period, 'YYYY-MM') as period, c.number, c.line, c.effective_date::text as date,
    coalesce(to_char(e.recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), '') as recorded_at,
    coalesce(c.kind, e.kind) as kind, c.key, c.before::text as before, c.now::text as now
  from changed c
  left join ledger.journal_entries e on e.book_id = ${bookId} and e.entry_id = c.entry_id
  order by c.period, c.series desc, c.number, c.identity, c.line, c.key`

const minorOf = (amount: string | null): bigint => (amount === null ? 0n : parse(amount, baseScale))

const lineOf = (book: string, { byKey }: BaseAccounts, row: LineRow): LaterLine => {
  const account = byKey.get(row.key)
  if (account === undefined) throw new Error(`the base-currency journal has no account ${row.key}`)
  const [before, now] = [minorOf(row.before), minorOf(row.now)]
  return {
    journalNumber: numberOf(book, row.series, row.period, row.number),
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
  const rows = yield* database.query(
    "Export.fingerprintsThen",
    (sql) => sql<Array<{ period: string; fingerprint: string }>>`
      select to_char(period, 'YYYY-MM') as period, fingerprint from ${journalTable(sql, "then", "months")}
      where book_id = ${bookId}`,
  )
  return new Map(rows.map(({ fingerprint, period }) => [period, fingerprint]))
})

/**
 * In the transaction of the export, which has made the journal of that time. Gives the number of rates that lack for what it
 * says now, where that is not known.
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
  const accounts = baseAccounts(
    yield* readAccounts(bookId),
    chartAccounts(book.code, options),
    options.baseCurrency,
  )
  const end = endOf(scope)
  const later = database
    .stream("Export.baseDifference", (sql) => changedLines(sql, bookId, scope.to))
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
    accounts: accounts.accounts.ordered,
    before: yield* baseSumsBefore(bookId, end, accounts, "then"),
    now: yield* baseSumsBefore(bookId, end, accounts, "now"),
    later,
  } satisfies Comparison
})
