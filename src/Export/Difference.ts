/**
 * `difference.csv`, beside an export of what the books said at a time: what was recorded since. First a row per account with
 * its balance at the end of the selection, then and now; then a row per line of every entry that was recorded since and is
 * dated up to that end, which add up to the accounts' differences. Amounts are in the major unit, debit positive.
 */
import { Effect, Stream } from "effect"
import type { Book } from "../Book.ts"
import { balancesAsOf, balancesBefore, readAccounts } from "./Balances.ts"
import { cellCache, textCell } from "./Csv.ts"
import { encode } from "./Encoding.ts"
import { streamEntries } from "./Entries.ts"
import type { Account, Entry } from "./Entry.ts"
import type { Folder } from "./Folder.ts"
import { differenceFile, differenceFormat } from "./Formats.ts"
import type { FileRecord } from "./Manifest.ts"
import { print } from "./MinorUnits.ts"
import { shiftDate } from "./PlainText.ts"
import type { Selection } from "./Scope.ts"

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
  /** The entries that were recorded since, dated up to the end of the selection. */
  readonly entries: number
  readonly accounts: ReadonlyArray<AccountDifference>
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
    entry: ({ effectiveDate, kind, lines, number, recordedAt }: Entry): string =>
      lines
        .map(
          (line) =>
            `entry,${number},${line.number},${effectiveDate},${recordedAt},${cached(kind)},${accountCells(line.account)},,,${print(line.minor, line.account.scale)}\n`,
        )
        .join(""),
  }
}

/** In the snapshot of the export. */
export const writeDifference = Effect.fn("Export.writeDifference")(function* (
  book: Book,
  selection: Selection,
  asOf: string,
  folder: Folder,
) {
  const file = yield* folder.create(differenceFile)
  const rows = rowsOf()
  const accounts = yield* readAccounts(book.bookId)
  const until = selection.to === null ? "infinity" : shiftDate(selection.to, 1)
  const before = yield* balancesAsOf(book.bookId, until, accounts, asOf)
  const now = yield* balancesBefore(book.bookId, until, accounts)
  const balances = accounts.ordered.map((account) => ({
    account,
    before: before.get(account) ?? 0n,
    now: now.get(account) ?? 0n,
  }))
  const head = balances.map((one) => rows.account(one.account, one.before, one.now)).join("")
  yield* file.write(encode(`${columns.join(",")}\n${head}`, "utf-8"))
  const later: Selection = { ...selection, from: null, asOf: null, recordedAfter: asOf }
  let entries = 0
  let count = balances.length
  yield* Stream.runForEach(streamEntries(book, later, "number", accounts), (chunk) => {
    entries += chunk.entries.length
    for (const { lines } of chunk.entries) count += lines.length
    return file.write(encode(chunk.entries.map(rows.entry).join(""), "utf-8"))
  })
  const { bytes, name, sha256 } = yield* file.finish
  const record: FileRecord = { name, format: differenceFormat, rows: count, bytes, sha256 }
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
