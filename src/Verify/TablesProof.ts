/** Converts an accounting system's files back and compares them with the manifest's control totals. */

import { join } from "node:path"
import { chunksOf } from "../Common/Files/RegularFile.ts"
import type { Problems } from "../Common/Problems.ts"
import { type FileRecord, type Manifest, manifestFile } from "../Export/Batch/Manifest.ts"
import { leftOut } from "../Format/FormatSettings.ts"
import { type Booked, scale } from "../Format/Reading/Booked.ts"
import type { TableFormat } from "../Format/Table/Define.ts"
import type { ExpectedAccount } from "./AccountsProof.ts"
import { Fingerprint } from "./Fingerprint.ts"
import type { Side } from "./JournalComparison.ts"
import { RatedProof } from "./RatedProof.ts"
import { readSummaryEntries } from "./SummaryFile.ts"
import { contextOf, readTable, type TableContext } from "./TableFile.ts"

interface Sum {
  debit: bigint
  credit: bigint
}

const keyOf = (currency: string, account: string): string => `${currency}\n${account}`

const add = (sums: Map<string, Sum>, key: string, debit: bigint, credit: bigint): void => {
  const sum = sums.get(key) ?? { debit: 0n, credit: 0n }
  sum.debit += debit
  sum.credit += credit
  sums.set(key, sum)
}

/** Pairs of account and contra account show an account's net amount, not its debits and credits. */
const netOf = ({ credit, debit }: Sum): Sum => ({ debit: debit - credit, credit: 0n })

/** The currencies that the format's files leave out. */
const lacking = (format: TableFormat, { tables }: Manifest): ReadonlySet<string> =>
  new Set(leftOut(format, { leaveOut: tables?.leftOut ?? [] }))

/** The expected sums of a format's accounts. */
const statedSums = (
  format: TableFormat,
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
): Map<string, Sum> => {
  const sums = new Map<string, Sum>()
  const without = lacking(format, manifest)
  const unit = (minor: bigint, ownScale: number) => minor * 10n ** BigInt(scale - ownScale)
  if (format.reader.holds === "movements") {
    for (const { account, amount, currency } of manifest.statements ?? []) {
      const [whole = "", fraction = ""] = amount.split(".")
      if (!without.has(currency)) {
        add(sums, keyOf(currency, account), BigInt(whole + fraction.padEnd(scale, "0")), 0n)
      }
    }
    return sums
  }
  for (const { account, credit, debit, mapped } of accounts) {
    const name = mapped[format.name]
    if (name === undefined || without.has(account.currency)) continue
    add(sums, keyOf(account.currency, name), unit(debit, account.scale), unit(credit, account.scale))
  }
  return sums
}

/** A journal's lines follow one another and come to zero in each currency. */
class Balance {
  private key = ""
  private sum = 0n
  private line = 0
  private readonly uneven: (journal: string, line: number) => void

  constructor(uneven: (journal: string, line: number) => void) {
    this.uneven = uneven
  }

  next({ amount, currency, journal }: Booked, line: number): void {
    const key = `${journal} (${currency})`
    if (key !== this.key) {
      this.end()
      this.key = key
      this.line = line
    }
    this.sum += amount
  }

  end(): void {
    if (this.sum !== 0n) this.uneven(this.key, this.line)
    this.sum = 0n
  }
}

interface TableFile {
  readonly file: FileRecord
  readonly context: TableContext
}

/** Proves all files of one format: each as it is read, and their sums once all have been. */
export class TableProof {
  readonly side: Side
  private readonly folder: string
  private readonly format: TableFormat
  private readonly manifest: Manifest
  private readonly stated: Map<string, Sum>
  private readonly found = new Map<string, Sum>()
  private readonly summary: boolean
  /** Journal by journal, in the files and in the list of entries beside them. */
  private readonly summed = new Fingerprint()
  private readonly entries = new Fingerprint()
  private hasEntries = false
  /** The files that exist. */
  private readonly files: Array<TableFile> = []

  constructor(
    folder: string,
    format: TableFormat,
    manifest: Manifest,
    accounts: ReadonlyArray<ExpectedAccount>,
  ) {
    this.folder = folder
    this.format = format
    this.manifest = manifest
    this.stated = statedSums(format, manifest, accounts)
    this.summary = manifest.tables?.mode === "summary" && format.reader.perEntry !== true
    this.side = this.sideOf()
  }

  private groupOf(journal: string, date: string): string {
    if (!this.summary) return `${journal} of ${date}`
    return this.manifest.tables?.summary?.by === "month" ? date.slice(0, 7) : date
  }

