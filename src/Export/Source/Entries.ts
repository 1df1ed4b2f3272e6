/** A journal's entries as a stream, in the caller's repeatable-read transaction. */
import { Effect, Schema, Stream } from "effect"
import { parse, print } from "../../Common/MinorUnits.ts"
import type { Sql } from "../../Database/Client.ts"
import { int4, int8, nullable, oneOf, type RowOf, text } from "../../Database/Columns.ts"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import { Database } from "../../Database.ts"
import { type Entry, journalNumber, type Line, type NativeMovement } from "../../Format/Entry.ts"
import type { ExportError } from "../ExportError.ts"
import type { Selection } from "../Request/Scope.ts"
import { selected } from "../Request/Selected.ts"
import type { BookAccounts } from "./Accounts.ts"
import { accountOf, exactly } from "./Balances.ts"
import { type JournalName, journalView, lookUpOneByOne } from "./Journal.ts"

/** What only the base-currency journal has is counted by itself. */
export const series = oneOf("journal", "fx")
type Series = RowOf<{ readonly series: typeof series }>["series"]

/** What the database says of an entry, everything already text. */
const entryColumns = {
  series,
  period: text,
  number: int4,
  numbering: nullable(int8),
  effective_date: text,
  occurred_at: text,
  recorded_at: text,
  kind: text,
  description: text,
  source_type: text,
  source_id: text,
  resource_type: nullable(text),
  resource_id: nullable(text),
  external_reference: nullable(text),
  counterparty: nullable(text),
  late_for: nullable(text),
  reverses_period: nullable(text),
  reverses_number: nullable(int4),
  lines: nullable(text),
  natives: nullable(text),
  payment_reference: nullable(text),
  payment_purpose: nullable(text),
  transaction_hash: nullable(text),
}
type EntryRow = RowOf<typeof entryColumns>

/** `account amount account amount …` in the order of the lines: one cell per entry instead of a row per line. */
const linesOf = (text: string | null, accounts: BookAccounts): ReadonlyArray<Line> => {
  if (text === null) return []
  const parts = text.split(" ")
  const lines: Array<Line> = []
  for (let at = 0; at < parts.length; at += 2) {
    const account = accountOf(accounts, parts[at] ?? "")
    const amount = parts[at + 1]
    if (amount === undefined) throw new Error(`postings that cannot be read: ${text}`)
    lines.push({ number: lines.length + 1, account, minor: parse(amount, account.scale) })
  }
  return lines
}

const Text = Schema.NullOr(Schema.String)

/** number, account, amount, native amount, its currency, basis, rate, its day, its source */
const Natives = Schema.parseJson(
  Schema.Array(
    Schema.Tuple(
      Schema.Int,
      Schema.String,
      Schema.String,
      Schema.String,
      Schema.String,
      Text,
      Text,
      Text,
      Text,
    ),
  ),
)
const readNatives = Schema.decodeSync(Natives)

const nativesOf = (text: string | null, accounts: BookAccounts): ReadonlyArray<NativeMovement> =>
  text === null
    ? []
    : readNatives(text).map(([line, key, worth, amount, currency, basis, rate, rateDate, rateSource]) => {
        const account = accountOf(accounts, key)
        const minor = parse(worth, account.scale)
        return { line, account, amount, currency, basis: basis ?? "", rate, rateDate, rateSource, minor }
      })

/** Puts the quantities that moved in front of the text, so that an importer that truncates it keeps them. */
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

/** `ORG-2026-10-000001`, `ORG-FX-2026-10-000001` */
export const numberIn = (book: string, of: Series, period: string, number: number): string =>
  journalNumber(of === "fx" ? `${book}-FX` : book, period, number)

const entryOf = (book: string, row: EntryRow, accounts: BookAccounts): Entry => {
  const natives = nativesOf(row.natives, accounts)
  return {
    number: numberIn(book, row.series, row.period, row.number),
    period: row.period,
    effectiveDate: row.effective_date,
    occurredAt: row.occurred_at,
    recordedAt: row.recorded_at,
    kind: row.kind,
    description: withQuantities(row.description, natives),
    sourceType: row.source_type,
    sourceId: row.source_id,
    resourceType: row.resource_type,
    resourceId: row.resource_id,
    externalReference: row.external_reference,
    counterparty: row.counterparty,
    reverses:
      row.reverses_period === null || row.reverses_number === null
        ? null
        : numberIn(book, row.series, row.reverses_period, row.reverses_number),
    lateFor: row.late_for,
    lines: linesOf(row.lines, accounts),
    payment: {
      reference: row.payment_reference,
      purpose: row.payment_purpose,
      transactionHash: row.transaction_hash,
    },
    natives,
  }
}

