/** A journal's entries as a stream, in the caller's repeatable-read transaction. */
import { Effect, Schema, Stream } from "effect"
import { byBook } from "../../Book/ByBook.ts"
import { parse, print } from "../../Common/MinorUnits.ts"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import { Database } from "../../Database.ts"
import { type Entry, journalNumber, type Line, type NativeMovement } from "../../Format/Entry.ts"
import type { ExportError } from "../ExportError.ts"
import type { Selection } from "../Request/ExportScope.ts"
import type { BookAccounts } from "./Accounts.ts"
import { accountOf, exactly } from "./Balances.ts"
import { byDate, byNumber, type EntryRow, entryColumns, type Series } from "./EntryQuery.ts"
import { type JournalName, oneByOne } from "./JournalViews.ts"

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
export const numberIn = (book: string, series: Series, period: string, number: number): string =>
  journalNumber(series === "fx" ? `${book}-FX` : book, period, number)

const entryOf = (book: string, row: EntryRow, accounts: BookAccounts): Entry => {
  const natives = nativesOf(row.natives, accounts)
  return {
    number: numberIn(book, row.series, row.period, row.number),
    period: row.period,
    effectiveDate: row.effective_date,
    occurredAt: row.occurred_at,
    recordedAt: row.recorded_at,
    recordedOn: row.recorded_on,
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

/** Entries with the numbering step of each chunk's newest. */
export interface EntryChunk {
  readonly entries: ReadonlyArray<Entry>
  readonly numbering: bigint
}

/** Entries read at a time. With 1,000, and their texts in five formats, the process holds 20 MB more and is not faster. */
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

/** As many entries as the stream of a large book fetches at a time, so that the files do not depend on how they were read. */
export const inFetches = <A>(rows: ReadonlyArray<A>): ReadonlyArray<ReadonlyArray<A>> =>
  Array.from({ length: Math.ceil(rows.length / perFetch) }, (_, at) =>
    rows.slice(at * perFetch, (at + 1) * perFetch),
  )

/** A book whose entries are read, with the accounts that they are on. */
export interface EntryBook {
  readonly bookId: number
  readonly code: string
  readonly accounts: BookAccounts
}

/**
 * The selected entries in order, some hundred at a time; the next are fetched while these are used. One whose lines are all
 * worth nothing in the base currency has none.
 */
export const streamEntries = (
  { accounts, bookId, code }: EntryBook,
  journal: JournalName,
  selection: Selection,
  order: "number" | "date",
  withPayments = false,
): Stream.Stream<EntryChunk, DatabaseError | ExportError, Database> =>
  Stream.unwrap(
    Effect.map(Database, (database) => {
      const wanted = withPayments && selection.asOf === null
      // A sort is needed only for new entries, or for another order than that of the index.
      const planner = oneByOne(order === "date" || selection.since !== null || journal !== "native")
      return database
        .rowStream(
          "Export.streamEntries",
          entryColumns,
          (sql) =>
            order === "number"
              ? byNumber(sql, [bookId], journal, selection, wanted)
              : byDate(sql, bookId, journal, selection, wanted),
          { planner, size: perFetch },
        )
        .pipe(
          Stream.bufferChunks({ capacity: 1 }),
          Stream.chunks,
          Stream.mapEffect((rows) => exactly(() => chunkOf(code, rows, accounts))),
        )
    }),
  )

/** The entries of small books, by book: all chunks that `streamEntries` would give by number. Call `lookUpOneByOne` first. */
export const entriesOfBooks = Effect.fn("Export.entriesOfBooks")(function* (
  books: ReadonlyArray<EntryBook>,
  selection: Selection,
  withPayments: boolean,
) {
  const database = yield* Database
  const ids = books.map(({ bookId }) => bookId)
  const rows = yield* database.rows("Export.entriesOfBooks", entryColumns, (sql) =>
    byNumber(sql, ids, "native", selection, withPayments),
  )
  const found = byBook(rows)
  const made = yield* exactly(() =>
    books.map(({ accounts, bookId, code }): readonly [number, ReadonlyArray<EntryChunk>] => [
      bookId,
      inFetches(found.of({ bookId })).map((some) => chunkOf(code, some, accounts)),
    ]),
  )
  return new Map(made)
})