  private sideOf(): Side {
    const { book } = this.manifest
    const { name: formatName, reader } = this.format
    const without = lacking(this.format, this.manifest)
    return {
      name: formatName,
      own: new Fingerprint(),
      read: async (visit) => {
        for (const { context, file } of this.files) {
          const chunks = chunksOf(join(this.folder, file.name), file.bytes)
          await readTable(chunks, reader, context, (booked, line) => {
            if (typeof booked === "string") return
            for (const { account, amount, currency, date, journal } of booked) {
              const group = this.groupOf(journal, date)
              visit({ group, account: keyOf(currency, account), amount }, file.name, line)
            }
          })
        }
      },
      // A format may cut the book's code, and with it the mark of the base-currency journal's own numbers: equal numbers of
      // both
      // series are compared in sum.
      expected: ({ account: { account, mapped }, head }) => {
        if (without.has(account.currency)) return undefined
        const statement = reader.holds === "movements"
        if (statement && (account.role !== "cash" || head.sourceType !== "statement_entry")) return undefined
        const name = statement ? account.partnerAccountId : mapped[formatName]
        const group = this.groupOf(head.number.slice(book.code.length + 1).replace(/^FX-/, ""), head.date)
        return { group, account: keyOf(account.currency, name ?? account.code) }
      },
    }
  }

  /** Reads one of the files. */
  async read(chunks: AsyncIterable<Buffer>, file: FileRecord, problems: Problems): Promise<void> {
    const { scope } = this.manifest
    const { name, rows: stated } = file
    const context = contextOf(file, this.manifest)
    if (context === undefined) return
    this.files.push({ file, context })
    const { reader } = this.format
    const balance = new Balance((journal, line) =>
      problems.add(name, line, `the journal ${journal} does not balance`),
    )
    const check = (booked: Booked, line: number): void => {
      const { account, amount, currency, date, journal } = booked
      const key = keyOf(currency, account)
      if (!this.stated.has(key)) {
        problems.add(name, line, `the account ${account} (${currency}) is not in the manifest`)
      }
      if ((scope.from !== null && date < scope.from) || (scope.to !== null && date > scope.to)) {
        problems.add(name, line, `the date ${date} is outside the scope ${scope.text}`)
      }
      add(this.found, key, amount > 0n ? amount : 0n, amount < 0n ? -amount : 0n)
      if (reader.holds !== "movements") balance.next(booked, line)
      this.side.own.add(this.groupOf(journal, date), key, amount)
      if (this.summary) this.summed.add(journal, key, amount)
    }
    const rows = await readTable(chunks, reader, context, (booked, line) => {
      if (typeof booked === "string") problems.add(name, line, booked)
      else for (const each of booked) check(each, line)
    })
    balance.end()
    if (rows !== stated) problems.add(name, null, `has ${rows} rows, the manifest says ${stated}`)
    if (rows > context.layout.rowsPerFile) {
      problems.add(name, null, `has ${rows} rows, the format takes ${context.layout.rowsPerFile}`)
    }
  }

  /** Reads the entries behind the summaries. */
  async readEntries(chunks: AsyncIterable<Buffer>, file: FileRecord, problems: Problems): Promise<void> {
    this.hasEntries = true
    await readSummaryEntries(chunks, file, problems, ({ account, amount, currency, journal }) =>
      this.entries.add(journal, keyOf(currency, account), amount),
    )
  }

  /** Once all files have been read. */
  finish(problems: Problems): void {
    const { name, reader } = this.format
    const net = this.manifest.tables?.summary?.net === true
    if (this.hasEntries && this.summed.differences(this.entries).size > 0) {
      problems.add(name, null, "its summaries do not add up to the entries listed beside them")
    }
    for (const [key, expected] of this.stated) {
      const own = this.found.get(key) ?? { debit: 0n, credit: 0n }
      const [a, b] = reader.holds === "lines" && !net ? [own, expected] : [netOf(own), netOf(expected)]
      if (a.debit === b.debit && a.credit === b.credit) continue
      problems.add(name, null, `${key.replace("\n", " ")} does not add up to the manifest's totals`)
    }
  }
}

/**
 * The proof of a format's files; none for a batch of an older version that does not record how to read them, whose files are
 * proved by their checksums alone.
 */
export const tableProof = (
  folder: string,
  format: TableFormat,
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
  problems: Problems,
): TableProof | RatedProof | undefined => {
  if (manifest.formatVersion === 1) return undefined
  if (manifest.tables?.rated === true && format.rated !== null) {
    return new RatedProof({ name: format.name, reader: format.rated.reader }, manifest, accounts)
  }
  if (manifest.tables?.layouts?.[format.name] !== undefined) {
    return new TableProof(folder, format, manifest, accounts)
  }
  problems.add(manifestFile, null, `does not say how the files of ${format.name} are read`)
  return undefined
}
