/** Files beside the canonical journal must hold the same amounts: journal by journal, or day by day where they are summaries. */

import { Problems } from "../Common/Problems.ts"
import type { Manifest } from "../Export/Batch/Manifest.ts"
import { scale } from "../Format/Reading/Booked.ts"
import type { ExpectedAccount } from "./AccountsProof.ts"
import { readCsv } from "./CsvRows.ts"
import { bucketOf, Fingerprint } from "./Fingerprint.ts"
import { indexAccounts, type JournalRow, journalColumns, readRow } from "./JournalRow.ts"

/** An amount as a file or the journal has it, in 10⁻¹⁸ of the currency, debit positive. */
export interface Amount {
  /** What is compared as one: a journal's number, or a day. */
  readonly group: string
  readonly account: string
  readonly amount: bigint
}

/** The files of one format. */
export interface Side {
  readonly name: string
  /** Reads the files from the beginning. */
  readonly read: (visit: (amount: Amount, file: string, line: number) => void) => Promise<void>
  /** What the files should hold of a line of the journal; undefined where it is none of theirs. */
  readonly expected: (row: JournalRow) => Omit<Amount, "amount"> | undefined
}

/** Buckets of differences that are looked at more closely. */
const most = 8

const readJournal = async (
  folder: string,
  journalFile: string,
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
  visit: (row: JournalRow, amount: bigint) => void,
): Promise<void> => {
  const index = indexAccounts(accounts)
  // What is wrong in the journal by itself is found and told elsewhere.
  await readCsv(folder, journalFile, journalColumns, new Problems(), (cells) => {
    const row = readRow(cells, manifest, index)
    if (typeof row !== "string") visit(row, row.minor * 10n ** BigInt(scale - row.account.account.scale))
  })
}

const keyOf = ({ account, group }: Omit<Amount, "amount">): string => `${group}\n${account}`

interface Held {
  readonly file: string
  readonly line: number | null
  readonly group: string
  readonly account: string
  amount: bigint
}

const put = (held: Map<string, Held>, amount: Amount, file: string, line: number | null, sign: bigint) => {
  const known = held.get(keyOf(amount))
  if (known === undefined) held.set(keyOf(amount), { file, line, ...amount, amount: sign * amount.amount })
  else known.amount += sign * amount.amount
}

const shown = (amount: bigint): string => {
  const digits = (amount < 0n ? -amount : amount).toString().padStart(scale + 1, "0")
  const text = `${digits.slice(0, -scale)}.${digits.slice(-scale)}`.replace(/\.?0+$/, "")
  return amount < 0n ? `-${text}` : text
}

/** Reads both again, as far as they differ, and says where. */
const explain = async (
  journalFile: string,
  side: Side,
  differing: ReadonlySet<number>,
  journal: (visit: (row: JournalRow, amount: bigint) => void) => Promise<void>,
  problems: Problems,
): Promise<void> => {
  const buckets = new Set([...differing].slice(0, most))
  const held = new Map<string, Held>()
  await side.read((amount, file, line) => {
    if (buckets.has(bucketOf(amount.group))) put(held, amount, file, line, 1n)
  })
  await journal((row, amount) => {
    const expected = side.expected(row)
    if (expected === undefined || !buckets.has(bucketOf(expected.group))) return
    put(held, { ...expected, amount }, journalFile, null, -1n)
  })
  for (const { account, amount, file, group, line } of held.values()) {
    if (amount === 0n) continue
    const by = `by ${shown(amount)} in ${account.replaceAll("\n", " ")}`
    if (line === null) problems.add(side.name, null, `lacks what ${journalFile} has of ${group}, ${by}`)
    else problems.add(file, line, `${group} differs from ${journalFile} ${by}`)
  }
}

export const compareWithJournal = async (
  folder: string,
  journalFile: string,
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
  sides: ReadonlyArray<Side>,
  problems: Problems,
): Promise<void> => {
  if (sides.length === 0) return
  const prints = sides.map((side) => ({ side, own: new Fingerprint(), journal: new Fingerprint() }))
  const journal = (visit: (row: JournalRow, amount: bigint) => void) =>
    readJournal(folder, journalFile, manifest, accounts, visit)
  await journal((row, amount) => {
    for (const print of prints) {
      const expected = print.side.expected(row)
      if (expected !== undefined) print.journal.add(expected.group, keyOf(expected), amount)
    }
  })
  for (const { journal: ours, own, side } of prints) {
    await side.read((amount) => own.add(amount.group, keyOf(amount), amount.amount))
    const differing = own.differences(ours)
    if (differing.size > 0) await explain(journalFile, side, differing, journal, problems)
  }
}
