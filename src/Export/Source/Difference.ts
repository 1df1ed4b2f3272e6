/**
 * `difference.csv`, beside an export of what the books said at a time: what changed since. First a row per account with its
 * balance at the end of the selection, then and now; then a row per line of every entry that is dated up to that end and was
 * recorded since (in the base currency also: is valued otherwise, with its amounts then and now), which add up to the
 * accounts' differences. Amounts are in the major unit, debit positive.
 */
import { Effect, Stream } from "effect"
import type { Book } from "../../Book.ts"
import { cellCache, textCell } from "../../Common/Csv.ts"
import { print } from "../../Common/MinorUnits.ts"
import type { DatabaseError } from "../../Database/DatabaseError.ts"
import type { Database } from "../../Database.ts"
import { besides } from "../../Format/Besides.ts"
import { encode } from "../../Format/Encoding.ts"
import type { Account, Entry } from "../../Format/Entry.ts"
import type { Folder } from "../Batch/Folder.ts"
import type { FileRecord } from "../Batch/Manifest.ts"
import type { ExportError } from "../ExportError.ts"
import type { Selection } from "../Request/Scope.ts"
import { endOf } from "../Source.ts"
import { balancesAsOf, balancesBefore, readAccounts, type Sums } from "./Balances.ts"
import { streamEntries } from "./Entries.ts"

const columns = [
  "record",
  "journal_number",
  "line_number",
  "effective_date",
  "recorded_at",
  "kind",
  "account_code",
  "account_name",
  "account_role",
  "partner_account_id",
  "currency",
  "then",
  "now",
  "difference",
] as const

/** An account that the books say something else of now. */
export interface AccountDifference {
  readonly code: string
  readonly name: string
  readonly currency: string
  /** Its balance at that time. */
  readonly before: string
  readonly now: string
  readonly difference: string
}

export interface Difference {
  /** The entries that were recorded or valued otherwise since, dated up to the end of the selection. */
  readonly entries: number
  readonly accounts: ReadonlyArray<AccountDifference>
}

/** A line that the books have now and did not have then, or have with another amount. */
export interface LaterLine {
  readonly journalNumber: string
  readonly line: number
  readonly effectiveDate: string
  /** Empty where it is not an entry of the books. */
  readonly recordedAt: string
  readonly kind: string
  readonly account: Account
  /** Null: it was not there; not said where no entry ever changes. */
  readonly before: bigint | null
  readonly now: bigint | null
  readonly difference: bigint
}

/** The lines of some entries; `entries` counts those that no chunk had before. */
export interface LaterChunk {
  readonly entries: number
  readonly lines: ReadonlyArray<LaterLine>
}

/** Then and now, in the snapshot of the export. */
export interface Comparison {
  readonly accounts: ReadonlyArray<Account>
  readonly before: Sums
  readonly now: Sums
  readonly later: Stream.Stream<LaterChunk, DatabaseError | ExportError, Database>
}

const rowsOf = () => {
  const cached = cellCache()
  const accountCells = ({ code, currency, name, partnerAccountId, role }: Account): string =>
    [cached(code), textCell(name), cached(role), partnerAccountId ?? "", cached(currency)].join(",")
  return {
    account: (account: Account, before: bigint, now: bigint): string => {
      const amounts = [before, now, now - before].map((minor) => print(minor, account.scale))
      return `account,,,,,,${accountCells(account)},${amounts.join(",")}\n`
    },
    line: ({
      account,
      before,
      difference,
      effectiveDate,
      journalNumber,
      kind,
      line,
      now,
      recordedAt,
    }: LaterLine) => {
      const amounts = [before, now, difference].map((minor) =>
        minor === null ? "" : print(minor, account.scale),
      )
      return `entry,${journalNumber},${line},${effectiveDate},${recordedAt},${cached(kind)},${accountCells(account)},${amounts.join(",")}\n`
    },
  }
}

const linesOf = ({ effectiveDate, kind, lines, number, recordedAt }: Entry): ReadonlyArray<LaterLine> =>
  lines.map(({ account, minor, number: line }) => ({
    ...{ journalNumber: number, line, effectiveDate, recordedAt, kind, account },
    before: null,
    now: null,
    difference: minor,
  }))

/** In the books' own currencies: entries never change, so what differs is what was recorded since. */
export const nativeComparison = Effect.fn("Export.nativeComparison")(function* (
  book: Book,
  selection: Selection,
  asOf: string,
) {
  const accounts = yield* readAccounts(book.bookId)
  const later: Selection = { ...selection, from: null, asOf: null, recordedAfter: asOf }
  return {
    accounts: accounts.ordered,
    before: yield* balancesAsOf(book.bookId, endOf(selection), accounts, asOf),
    now: yield* balancesBefore(book.bookId, endOf(selection), accounts),
    later: Stream.map(streamEntries(book, later, "number", accounts), ({ entries }) => ({
      entries: entries.length,
      lines: entries.flatMap(linesOf),
    })),
  } satisfies Comparison
})

export const writeDifference = Effect.fn("Export.writeDifference")(function* (
  folder: Folder,
  { accounts, before, later, now }: Comparison,
) {
  const file = yield* folder.create(besides.difference.file)
  const rows = rowsOf()
  const balances = accounts.map((account) => ({
    account,
    before: before.get(account) ?? 0n,
    now: now.get(account) ?? 0n,
  }))
  const head = balances.map((one) => rows.account(one.account, one.before, one.now)).join("")
  yield* file.write(encode(`${columns.join(",")}\n${head}`, "utf-8"))
  let entries = 0
  let count = balances.length
  yield* Stream.runForEach(later, (chunk) => {
    entries += chunk.entries
    count += chunk.lines.length
    return file.write(encode(chunk.lines.map(rows.line).join(""), "utf-8"))
  })
  const { bytes, name, sha256 } = yield* file.finish
  const record: FileRecord = { name, format: besides.difference.name, rows: count, bytes, sha256 }
  const difference: Difference = {
    entries,
    accounts: balances
      .filter((one) => one.before !== one.now)
      .map((one) => ({
        code: one.account.code,
        name: one.account.name,
        currency: one.account.currency,
        before: print(one.before, one.account.scale),
        now: print(one.now, one.account.scale),
        difference: print(one.now - one.before, one.account.scale),
      })),
  }
  return { file: record, difference }
})
