/**
 * `difference.csv`, beside an as-of export: what has changed since. First a row per account with its balance at the end of the
 * selection, then and now; then a row per line of every entry that is dated up to that end and was recorded since (in the base
 * currency also: is valued differently, with its amounts then and now), which add up to the accounts' differences. Amounts are
 * in the major unit, debit positive.
 */
import { Effect, Stream } from "effect"
import { cellCache, textCell } from "../../Common/Csv.ts"
import { print } from "../../Common/MinorUnits.ts"
import { accompanyingFiles } from "../../Format/AccompanyingFiles.ts"
import { encode } from "../../Format/Encoding.ts"
import type { Account } from "../../Format/Entry.ts"
import type { Folder } from "../Batch/Folder.ts"
import type { FileRecord } from "../Batch/Manifest.ts"
import type { Comparison, LaterLine } from "./Comparison.ts"

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

/** An account whose balance or entries have changed. */
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
  /** The entries dated up to the end of the selection that were recorded since, or are valued differently. */
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

export const writeDifference = Effect.fn("Export.writeDifference")(function* (
  folder: Folder,
  { accounts, before, later, now }: Comparison,
) {
  const file = yield* folder.create(accompanyingFiles.difference.file)
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
  const record: FileRecord = { name, format: accompanyingFiles.difference.name, rows: count, bytes, sha256 }
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
