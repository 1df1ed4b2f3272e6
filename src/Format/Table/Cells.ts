/** What can stand in a cell of an import file. Here is what several systems share; a system's own cells stand with its format. */
import type { Entry } from "../Entry.ts"
import { dated, numbered, unsigned as withoutSign } from "./Amount.ts"
import { fitted, isHoldable } from "./CellText.ts"
import { described } from "./Description.ts"
import type { TableJournal } from "./Journals.ts"
import type { Column, Profile } from "./Profile.ts"

/** What an account is in the accounting system. */
export interface Mapped {
  readonly account: string
  readonly dimension: string
}

export interface Row {
  readonly journal: TableJournal
  /** From 1, among the journal's rows. */
  readonly place: number
  /** From 1, among the rows of all files of the format. */
  readonly fileRow: number
  /** From 1, among the entry's lines; 0 where the row is no line of one. */
  readonly lineNumber: number
  readonly mapped: Mapped
  readonly contra: Mapped | undefined
  readonly minor: bigint
}

export interface Setup {
  readonly profile: Profile
  readonly baseCurrency: string
}

type Fill = (row: Row, setup: Setup) => string

export interface Cell {
  /**
   * `plain`: digits, marks and codes, never quoted and never cut. `text`: cleaned, cut and quoted. `name`: quoted as a text
   * is, but never changed: one that does not fit as it is would name something else.
   */
  readonly kind: "plain" | "text" | "name"
  readonly fill: Fill
  /** A text that may be empty, as it is where it does not fit; another one is then the journal's kind. */
  readonly optional?: true
}

export const plain = (fill: Fill): Cell => ({ kind: "plain", fill })
export const text = (fill: Fill): Cell => ({ kind: "text", fill })
export const name = (fill: Fill): Cell => ({ kind: "name", fill })

const amount: Fill = ({ journal, minor }, { profile }) => withoutSign(minor, journal, profile)

const numberOf: Fill = ({ journal }, { profile }) =>
  numbered(journal.number, profile.number, journal.mode === "summary")

export const date = plain(({ journal }, { profile }) => dated(journal.date, profile.date))
export const signed = plain((row, setup) => `${row.minor < 0n ? "-" : ""}${amount(row, setup)}`)
export const unsigned = plain(amount)
export const debit = plain((row, setup) => (row.minor > 0n ? amount(row, setup) : ""))
export const credit = plain((row, setup) => (row.minor < 0n ? amount(row, setup) : ""))

export const number = name(numberOf)
/** What groups the rows of a journal, where nothing else does: the number comes first. */
export const narration = text(
  (row, setup) => `${numberOf(row, setup)} ${row.journal.kind.replaceAll("_", " ")}`,
)

const describedIn = (template: string, entry: Entry, { encoding, personalData }: Profile): string =>
  described(template, entry, { personalData, isHoldable: (value) => isHoldable(value, encoding) })

/** What a template makes of a journal's entry; empty in a day's summary. */
export const templated = (template: string): Cell => ({
  ...text(({ journal: { entry } }, { profile }) =>
    entry === null ? "" : describedIn(template, entry, profile),
  ),
  optional: true,
})

export const description = text(({ journal }, { profile }) =>
  journal.entry === null ? journal.description : describedIn(profile.description, journal.entry, profile),
)
export const account = name(({ mapped }) => mapped.account)
export const dimension = name(({ mapped }) => mapped.dimension)
export const currency = name(({ journal }) => journal.currency)

/** The content of a text or a name, made to fit. */
export const textOf = (
  { fill, kind, optional }: Cell,
  { drop, most }: Pick<Column, "drop" | "most">,
  row: Row,
  setup: Setup,
): string => {
  const { encoding, text: rule } = setup.profile
  const content = fill(row, setup)
  if (kind === "name" || (optional === true && content === "")) return content
  const instead = optional === true ? "" : row.journal.kind
  const own = { ...(drop === undefined ? {} : { drop }), ...(most === undefined ? {} : { most }) }
  return fitted(content, { encoding, ...rule, ...own }, instead)
}
