/** The cells of import files that several systems share; a system's own cells are defined with its format. */
import { print } from "../../Common/MinorUnits.ts"
import { isUuidInAnyCase } from "../../Common/Uuid.ts"
import type { Entry } from "../Entry.ts"
import { dated, numbered, unsigned as withoutSign } from "./Amount.ts"
import { fitted, isHoldable } from "./CellText.ts"
import { described } from "./Description.ts"
import type { NamedJournal } from "./Journals.ts"
import type { Cell, Column, Profile, Row, Setup } from "./Profile.ts"

type Fill = Cell["fill"]

export const plain = (fill: Fill): Cell => ({ kind: "plain", fill })
export const text = (fill: Fill): Cell => ({ kind: "text", fill })
export const name = (fill: Fill): Cell => ({ kind: "name", fill })

const amount: Fill = ({ journal, minor }, { profile }) => withoutSign(minor, journal, profile)

/** The journal's number as the format's file has it: shortened where it has no room, its currency behind it where that tells journals apart. */
export const fileNumber = (
  { currency, mode, number: full, several = false }: NamedJournal,
  profile: Profile,
): string => {
  const end = several && profile.numberWithCurrency === true ? `-${currency}` : ""
  return `${numbered(full, profile.number - end.length, mode === "summary")}${end}`
}

const numberOf: Fill = ({ journal }, { profile }) => fileNumber(journal, profile)

/** The journal's rate; 1 in the base currency. */
export const rate = plain(({ journal }, { profile }) => {
  const { rates } = profile
  if (journal.rate === null || journal.rate === undefined || rates === undefined) return "1"
  return print(journal.rate, rates.decimals).replace(".", profile.decimals.mark)
})
/** The value in the base currency, without a sign. */
export const baseAmount = plain(({ base, journal }, { baseCurrency, profile }) =>
  withoutSign(base, { currency: baseCurrency, number: journal.number, scale: 2 }, profile),
)
/** The content of a cell that only a journal in a foreign currency has. */
export const inForeign = ({ fill, ...cell }: Cell): Cell => ({
  ...cell,
  fill: (row, setup) => (row.journal.currency === setup.baseCurrency ? "" : fill(row, setup)),
})

export const date = plain(({ journal }, { profile }) => dated(journal.date, profile.date))
export const signed = plain((row, setup) => `${row.minor < 0n ? "-" : ""}${amount(row, setup)}`)
export const unsigned = plain(amount)
export const debit = plain((row, setup) => (row.minor > 0n ? amount(row, setup) : ""))
export const credit = plain((row, setup) => (row.minor < 0n ? amount(row, setup) : ""))

/** A debit or credit that is zero where the line is of the other side. */
export const otherSide = ({ fill, ...cell }: Cell): Cell => ({
  ...cell,
  fill: (row, setup) => fill(row, setup) || `0${setup.profile.decimals.mark}00`,
})

export const number = name(numberOf)
/** The narration, starting with the number: in some systems it alone groups a journal's rows. */
export const narration = text(
  (row, setup) => `${numberOf(row, setup)} ${row.journal.kind.replaceAll("_", " ")}`,
)

const describedIn = (
  template: string,
  entry: Entry,
  { encoding, personalData, text: rule }: Profile,
): string =>
  described(template, entry, {
    personalData,
    isHoldable: (value) => isHoldable(value, { encoding, without: rule.without }),
  })

/** The text of a template for a journal's entry; empty in a summary. */
export const templated = (template: string): Cell => ({
  ...text(({ journal: { entry } }, { profile }) =>
    entry === null ? "" : describedIn(template, entry, profile),
  ),
  optional: true,
})

const summaryText = (
  { description: whole, shorter = [] }: Row["journal"],
  { text: { most } }: Profile,
): string => [whole, ...shorter].find(({ length }) => length <= most) ?? shorter.at(-1) ?? whole

export const description = text(({ journal }, { profile }) =>
  journal.entry === null
    ? summaryText(journal, profile)
    : describedIn(profile.description, journal.entry, profile),
)

/** A movement's reference as the file has it; empty where a cell has no room for all of it, since a part of it would be another one. */
export const wholeReference = (
  reference: string | null | undefined,
  most: number,
  { encoding, text: { without } }: Profile,
): string => {
  const whole = fitted(reference ?? "", { encoding, without, most: Number.POSITIVE_INFINITY }, "")
  const own = isUuidInAnyCase(whole) && whole.length > most ? whole.replaceAll("-", "") : whole
  return own.length > most ? "" : own
}

export const account = name(({ mapped }) => mapped.account)
export const dimension = name(({ mapped }) => mapped.dimension)
export const currency = name(({ journal }) => journal.currency)

/** The content of a text or name cell, made to fit. */
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
  return fitted(content, { encoding, without: rule.without, drop, most: most ?? rule.most }, instead)
}
