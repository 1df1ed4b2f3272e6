/**
 * Proves the files of a format with rates. Account by account, the base-currency amounts of the files and of
 * `rate_differences_{format}.csv` add up to the manifest's totals; journal by journal, the amounts in each currency that moved
 * add up to those of `native_movements.csv`.
 */
import type { Problems } from "../Common/Problems.ts"
import { type FileRecord, type Manifest, manifestFile } from "../Export/Batch/Manifest.ts"
import { type Booked, exact, journalOf, scale } from "../Format/Reading/Booked.ts"
import { Unreadable } from "../Format/Reading/LineCells.ts"
import type { Reader } from "../Format/Reading/Reader.ts"
import type { ExpectedAccount } from "./AccountsProof.ts"
import { readCsv } from "./CsvRows.ts"
import { Fingerprint } from "./Fingerprint.ts"
import type { Side } from "./JournalComparison.ts"
import type { NativeRow } from "./NativeMovementsProof.ts"
import { contextOf, readTable } from "./TableFile.ts"

const differenceColumns = [
  "journal_number",
  "account",
  "currency",
  "amount",
  "base_amount",
  "reason",
] as const

const nameOf = ({ code, name }: { readonly code: string; readonly name: string }): string =>
  JSON.stringify([code, name])

const printOf = (prints: Map<string, Fingerprint>, currency: string): Fingerprint => {
  const known = prints.get(currency) ?? new Fingerprint()
  prints.set(currency, known)
  return known
}

export class RatedProof {
  /** The batch's journal is in the base currency, so the files cannot be compared with it. */
  readonly side: Side
  private readonly format: string
  private readonly reader: Reader
  private readonly manifest: Manifest
  private readonly accounts: ReadonlyArray<ExpectedAccount>
  /** The system's name of an account by the books' code and name. */
  private readonly names = new Map<string, string>()
  private readonly base = new Map<string, bigint>()
  /** By currency: what the files and the list of differences have, and what the books moved. */
  private readonly booked = new Map<string, Fingerprint>()
  private readonly moved = new Map<string, Fingerprint>()
  private listed = false

  constructor(
    { name, reader }: { readonly name: string; readonly reader: Reader },
    manifest: Manifest,
    accounts: ReadonlyArray<ExpectedAccount>,
  ) {
    this.format = name
    this.reader = reader
    this.manifest = manifest
    this.accounts = accounts
    this.side = { name, own: new Fingerprint(), read: async () => undefined, expected: () => undefined }
    for (const { account, mapped } of accounts) {
      const own = mapped[name]
      if (own !== undefined) this.names.set(nameOf(account), own)
    }
  }

  private add(journal: string, account: string, currency: string, amount: bigint, base: bigint): void {
    this.base.set(account, (this.base.get(account) ?? 0n) + base)
    if (currency !== this.manifest.base?.currency) {
      printOf(this.booked, currency).add(journal, account, amount)
    }
  }

  /** Reads one of the files. */
  async read(chunks: AsyncIterable<Buffer>, file: FileRecord, problems: Problems): Promise<void> {
    const context = contextOf(file, this.manifest)
    if (context === undefined) return
    const { scope } = this.manifest
    const known = new Set(this.names.values())
    let journal = ""
    let sum = 0n
    const end = (line: number) => {
      if (sum !== 0n) problems.add(file.name, line, `the journal ${journal} does not balance`)
      sum = 0n
    }
    const check = (each: Booked, line: number): void => {
      if (each.journal !== journal) end(line - 1)
      journal = each.journal
      sum += each.amount
      if (!known.has(each.account)) {
        problems.add(file.name, line, `the account ${each.account} is not in the manifest`)
      }
      if ((scope.from !== null && each.date < scope.from) || (scope.to !== null && each.date > scope.to)) {
        problems.add(file.name, line, `the date ${each.date} is outside the scope ${scope.text}`)
      }
      this.add(each.journal, each.account, each.currency, each.amount, each.base ?? 0n)
    }
    const rows = await readTable(chunks, this.reader, context, (found, line) => {
      if (typeof found === "string") problems.add(file.name, line, found)
      else for (const each of found) check(each, line)
    })
    end(rows + 1)
    if (rows !== file.rows) problems.add(file.name, null, `has ${rows} rows, the manifest says ${file.rows}`)
    if (rows > context.layout.rowsPerFile) {
      problems.add(file.name, null, `has ${rows} rows, the format takes ${context.layout.rowsPerFile}`)
    }
  }

  /** Reads how the files differ from the base-currency journal. */
  async readDifferences(chunks: AsyncIterable<Buffer>, file: FileRecord, problems: Problems): Promise<void> {
    this.listed = true
    const rows = await readCsv(chunks, file.name, differenceColumns, problems, (row, line) => {
      const cell = (column: (typeof differenceColumns)[number]) => row.cell(differenceColumns.indexOf(column))
      try {
        const [amount, base] = [exact(cell("amount"), "."), exact(cell("base_amount"), ".")]
        this.add(journalOf(cell("journal_number"), "detail"), cell("account"), cell("currency"), amount, base)
      } catch (cause) {
        if (!(cause instanceof Unreadable)) throw cause
        problems.add(file.name, line, cause.message)
      }
    })
    if (rows !== file.rows) problems.add(file.name, null, `has ${rows} rows, the manifest says ${file.rows}`)
  }

  /** A line of the books. */
  addNative({ amount, code, currency, journal, name }: NativeRow): void {
    const own = this.names.get(nameOf({ code, name }))
    if (own === undefined || currency === this.manifest.base?.currency) return
    printOf(this.moved, currency).add(journal, own, amount)
  }

  /** In a currency that the system cannot say, neither the files nor the list have anything: it is in the base currency alone. */
  private hasAmountsMoved(): boolean {
    return [...this.booked].every(
      ([currency, booked]) => booked.differences(printOf(this.moved, currency)).size === 0,
    )
  }

  /** Once all files have been read. */
  finish(problems: Problems): void {
    const expected = new Map<string, bigint>()
    for (const { account, credit, debit, mapped } of this.accounts) {
      const own = mapped[this.format]
      if (own === undefined) continue
      const net = (debit - credit) * 10n ** BigInt(scale - account.scale)
      expected.set(own, (expected.get(own) ?? 0n) + net)
    }
    for (const [account, net] of expected) {
      if ((this.base.get(account) ?? 0n) !== net) {
        problems.add(
          this.format,
          null,
          `${account} does not add up to the manifest's totals in the base currency`,
        )
      }
    }
    if (!this.hasAmountsMoved()) {
      problems.add(this.format, null, "its amounts are not those of native_movements.csv")
    }
    if (!this.listed) problems.add(manifestFile, null, `names no differences of ${this.format}`)
  }
}
