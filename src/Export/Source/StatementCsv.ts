/**
 * `statement.csv`, beside every `journal.csv`: the provider's statement entries behind the journal, per account in posting
 * order, with the running balance that the provider reported. Amounts are signed, in the major unit at the currency's scale.
 */
import { Chunk, Effect, Stream } from "effect"
import { byBook, isIn } from "../../Book/ByBook.ts"
import type { Book } from "../../Book.ts"
import { parse, print } from "../../Common/MinorUnits.ts"
import { inStage } from "../../Common/Progress.ts"
import { count } from "../../Common/Text.ts"
import type { Sql } from "../../Database/Client.ts"
import { int4, int8, numeric, type RowOf, text, uuid } from "../../Database/Columns.ts"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import { Database } from "../../Database.ts"
import { accompanyingFiles } from "../../Format/AccompanyingFiles.ts"
import { encode } from "../../Format/Encoding.ts"
import { journalNumber, type OpenedAccount } from "../../Format/Entry.ts"
import type { Totals } from "../../Format/Totals.ts"
import type { Folder } from "../Batch/Folder.ts"
import type { FileRecord, Manifest } from "../Batch/Manifest.ts"
import type { Selection } from "../Request/ExportScope.ts"
import { selected } from "../Request/Selected.ts"
import { exactly } from "./Balances.ts"
import type { Chunks } from "./Chunks.ts"
import { oneByOne } from "./JournalViews.ts"

const statementColumns = [
  "account",
  "currency",
  "position",
  "entry_id",
  "occurred_at",
  "amount",
  "balance_after",
  "journal_number",
] as const

const rowColumns = {
  bookId: int4,
  account_id: uuid,
  currency: text,
  position: int8,
  entry_id: uuid,
  occurred_at: text,
  amount: numeric,
  balance_after: numeric,
  period: text,
  number: int4,
}
export type StatementRow = RowOf<typeof rowColumns>

const isWhole = ({ from, since, to }: Selection): boolean => from === null && to === null && since === null

/**
 * A statement entry has one journal entry that moves cash; reclassifications (sequence 1 and on) never do. A part is sorted by an
 * expression, which no index has: the export avoids sorts where it can (`oneByOne`), and the server would walk through whole
 * statements in their order to find one month.
 */
const statement = (sql: Sql, bookIds: ReadonlyArray<number>, selection: Selection) => sql`
  select s.book_id as "bookId", s.account_id, s.currency, s.position, s.entry_id, s.balance_after,
    to_char(s.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as occurred_at,
    case s.type when 'CREDIT' then s.amount else -s.amount end as amount,
    -- to_char goes by way of a time, which takes longer than all else of the row.
    left(e.period::text, 7) as period, e.number
  from ledger.journal e
  join mirror.statement_entries s on s.book_id = e.book_id and s.account_id = e.partner_account_id
    and s.position = e.position and s.entry_id = e.source_id
  where ${selected(sql, isIn(sql, bookIds), selection)} and e.source_type = 'statement_entry' and e.sequence = 0
  order by ${isWhole(selection) ? sql`s.book_id` : sql`s.book_id + 0`}, s.account_id, s.position`

/** Of one book, in the caller's repeatable-read transaction. */
export const streamStatement = (
  bookId: number,
  selection: Selection,
): Stream.Stream<ReadonlyArray<StatementRow>, DatabaseError, Database> =>
  Stream.unwrap(
    Effect.map(Database, (database) =>
      database.rowStream("Export.statement", rowColumns, (sql) => statement(sql, [bookId], selection), {
        planner: oneByOne(!isWhole(selection)),
      }),
    ),
  ).pipe(
    // The next rows are fetched while these are written.
    Stream.bufferChunks({ capacity: 1 }),
    Stream.chunks,
    Stream.map(Chunk.toReadonlyArray),
  )

/** Of small books, by book. */
export const statementsOfBooks = Effect.fn("Export.statementsOfBooks")(function* (
  bookIds: ReadonlyArray<number>,
  selection: Selection,
) {
  const database = yield* Database
  return byBook(
    yield* database.rows("Export.statementsOfBooks", rowColumns, (sql) => statement(sql, bookIds, selection)),
  )
})

