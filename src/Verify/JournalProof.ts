/** Re-reads `journal.csv`: each entry balances, numbers follow one another, and the totals are the manifest's. */

import { print } from "../Common/MinorUnits.ts"
import type { Problems } from "../Common/Problems.ts"
import type { FileRecord, Manifest } from "../Export/Batch/Manifest.ts"
import { type ExpectedAccount, isGapless } from "./AccountsProof.ts"
import { readCsv } from "./CsvRows.ts"
import { indexAccounts, type JournalRow, journalColumns, readRow } from "./JournalRow.ts"

interface Turnover {
  debit: bigint
  credit: bigint
}

interface Count extends Turnover {
  entries: number
  postings: number
}

/** The entry that is being read. */
interface Current {
  readonly row: JournalRow
  readonly firstLine: number
  readonly sums: Map<string, bigint>
  lines: number
}

/** What the rows added up to. */
class Tally {
  readonly accounts = new Map<ExpectedAccount, Turnover>()
  readonly currencies = new Map<string, Count>()
  /** By series of journal numbers. */
  readonly periods = new Map<string, { period: string; first: string; last: string; entries: number }>()

  add({ account, minor }: JournalRow): void {
    const turnover = this.accounts.get(account) ?? { debit: 0n, credit: 0n }
    const count = this.count(account.account.currency)
    for (const sum of [turnover, count]) {
      if (minor > 0n) sum.debit += minor
      else sum.credit -= minor
    }
    count.postings += 1
    this.accounts.set(account, turnover)
  }

  count(currency: string): Count {
    const count = this.currencies.get(currency) ?? { debit: 0n, credit: 0n, entries: 0, postings: 0 }
    this.currencies.set(currency, count)
    return count
  }

  addEntry({ number, period, series }: JournalRow): void {
    const known = this.periods.get(series) ?? { period, first: number, last: number, entries: 0 }
    this.periods.set(series, {
      period,
      first: known.first,
      last: number,
      entries: known.entries + 1,
    })
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
    const count = tally.count(currency)
    if (count.entries !== entries || count.postings !== postings) {
      const found = `${count.entries} entries and ${count.postings} postings`
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

export const checkJournal = async (
  folder: string,
  { name: file, rows: statedRows }: FileRecord,
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
  problems: Problems,
): Promise<void> => {
  const index = indexAccounts(accounts)
  const tally = new Tally()
  let current: Current | undefined
  let previous: JournalRow | undefined

  const finish = () => {
    if (current === undefined) return
    const { firstLine, row, sums } = current
    for (const [currency, sum] of sums) {
      tally.count(currency).entries += 1
      if (sum !== 0n)
        problems.add(file, firstLine, `the journal entry ${row.number} does not balance in ${currency}`)
    }
    tally.addEntry(row)
    previous = row
    current = undefined
  }

  const checkOrder = (row: JournalRow, line: number) => {
    const same = previous?.series === row.series
    const before = same ? (previous?.sequence ?? 0) : 0
    const whole = isGapless(manifest, row.period)
    if (whole && row.sequence !== before + 1) {
      problems.add(
        file,
        line,
        `the journal number ${row.number} does not follow: a number is missing before it or doubled`,
      )
    } else if (row.sequence <= before || (!same && previous !== undefined && row.period < previous.period)) {
      problems.add(file, line, `the journal number ${row.number} is out of order`)
    }
  }

  const rows = await readCsv(folder, file, journalColumns, problems, (cells, line) => {
    const row = readRow(cells, manifest, index)
    if (typeof row === "string") return problems.add(file, line, row)
    if (current?.row.number !== row.number) {
      finish()
      checkOrder(row, line)
      current = { row, firstLine: line, sums: new Map(), lines: 0 }
    }
    if (current === undefined) return
    current.lines += 1
    if (row.line !== current.lines) {
      problems.add(file, line, `line ${row.line} of ${row.number} comes where line ${current.lines} belongs`)
    }
    if (row.common !== current.row.common) {
      problems.add(file, line, `the lines of ${row.number} differ in what they must share`)
    }
    const { currency } = row.account.account
    current.sums.set(currency, (current.sums.get(currency) ?? 0n) + row.minor)
    tally.add(row)
  })
  finish()
  if (rows !== statedRows) problems.add(file, null, `has ${rows} rows, the manifest says ${statedRows}`)
  compareTotals(manifest, accounts, tally, (message) => problems.add(file, null, message))
}
