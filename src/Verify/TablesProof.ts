/** Converts an accounting system's files back and holds them against the manifest's control totals. */

import type { Problems } from "../Common/Problems.ts"
import { type FileRecord, type Manifest, manifestFile } from "../Export/Batch/Manifest.ts"
import { leftOut } from "../Format/FormatSettings.ts"
import { type Booked, scale } from "../Format/Reading/Booked.ts"
import type { TableFormat } from "../Format/Table/Define.ts"
import type { ExpectedAccount } from "./AccountsProof.ts"
import type { Side } from "./Beside.ts"
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

/** Pairs of account and contra account say what an account comes to, not how it came to it. */
const net = ({ credit, debit }: Sum): Sum => ({ debit: debit - credit, credit: 0n })

/** The currencies that none of a format's files has. */
const lacking = (format: TableFormat, { tables }: Manifest): ReadonlySet<string> =>
  new Set(leftOut(format, { leaveOut: tables?.leftOut ?? [] }))

/** What a format's accounts must come to, and which there are. */
const statedSums = (
  format: TableFormat,
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
): Map<string, Sum> => {
  const sums = new Map<string, Sum>()
  const without = lacking(format, manifest)
  const unit = (minor: bigint, of: number) => minor * 10n ** BigInt(scale - of)
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

const checkFile = async (
  folder: string,
  { name, rows: stated }: FileRecord,
  { reader }: TableFormat,
  context: TableContext,
  { scope }: Manifest,
  found: Map<string, Sum>,
  known: ReadonlyMap<string, Sum>,
  problems: Problems,
): Promise<void> => {
  const balance = new Balance((journal, line) =>
    problems.add(name, line, `the journal ${journal} does not balance`),
  )
  const check = (booked: Booked, line: number): void => {
    const { account, amount, currency, date } = booked
    if (!known.has(keyOf(currency, account))) {
      problems.add(name, line, `the account ${account} (${currency}) is none that the manifest names`)
    }
    if ((scope.from !== null && date < scope.from) || (scope.to !== null && date > scope.to)) {
      problems.add(name, line, `the date ${date} is outside the scope ${scope.text}`)
    }
    add(found, keyOf(currency, account), amount > 0n ? amount : 0n, amount < 0n ? -amount : 0n)
    if (reader.holds !== "movements") balance.next(booked, line)
  }
  const rows = await readTable(folder, name, reader, context, (booked, line) => {
    if (typeof booked === "string") problems.add(name, line, booked)
    else for (const each of booked) check(each, line)
  })
  balance.end()
  if (rows !== stated) problems.add(name, null, `has ${rows} rows, the manifest says ${stated}`)
  if (rows > context.layout.rowsPerFile) {
    problems.add(name, null, `has ${rows} rows, the format takes ${context.layout.rowsPerFile}`)
  }
}

interface TableFile {
  readonly file: FileRecord
  readonly context: TableContext
}

const sideOf = (
  folder: string,
  format: TableFormat,
  files: ReadonlyArray<TableFile>,
  manifest: Manifest,
): Side => {
  const { book, tables } = manifest
  const { name: formatName, reader } = format
  const summary = tables?.mode === "summary" && reader.perEntry !== true
  const without = lacking(format, manifest)
  const groupOf = (journal: string, date: string) => (summary ? date : `${journal} of ${date}`)
  return {
    name: formatName,
    read: async (visit) => {
      for (const { context, file } of files) {
        await readTable(folder, file.name, reader, context, (booked, line) => {
          if (typeof booked === "string") return
          for (const { account, amount, currency, date, journal } of booked) {
            visit(
              { group: groupOf(journal, date), account: keyOf(currency, account), amount },
              file.name,
              line,
            )
          }
        })
      }
    },
    // A format may have cut the code, and with it what tells the base-currency journal's own numbers apart: those of both
    // series that are the same are compared in sum.
    expected: ({ account: { account, mapped }, date, number, sourceType }) => {
      if (without.has(account.currency)) return undefined
      const statement = reader.holds === "movements"
      if (statement && (account.role !== "cash" || sourceType !== "statement_entry")) return undefined
      const name = statement ? account.partnerAccountId : mapped[formatName]
      const group = groupOf(number.slice(book.code.length + 1).replace(/^FX-/, ""), date)
      return { group, account: keyOf(account.currency, name ?? account.code) }
    },
  }
}

/**
 * Checks all files of one format. Returns how they are compared with the journal, where they can be; a batch of an older
 * version does not say how they are read, and its files are proved by their checksums.
 */
export const checkTable = async (
  folder: string,
  format: TableFormat,
  records: ReadonlyArray<FileRecord>,
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
  problems: Problems,
): Promise<Side | undefined> => {
  if (manifest.formatVersion === 1) return undefined
  const files = records.flatMap((file): ReadonlyArray<TableFile> => {
    const context = contextOf(file, manifest)
    return context === undefined ? [] : [{ file, context }]
  })
  if (manifest.tables?.layouts?.[format.name] === undefined) {
    problems.add(manifestFile, null, `does not say how the files of ${format.name} are read`)
    return undefined
  }
  const stated = statedSums(format, manifest, accounts)
  const found = new Map<string, Sum>()
  for (const { context, file } of files) {
    await checkFile(folder, file, format, context, manifest, found, stated, problems)
  }
  const lineByLine = format.reader.holds === "lines"
  for (const [key, expected] of stated) {
    const own = found.get(key) ?? { debit: 0n, credit: 0n }
    const [a, b] = lineByLine ? [own, expected] : [net(own), net(expected)]
    if (a.debit === b.debit && a.credit === b.credit) continue
    problems.add(format.name, null, `${key.replace("\n", " ")} does not come to the manifest's totals`)
  }
  return sideOf(folder, format, files, manifest)
}
