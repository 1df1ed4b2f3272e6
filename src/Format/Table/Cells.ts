/** What can stand in a cell of an import file. */
import type { Formats } from "../FormatSettings.ts"
import { dated, numbered, unsigned } from "./Amount.ts"
import { fitted } from "./CellText.ts"
import type { TableJournal } from "./Journals.ts"
import type { Profile } from "./Profile.ts"

/** What an account is in the accounting system. */
export interface Mapped {
  readonly account: string
  readonly dimension: string
}

export interface Row {
  readonly journal: TableJournal
  /** From 1, among the journal's rows. */
  readonly place: number
  /** From 1, among the entry's lines; 0 where the row is no line of one. */
  readonly lineNumber: number
  readonly mapped: Mapped
  readonly contra: Mapped | undefined
  readonly minor: bigint
}

export interface Setup {
  readonly profile: Profile
  readonly settings: Formats
  readonly baseCurrency: string
}

type Fill = (row: Row, setup: Setup) => string

const number: Fill = ({ journal }, { profile }) =>
  numbered(journal.number, profile.number, journal.mode === "summary")

const amount: Fill = ({ journal, minor }, { profile }) => unsigned(minor, journal.scale, profile)

/** Digits, marks and codes: never quoted, never cut. */
export const plainCells = {
  date: ({ journal }, { profile }) => dated(journal.date, profile.date),
  place: ({ place }) => String(place),
  signed: (row, setup) => `${row.minor < 0n ? "-" : ""}${amount(row, setup)}`,
  unsigned: amount,
  debit: (row, setup) => (row.minor > 0n ? amount(row, setup) : ""),
  credit: (row, setup) => (row.minor < 0n ? amount(row, setup) : ""),
  accountDigits: ({ mapped }) => mapped.account,
  contraDigits: ({ contra }) => contra?.account ?? "",
  locked: (_, { settings }) => (settings.datev.locked ? "1" : "0"),
  lineNumber: ({ lineNumber }) => String(lineNumber),
  year: ({ journal }) => journal.period.slice(0, 4),
  month: ({ journal }) => String(Number(journal.period.slice(5))),
  indicator: ({ minor }) => (minor > 0n ? "D" : "C"),
  enteredDate: ({ journal }, { profile }) => dated(journal.recordedAt.slice(0, 10), profile.date),
  enteredTime: ({ journal }) => journal.recordedAt.slice(11, 19),
  department: ({ mapped }) => (/^\d{1,3}$/.test(mapped.dimension) ? mapped.dimension : "0"),
} as const satisfies Readonly<Record<string, Fill>>

const description: Fill = ({ journal }) => journal.description

/** Texts: cleaned, cut and quoted by the writer. */
export const textCells = {
  number,
  /** What groups the rows of a journal, where nothing else does: the number comes first. */
  narration: (row, setup) => `${number(row, setup)} ${row.journal.kind.replaceAll("_", " ")}`,
  /** The whole number, as the ledger gives it. */
  journalId: ({ journal }) => journal.number,
  header: ({ journal }) => journal.kind.replaceAll("_", " "),
  source: ({ journal }) => journal.sourceType,
  book: ({ journal }) => journal.number.replace(/-\d{4}-\d{2}-\d+$/, ""),
  payee: ({ journal }) => journal.counterparty ?? "",
  description,
  account: ({ mapped }) => mapped.account,
  dimension: ({ mapped }) => mapped.dimension,
  currency: ({ journal }) => journal.currency,
  foreignCurrency: ({ journal }, { baseCurrency }) =>
    journal.currency === baseCurrency ? "" : journal.currency,
  side: ({ minor }) => (minor > 0n ? "S" : "H"),
  sageType: ({ minor }) => (minor > 0n ? "JD" : "JC"),
  taxRate: (_, { settings }) => settings.xero.taxRate,
  tracking: ({ mapped }, { settings }) =>
    mapped.dimension === "" || settings.xero.tracking === null ? "" : settings.xero.tracking,
  trackingOption: ({ mapped }, { settings }) => (settings.xero.tracking === null ? "" : mapped.dimension),
  subsidiary: (_, { settings }) => settings.netsuite.subsidiary ?? "",
  intacctJournal: (_, { settings }) => settings.intacct.journal,
  location: (_, { settings }) => settings.intacct.location ?? "",
} as const satisfies Readonly<Record<string, Fill>>

/** Texts that name something: one that does not fit as it is would name another. */
const names: ReadonlySet<string> = new Set([
  "number",
  "journalId",
  "source",
  "book",
  "account",
  "dimension",
  "currency",
  "foreignCurrency",
  "taxRate",
  "tracking",
  "trackingOption",
  "subsidiary",
  "intacctJournal",
  "location",
])

export type PlainCell = keyof typeof plainCells
export type TextCell = keyof typeof textCells
export type Cell = PlainCell | TextCell

export const isPlain = (cell: Cell): cell is PlainCell => Object.hasOwn(plainCells, cell)

/** A text cell's content, made to fit. */
export const textOf = (cell: TextCell, most: number | undefined, row: Row, setup: Setup): string => {
  const { encoding, text } = setup.profile
  const own = textCells[cell](row, setup)
  if (names.has(cell) || (cell === "payee" && own === "")) return own
  return fitted(own, { encoding, ...text, most: most ?? text.most }, row.journal.kind)
}