interface Span {
  readonly currency: string
  readonly scale: number
  /** The balance before the first entry, in smallest units. */
  readonly before: bigint
  after: bigint
  amount: bigint
  entries: number
  position: bigint
  gaps: number
}

/** Adds up the entries of one account as they pass in posting order. */
const follow = (
  spans: Map<string, Span>,
  row: StatementRow,
  scale: number,
  minor: bigint,
  after: bigint,
): void => {
  const { account_id: id, currency, position } = row
  const known = spans.get(id)
  const span = known ?? {
    currency,
    scale,
    before: after - minor,
    after,
    amount: 0n,
    entries: 0,
    position: position - 1n,
    gaps: 0,
  }
  if (position !== span.position + 1n) span.gaps += 1
  span.after = after
  span.amount += minor
  span.entries += 1
  span.position = position
  spans.set(id, span)
}

/** What the books say of an account before its first entry here: the opening, and cash that no statement entry moved. */
const booked = (id: string, accounts: ReadonlyArray<OpenedAccount>, totals: Totals, span: Span): bigint =>
  accounts
    .filter(({ account }) => account.role === "cash" && account.partnerAccountId === id)
    .reduce((sum, { account, opening }) => {
      const { credit, debit } = totals.of(account)
      return sum + opening + debit - credit
    }, -span.amount)

const statementsOf = (
  spans: ReadonlyMap<string, Span>,
  accounts: ReadonlyArray<OpenedAccount>,
  totals: Totals,
): NonNullable<Manifest["statements"]> =>
  [...spans].map(([account, span]) => {
    const { after, amount, before, currency, entries, gaps, scale } = span
    const outside = before - booked(account, accounts, totals, span)
    return {
      account,
      currency,
      entries,
      amount: print(amount, scale),
      before: print(before, scale),
      after: print(after, scale),
      gaps,
      outside: print(outside, scale),
    }
  })

const lineOf = (book: string, row: StatementRow, scale: number, minor: bigint, after: bigint): string =>
  [
    row.account_id,
    row.currency,
    row.position.toString(),
    row.entry_id,
    row.occurred_at,
    print(minor, scale),
    print(after, scale),
    journalNumber(book, row.period, row.number),
  ].join(",")

export interface WrittenStatement {
  readonly file: FileRecord
  readonly statements: NonNullable<Manifest["statements"]>
}

/** Memory grows with accounts only. What the journal says of the accounts need not be known before the end. */
export const writeStatement = Effect.fn("Export.writeStatement")(function* (
  folder: Folder,
  book: Book,
  statementRows: Chunks<ReadonlyArray<StatementRow>>,
  accounts: ReadonlyArray<OpenedAccount>,
) {
  const output = yield* folder.create(accompanyingFiles.statement.file)
  const scales = new Map(accounts.map(({ account: { currency, scale } }) => [currency, scale]))
  const spans = new Map<string, Span>()
  let rows = 0
  yield* output.write(encode(`${statementColumns.join(",")}\n`, "utf-8"))
  const linesOf = (chunk: ReadonlyArray<StatementRow>) =>
    chunk.map((row) => {
      const scale = scales.get(row.currency)
      if (scale === undefined) throw new Error(`no account has the currency of ${row.entry_id}`)
      const minor = parse(row.amount, scale)
      const after = parse(row.balance_after, scale)
      follow(spans, row, scale, minor, after)
      return `${lineOf(book.code, row, scale, minor, after)}\n`
    })
  const writeChunk = Effect.fnUntraced(function* (chunk: ReadonlyArray<StatementRow>) {
    const lines = yield* exactly(() => linesOf(chunk))
    rows += lines.length
    yield* output.write(encode(lines.join(""), "utf-8"))
  })
  yield* statementRows.forEach(writeChunk).pipe(inStage("statement entries", () => count(rows)))
  const written = yield* output.finish
  const { bytes, lines, name, sha256 } = written
  return (totals: Totals): WrittenStatement => ({
    file: { name, format: accompanyingFiles.statement.name, rows, bytes, sha256, lines },
    statements: statementsOf(spans, accounts, totals),
  })
})