/** Text made by the server, so that nothing is parsed into a Date and printed again. */
const columns = (sql: Sql) => sql`
  e.series, to_char(e.period, 'YYYY-MM') as period, e.number, e.numbering, e.effective_date::text as effective_date,
  to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as occurred_at,
  to_char(e.recorded_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as recorded_at,
  e.kind, e.description, e.source_type, coalesce(e.source_id::text, '') as source_id, e.resource_type,
  e.resource_id, e.external_reference, e.counterparty, to_char(e.late_for, 'YYYY-MM') as late_for,
  to_char(e.reverses_period, 'YYYY-MM') as reverses_period, e.reverses_number, e.lines, e.natives`

/** What the service says now of the payment behind an entry: no part of the books, and of a time nothing is known of it. */
const payments = (sql: Sql, wanted: boolean) =>
  wanted
    ? {
        columns: sql`
          case when r.form is distinct from 'flat' then r.reference end as payment_reference,
          case when r.form = 'flat' then r.reference end as payment_purpose, r.transaction_hash`,
        join: sql`
          left join lateral (
            select p.form, p.reference, p.transaction_hash from mirror.resources p
            where p.book_id = e.book_id and p.resource_id = e.resource_id::uuid and p.resource_type = e.resource_type
            limit 1) r on true`,
      }
    : {
        columns: sql`null::text as payment_reference, null::text as payment_purpose, null::text as transaction_hash`,
        join: sql``,
      }

/** The books' own numbers come before the other series, in each period. */
const byNumber = (
  sql: Sql,
  bookId: number,
  journal: JournalName,
  selection: Selection,
  withPayments: boolean,
) => sql`
  select ${columns(sql)}, ${payments(sql, withPayments).columns} from ${journalView(sql, journal, "journal")} e
  ${payments(sql, withPayments).join}
  where ${selected(sql, bookId, selection)}
  order by e.period, e.series = 'fx', e.number`

// Only keys are sorted; the rest is looked up afterwards, in that order: of each on its own, whatever the planner believes.
export const byDate = (
  sql: Sql,
  bookId: number,
  journal: JournalName,
  selection: Selection,
  withPayments = false,
) => sql`
  select ${columns(sql)}, ${payments(sql, withPayments).columns}
  from (
    select e.period, e.series, e.number, e.effective_date, e.place from ${journalView(sql, journal, "journal")} e
    where ${selected(sql, bookId, selection)}
    order by e.effective_date, e.place) k
  cross join lateral (
    select * from ${journalView(sql, journal, "journal")} e
    where e.book_id = ${bookId} and e.period = k.period and e.series = k.series and e.number = k.number
    limit 1) e
  ${payments(sql, withPayments).join}
  order by k.effective_date, k.place`

/** Entries with the numbering step of each chunk's newest. */
export interface EntryChunk {
  readonly entries: ReadonlyArray<Entry>
  readonly numbering: bigint
}

/** Entries read at a time. Of 1,000, with their texts in five formats, the process holds 20 MB more, and is no sooner done. */
const perFetch = 400

const chunkOf = (book: string, rows: Iterable<EntryRow>, accounts: BookAccounts): EntryChunk => {
  const entries: Array<Entry> = []
  let numbering = 0n
  for (const row of rows) {
    entries.push(entryOf(book, row, accounts))
    if (row.numbering !== null && row.numbering > numbering) numbering = row.numbering
  }
  return { entries, numbering }
}

/**
 * The selected entries in order, some hundred at a time; the next are fetched while these are used. One whose lines are all
 * worth nothing in the base currency has none.
 */
export const streamEntries = (
  book: { readonly bookId: number; readonly code: string },
  journal: JournalName,
  selection: Selection,
  order: "number" | "date",
  accounts: BookAccounts,
  withPayments = false,
): Stream.Stream<EntryChunk, DatabaseError | ExportError, Database> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const database = yield* Database
      // Only what is new, or wanted in another order than that of the index, is sorted.
      yield* lookUpOneByOne(order === "date" || selection.since !== null || journal !== "native")
      const query = order === "number" ? byNumber : byDate
      return database
        .rowStream(
          "Export.streamEntries",
          entryColumns,
          (sql) => query(sql, book.bookId, journal, selection, withPayments && selection.asOf === null),
          perFetch,
        )
        .pipe(
          Stream.bufferChunks({ capacity: 1 }),
          Stream.chunks,
          Stream.mapEffect((rows) => exactly(() => chunkOf(book.code, rows, accounts))),
        )
    }),
  )
