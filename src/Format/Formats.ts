import { beancount } from "./Beancount.ts"
import { businessCentral } from "./BusinessCentral.ts"
import { datev } from "./Datev.ts"
import type { Format } from "./Format.ts"
import { glDetail } from "./GlDetail.ts"
import { hledger } from "./Hledger.ts"
import { intacct } from "./Intacct.ts"
import { journal } from "./JournalCsv.ts"
import { ledger } from "./LedgerCli.ts"
import { nativeMovements } from "./NativeMovements.ts"
import { netsuite } from "./NetSuite.ts"
import { qbo } from "./QuickBooks.ts"
import { sage50 } from "./Sage50.ts"
import type { Profile } from "./Table/Profile.ts"
import { trialBalance } from "./TrialBalanceCsv.ts"
import { xero } from "./Xero.ts"
import { xeroStatement } from "./XeroStatement.ts"

export const statementFile = "statement.csv"

/** Formats of one file, in the books' own accounts and currencies, by the name that `--format` takes. */
const single = { journal, hledger, ledger, beancount, "trial-balance": trialBalance } as const

/** Formats that are data: most are those of accounting systems, in their accounts, with a file per currency. */
const profiles = {
  xero,
  "xero-statement": xeroStatement,
  qbo,
  netsuite,
  intacct,
  sage50,
  "business-central": businessCentral,
  datev,
  "gl-detail": glDetail,
} as const

export type SingleName = keyof typeof single
export type TableName = keyof typeof profiles
export type FormatName = SingleName | TableName

export const singleNames: ReadonlyArray<SingleName> = [
  "journal",
  "hledger",
  "ledger",
  "beancount",
  "trial-balance",
]

const tableNames: ReadonlyArray<TableName> = [
  "xero",
  "xero-statement",
  "qbo",
  "netsuite",
  "intacct",
  "sage50",
  "business-central",
  "datev",
  "gl-detail",
]

export const formatNames: ReadonlyArray<FormatName> = [...singleNames, ...tableNames]

export const isTable = (name: string): name is TableName => Object.hasOwn(profiles, name)

/** What an accounting system adds to what it has: importing it twice books it twice. An auditor's file replaces the one before. */
export const accumulates = (name: string): boolean => isTable(name) && name !== "gl-detail"

const isSingle = (name: string): name is SingleName => Object.hasOwn(single, name)

export const isFormatName = (name: string): name is FormatName => isTable(name) || isSingle(name)

export const singles = (names: ReadonlyArray<FormatName>): ReadonlyArray<Format> =>
  names.filter(isSingle).map((name) => single[name])

/** The provider's statement stands beside what it proves. */
export const needsStatement = (names: ReadonlyArray<FormatName>): boolean =>
  names.some((name) => name === "journal" || name === "xero-statement")

export const profileOf = (name: TableName): Profile => profiles[name]

/** What was recorded since the time that an export asks about: `src/Export/Difference.ts`. */
export const differenceFile = "difference.csv"
export const differenceFormat = "difference"

const escaped = (text: string): string => text.replaceAll(".", "\\.")

/** What each name of a format's files begins with, whatever the settings make of the rest. */
const filePrefix = (name: TableName): string => profiles[name].file.split("{", 1)[0] ?? ""

const filePatterns: ReadonlyArray<RegExp> = [
  ...[
    statementFile,
    differenceFile,
    ...[...Object.values(single), nativeMovements].map(({ file }) => file),
  ].map((file) => new RegExp(`^${escaped(file)}$`)),
  ...tableNames.map((name) => new RegExp(`^${filePrefix(name)}[A-Za-z0-9_.-]*\\.(?:csv|txt)$`)),
]

/** Whether some format writes files of that name. */
export const isFormatFile = (name: string): boolean => filePatterns.some((pattern) => pattern.test(name))
