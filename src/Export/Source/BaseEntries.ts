/** The base-currency journal's entries as a stream, in the caller's repeatable-read transaction. */
import { Effect, Schema, Stream } from "effect"
import { parse, print } from "../../Common/MinorUnits.ts"
import type { Sql } from "../../Database/Client.ts"
import { Database } from "../../Database.ts"
import {
  type Account,
  type Entry,
  journalNumber,
  type Line,
  type NativeMovement,
} from "../../Format/Entry.ts"
import { type Journal, journalTable } from "../../Valuation/BaseJournal.ts"
import { baseScale } from "../../Valuation/Rates/Rate.ts"
import type { BaseAccounts } from "./BaseAccounts.ts"
import { type EntryChunk, type HeaderRow, headerOf } from "./Entries.ts"

interface EntryRow extends HeaderRow {
  readonly series: "journal" | "fx"
  readonly numbering: bigint | null
  readonly lines: string
}

const Text = Schema.NullOr(Schema.String)

/** number, account or role, amount, native amount, its currency, basis, rate, its day, its source */
const Lines = Schema.parseJson(
  Schema.Array(Schema.Tuple(Schema.Int, Schema.String, Schema.String, Text, Text, Text, Text, Text, Text)),
)
const readLines = Schema.decodeSync(Lines)

const accountOf = ({ byKey }: BaseAccounts, key: string): Account => {
  const account = byKey.get(key)
  if (account === undefined) throw new Error(`the base-currency journal has no account ${key}`)
  return account
}

/** The quantities that moved, in front of the text, where an importer that cuts it does not cut them off. */
const withQuantities = (description: string, natives: ReadonlyArray<NativeMovement>): string => {
  const sums = new Map<string, { minor: bigint; scale: number }>()
  for (const { account, amount, currency } of natives) {
    if (currency === account.currency || amount.startsWith("-")) continue
    const decimals = amount.includes(".") ? amount.length - amount.indexOf(".") - 1 : 0
    const { minor, scale } = sums.get(currency) ?? { minor: 0n, scale: 0 }
    // Amounts of one currency may be written with more or fewer decimals: they are added at one scale.
    const wider = Math.max(scale, decimals)
    sums.set(currency, {
      minor: minor * 10n ** BigInt(wider - scale) + parse(amount, wider),
      scale: wider,
    })
  }
  const texts = [...sums].map(([currency, { minor, scale }]) => `${print(minor, scale)} ${currency}`)
  return texts.length === 0 ? description : `${texts.join(", ")}: ${description}`
}

/** `ORG-FX-2026-10-000001`: what only this journal has is counted by itself. */
export const numberOf = (book: string, series: EntryRow["series"], period: string, number: number): string =>
  journalNumber(series === "fx" ? `${book}-FX` : book, period, number)

const entryOf = (book: string, row: EntryRow, accounts: BaseAccounts): Entry => {
  const lines: Array<Line> = []
  const natives: Array<NativeMovement> = []
  for (const [place, key, text, amount, currency, basis, rate, rateDate, rateSource] of readLines(
    row.lines,
  )) {
    const account = accountOf(accounts, key)
    const minor = parse(text, baseScale)
    if (minor !== 0n) lines.push({ number: lines.length + 1, account, minor })
    if (amount === null || currency === null) continue
    natives.push({
      line: place,
      account,
      amount,
      currency,
      basis: basis ?? "",
      rate,
      rateDate,
      rateSource,
      minor,
    })
  }
  return {
    ...headerOf(row, (period, number) => numberOf(book, row.series, period, number)),
    description: withQuantities(row.description, natives),
    lines,
    natives,
  }
}

