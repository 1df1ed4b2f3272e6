import { beancount } from "./Beancount.ts"
import type { Format } from "./Format.ts"
import { hledger } from "./Hledger.ts"
import { journal } from "./JournalCsv.ts"
import { ledger } from "./LedgerCli.ts"
import { nativeMovements } from "./NativeMovements.ts"
import { businessCentral } from "./Profiles/BusinessCentral.ts"
import { datev } from "./Profiles/Datev.ts"
import { intacct } from "./Profiles/Intacct.ts"
import { netsuite } from "./Profiles/NetSuite.ts"
import { qbo } from "./Profiles/QuickBooks.ts"
import { sage50 } from "./Profiles/Sage50.ts"
import { xero } from "./Profiles/Xero.ts"
import type { Profile } from "./Table/Profile.ts"
import { trialBalance } from "./TrialBalance.ts"

/** Formats of one file, in the books' own accounts and currencies, by the name that `--format` takes. */
const single = { journal, hledger, ledger, beancount, "trial-balance": trialBalance } as const

/** Formats of accounting systems: files per currency, in the system's accounts. */
const profiles = {
  xero,
  qbo,
  netsuite,
  intacct,
  sage50,
  "business-central": businessCentral,
  datev,
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
  "qbo",
  "netsuite",
  "intacct",
  "sage50",
  "business-central",
  "datev",
]

export const formatNames: ReadonlyArray<FormatName> = [...singleNames, ...tableNames]

export const isTable = (name: string): name is TableName => Object.hasOwn(profiles, name)

const isSingle = (name: string): name is SingleName => Object.hasOwn(single, name)

export const isFormatName = (name: string): name is FormatName => isTable(name) || isSingle(name)

export const singles = (names: ReadonlyArray<FormatName>): ReadonlyArray<Format> =>
  names.filter(isSingle).map((name) => single[name])

export const profileOf = (name: TableName): Profile => profiles[name]

const escaped = (text: string): string => text.replaceAll(".", "\\.")

const filePatterns: ReadonlyArray<RegExp> = [
  ...[...Object.values(single), nativeMovements].map(({ file }) => new RegExp(`^${escaped(file)}$`)),
  ...Object.values(profiles).map(({ file }) => {
    const any = escaped(file)
      .replace("{currency}", "[A-Z0-9]+")
      .replace("{period}", "\\d{4}-\\d{2}")
      .replace("{part}", "(?:-\\d+)?")
    return new RegExp(`^${any}$`)
  }),
]

/** Whether some format writes files of that name. */
export const isFormatFile = (name: string): boolean => filePatterns.some((pattern) => pattern.test(name))
