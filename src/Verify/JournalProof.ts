/** Re-reads `journal.csv`: each entry balances, numbers follow one another, and the totals are the manifest's. */

import { print } from "../Common/MinorUnits.ts"
import type { Problems } from "../Common/Problems.ts"
import type { FileRecord, Manifest } from "../Export/Batch/Manifest.ts"
import { type ExpectedAccount, isGapless } from "./AccountsProof.ts"
import { readCsv } from "./CsvRows.ts"
import { type JournalHead, type JournalRow, JournalRows, journalColumns } from "./JournalRow.ts"

/** The sums of one account's lines. */
interface Turnover {
  readonly expected: ExpectedAccount
  debit: bigint
  credit: bigint
  postings: number
}

/** The entry that is being read. */
interface Current {
  readonly head: JournalHead
  readonly firstLine: number
  /** Most entries have one currency. */
  currency: string
  sum: bigint
  others: Map<string, bigint> | undefined
  lines: number
}

/** The sums of the rows. */
class Tally {
  readonly accounts = new Map<ExpectedAccount, Turnover>()
  /** Entries by currency. */
  readonly entries = new Map<string, number>()
  /** By series of journal numbers. */
  readonly periods = new Map<string, { period: string; first: string; last: string; entries: number }>()

  add({ account, minor }: JournalRow): void {
    let turnover = this.accounts.get(account)
    if (turnover === undefined) {
      turnover = { expected: account, debit: 0n, credit: 0n, postings: 0 }
      this.accounts.set(account, turnover)
    }
    if (minor > 0n) turnover.debit += minor
    else turnover.credit -= minor
    turnover.postings += 1
  }

  postings(currency: string): number {
    let count = 0
    for (const { expected, postings } of this.accounts.values()) {
      if (expected.account.currency === currency) count += postings
    }
    return count
  }

  addEntry({ number, period, series }: JournalHead): void {
    const known = this.periods.get(series)
    if (known === undefined) this.periods.set(series, { period, first: number, last: number, entries: 1 })
    else {
      known.last = number
      known.entries += 1
    }
  }
}

const compareTotals = (
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
  tally: Tally,
  differs: (message: string) => void,
): void => {
  for (const expected of accounts) {
    const { debit, credit } = tally.accounts.get(expected) ?? { debit: 0n, credit: 0n }
    if (debit === expected.debit && credit === expected.credit) continue
    const { code, name, currency, scale } = expected.account
    const [found, stated] = [{ debit, credit }, expected].map(
      (sums) => `${print(sums.debit, scale)} / ${print(sums.credit, scale)}`,
    )
    differs(`${code} ${name} (${currency}): debit / credit are ${found}, the manifest says ${stated}`)
  }
  for (const { currency, entries, postings } of manifest.currencies) {
    const [entriesFound, postingsFound] = [tally.entries.get(currency) ?? 0, tally.postings(currency)]
    if (entriesFound !== entries || postingsFound !== postings) {
      const found = `${entriesFound} entries and ${postingsFound} postings`
      differs(`${currency}: ${found}, the manifest says ${entries} and ${postings}`)
    }
  }
  const found = [...tally.periods.values()].map(
    ({ period, first, last, entries }) => `${period}: ${entries}, ${first} to ${last}`,
  )
  const stated = manifest.periods.map(
    ({ period, first, last, entries }) => `${period}: ${entries}, ${first} to ${last}`,
  )
  if (found.join("\n") !== stated.join("\n")) {
    const place = stated.findIndex((line, at) => line !== found[at])
    differs(
      `entries of ${found[place] ?? found.at(-1) ?? "no period"}; the manifest says ${stated[place] ?? "nothing"}`,
    )
  }
}

/** Proves a journal's content; calls `seen` with every row that is valid by itself. */
export const checkJournal = async (
  chunks: AsyncIterable<Buffer>,
  { name: file, rows: statedRows }: Pick<FileRecord, "name" | "rows">,
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
  problems: Problems,
  seen: (row: JournalRow) => void,
): Promise<void> => {
  const journal = new JournalRows(manifest, accounts)
  const tally = new Tally()
  let current: Current | undefined
  let previous: JournalHead | undefined

  const finish = () => {
    if (current === undefined) return
    const { currency, firstLine, head, others, sum } = current
    for (const [unit, amount] of [[currency, sum] as const, ...(others ?? [])]) {
      tally.entries.set(unit, (tally.entries.get(unit) ?? 0) + 1)
      if (amount !== 0n)
        problems.add(file, firstLine, `the journal entry ${head.number} does not balance in ${unit}`)
    }
    tally.addEntry(head)
    previous = head
    current = undefined
  }

  const checkOrder = (head: JournalHead, line: number) => {
    const same = previous?.series === head.series
    const before = same ? (previous?.sequence ?? 0) : 0
    const whole = isGapless(manifest, head.period)
    if (whole && head.sequence !== before + 1) {
      problems.add(
        file,
        line,
        `the journal number ${head.number} does not follow: a number is missing before it or doubled`,
      )
    } else if (
      head.sequence <= before ||
      (!same && previous !== undefined && head.period < previous.period)
    ) {
      problems.add(file, line, `the journal number ${head.number} is out of order`)
    }
  }

  const sumUp = (entry: Current, currency: string, minor: bigint) => {
    if (currency === entry.currency) entry.sum += minor
    else {
      entry.others ??= new Map()
      entry.others.set(currency, (entry.others.get(currency) ?? 0n) + minor)
    }
  }

  const rows = await readCsv(chunks, file, journalColumns, problems, (cells, line) => {
    const row = journal.read(cells)
    if (typeof row === "string") return problems.add(file, line, row)
    const { head } = row
    const { currency } = row.account.account
    if (current?.head.number !== head.number) {
      finish()
      checkOrder(head, line)
      current = { head, firstLine: line, currency, sum: 0n, others: undefined, lines: 0 }
    }
    if (current === undefined) return
    current.lines += 1
    if (row.line !== current.lines) {
      problems.add(file, line, `line ${row.line} of ${head.number} comes where line ${current.lines} belongs`)
    }
    if (head !== current.head) {
      problems.add(file, line, `the lines of ${head.number} differ in what they must share`)
    }
    sumUp(current, currency, row.minor)
    tally.add(row)
    seen(row)
  })
  finish()
  if (rows !== statedRows) problems.add(file, null, `has ${rows} rows, the manifest says ${statedRows}`)
  compareTotals(manifest, accounts, tally, (message) => problems.add(file, null, message))
}