const columns = (sql: Sql) => sql`
  v.series, to_char(v.period, 'YYYY-MM') as period, v.number, n.numbering, v.effective_date::text as effective_date,
  case when e.entry_id is null then v.effective_date::text || 'T00:00:00.000000Z'
    else to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') end as occurred_at,
  to_char(coalesce(e.recorded_at, m.valued_at) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as recorded_at,
  coalesce(v.kind, e.kind) as kind, coalesce(v.description, e.description) as description,
  coalesce(e.source_type, 'valuation') as source_type, coalesce(e.source_id::text, '') as source_id,
  coalesce(e.resource_type, case when v.resource_id is not null then 'CONVERSION' end) as resource_type,
  coalesce(e.resource_id::text, v.resource_id) as resource_id, e.external_reference, e.counterparty,
  to_char(e.late_for, 'YYYY-MM') as late_for,
  coalesce(r.period, case when v.reverses is not null then to_char(v.period - interval '1 month', 'YYYY-MM') end)
    as reverses_period,
  coalesce(r.number, v.reverses) as reverses_number, l.lines`

const details = (sql: Sql, journal: Journal) => sql`
  join ${journalTable(sql, journal, "months")} m on m.book_id = v.book_id and m.period = v.period
  left join ledger.journal_entries e on e.book_id = v.book_id and e.entry_id = v.entry_id
  left join ledger.journal_numbers n on n.book_id = v.book_id and n.entry_id = v.entry_id
  left join lateral (
    select to_char(x.period, 'YYYY-MM') as period, x.number from ledger.journal_numbers x
    where e.reverses is not null and x.book_id = e.book_id and x.entry_id = e.reverses) r on true
  cross join lateral (
    select json_agg(json_build_array(p.line_number, coalesce(p.account_id::text, p.role), p.amount::text,
      p.native::text, p.native_currency, p.basis, p.rate, p.rate_date::text, p.rate_source)
      order by p.line_number)::text as lines
    from ${journalTable(sql, journal, "postings")} p
    where p.book_id = v.book_id and p.period = v.period and p.series = v.series and p.number = v.number) l`

export interface BaseScope {
  readonly from: string
  readonly to: string
  readonly journal: Journal
}

const within = (sql: Sql, bookId: number, { from, to }: BaseScope) => sql`
  v.book_id = ${bookId} and v.period <= ${to}::text::date
  and v.period >= date_trunc('month', ${from}::text::date::timestamp)::date
  and v.effective_date between ${from}::text::date and ${to}::text::date`

/** The books' own numbers come before the other series, in each period. */
const byNumber = (sql: Sql, bookId: number, scope: BaseScope) => sql<Array<EntryRow>>`
  select ${columns(sql)} from ${journalTable(sql, scope.journal, "entries")} v ${details(sql, scope.journal)}
  where ${within(sql, bookId, scope)}
  order by v.period, v.series = 'fx', v.number`

/** A month begins with its reversals; on any other day what only this journal has comes last. */
const byDate = (sql: Sql, bookId: number, scope: BaseScope) => sql<Array<EntryRow>>`
  select ${columns(sql)} from ${journalTable(sql, scope.journal, "entries")} v ${details(sql, scope.journal)}
  where ${within(sql, bookId, scope)}
  order by v.effective_date, v.kind is distinct from 'fx_reversal', v.series = 'fx', v.number`

const chunkOf = (book: string, rows: Iterable<EntryRow>, accounts: BaseAccounts): EntryChunk => {
  const entries: Array<Entry> = []
  let numbering = 0n
  for (const row of rows) {
    entries.push(entryOf(book, row, accounts))
    if (row.numbering !== null && row.numbering > numbering) numbering = row.numbering
  }
  return { entries, numbering }
}

/** The entries of the scope in order, a thousand at a time. One whose lines are all worth nothing has none. */
export const streamBaseEntries = (
  book: { readonly bookId: number; readonly code: string },
  scope: BaseScope,
  order: "number" | "date",
  accounts: BaseAccounts,
) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const database = yield* Database
      const query = order === "number" ? byNumber : byDate
      return database
        .stream("Export.streamBaseEntries", (sql) => query(sql, book.bookId, scope))
        .pipe(
          Stream.bufferChunks({ capacity: 1 }),
          Stream.chunks,
          Stream.map((rows) => chunkOf(book.code, rows, accounts)),
        )
    }),
  )
