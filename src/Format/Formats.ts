/**
 * Every export format, each one object: lists, help, completions, settings, mapping columns and `verify` follow from it. A new
 * one is a folder here (the format, and its reader in a file of its own), its place in the registry, and its test.
 */

import { accompanyingFiles } from "./AccompanyingFiles.ts"
import type { BankStatementFormat } from "./BankStatement.ts"
import { businessCentral } from "./BusinessCentral/BusinessCentral.ts"
import { camt053 } from "./Camt053/Camt053.ts"
import { journal } from "./Csv/JournalCsv.ts"
import { trialBalance } from "./Csv/TrialBalanceCsv.ts"
import { datev } from "./Datev/Datev.ts"
import { fec } from "./Fec/Fec.ts"
import type { PlainFormat } from "./Format.ts"
import { glDetail } from "./GlDetail/GlDetail.ts"
import { intacct } from "./Intacct/Intacct.ts"
import { netsuite } from "./NetSuite/NetSuite.ts"
import { parquet } from "./Parquet/Parquet.ts"
import { beancount } from "./PlainText/Beancount.ts"
import { hledger } from "./PlainText/Hledger.ts"
import { ledger } from "./PlainText/LedgerCli.ts"
import { qbo } from "./QuickBooks/QuickBooks.ts"
import { sage50 } from "./Sage50/Sage50.ts"
import { sie } from "./Sie/Sie.ts"
import type { TableFormat } from "./Table/Define.ts"
import { xero } from "./Xero/Xero.ts"
import { xeroStatement } from "./Xero/XeroStatement.ts"

/** In the order of every list that names them, and of the mapping's columns. */
const registry = [
  journal,
  hledger,
  ledger,
  beancount,
  trialBalance,
  parquet,
  xero,
  xeroStatement,
  qbo,
  netsuite,
  intacct,
  sage50,
  businessCentral,
  datev,
  glDetail,
  fec,
  sie,
  camt053,
] as const

export type AnyFormat = PlainFormat | TableFormat | BankStatementFormat
export type FormatName = (typeof registry)[number]["name"]

export const formats: ReadonlyArray<AnyFormat> = registry

export const formatNames: ReadonlyArray<FormatName> = registry.map(({ name }) => name)

const isTable = (format: AnyFormat): format is TableFormat => format.kind === "table"
const isBankStatement = (format: AnyFormat): format is BankStatementFormat => format.kind === "bank-statement"
const isPlain = (format: AnyFormat): format is PlainFormat => format.kind === "plain"

/** Formats in the books' own accounts and currencies, one file each. */
export const plainFormats: ReadonlyArray<PlainFormat> = formats.filter(isPlain)

/** Formats of accounting systems and auditors. */
export const tableFormats: ReadonlyArray<TableFormat> = formats.filter(isTable)

/** Formats of a bank's statements. */
const bankStatementFormats: ReadonlyArray<BankStatementFormat> = formats.filter(isBankStatement)

const byName: ReadonlyMap<string, AnyFormat> = new Map(formats.map((format) => [format.name, format]))

export const isFormatName = (name: string): name is FormatName => byName.has(name)

/** The format of that name, if there is one. */
export const formatOf = (name: string): AnyFormat | undefined => byName.get(name)

const formatsNamed = (names: ReadonlyArray<string>): ReadonlyArray<AnyFormat> =>
  names.flatMap((name) => byName.get(name) ?? [])

export const plainsOf = (names: ReadonlyArray<string>): ReadonlyArray<PlainFormat> =>
  formatsNamed(names).filter(isPlain)

export const tablesOf = (names: ReadonlyArray<string>): ReadonlyArray<TableFormat> =>
  formatsNamed(names).filter(isTable)

export const bankStatementsOf = (names: ReadonlyArray<string>): ReadonlyArray<BankStatementFormat> =>
  formatsNamed(names).filter(isBankStatement)

export const accumulates = (name: string): boolean => byName.get(name)?.accumulates ?? false

/** Whether any of the formats writes the provider's statement, too. */
export const needsStatement = (names: ReadonlyArray<string>): boolean =>
  formatsNamed(names).some(({ besideStatement }) => besideStatement)

const escaped = (text: string): string => text.replaceAll(".", "\\.")

/** Matches the names of a format's files, whose prefix alone is fixed by the format. */
const filePattern = (file: string): RegExp =>
  new RegExp(`^${escaped(file.split("{", 1)[0] ?? "")}[A-Za-z0-9_.-]*\\.(?:csv|txt|xml)$`)

const exactly = (file: string): RegExp =>
  new RegExp(
    `^${escaped(file)
      .replaceAll(/\{(?:from|to)\}/g, "\\d{8}")
      .replace("{format}", "[a-z0-9-]+")}$`,
  )

/** Of the file names of a plain format, and of the files that accompany an export: by the name of the manifest. */
const exactPatterns: ReadonlyMap<string, RegExp> = new Map(
  [...Object.values(accompanyingFiles), ...plainFormats].map(({ file, name }) => [name, exactly(file)]),
)

/** Whether files of a format, or of those that accompany an export, never have such a name. */
export const isForeignTo = (format: string, name: string): boolean =>
  exactPatterns.get(format)?.test(name) === false

const filePatterns: ReadonlyArray<RegExp> = [
  ...exactPatterns.values(),
  ...tableFormats.map((format) => format.filePattern ?? filePattern(format.template.file)),
  ...bankStatementFormats.map(({ file }) => filePattern(file)),
]

/** Whether a format writes files with such a name. */
export const isFormatFile = (name: string): boolean => filePatterns.some((pattern) => pattern.test(name))
