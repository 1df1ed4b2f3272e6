/** A row as an accounting system would book it, and the cell parsers that all readers share. */
import { type Cell, Unreadable } from "./LineCells.ts"

/** A line of a journal: an exact amount in 10⁻¹⁸ of the currency, debit positive. */
export interface Booked {
  /** `2026-10-000007`: the journal number without the book's code, in whichever form the format writes it. */
  readonly journal: string
  /** `YYYY-MM-DD` */
  readonly date: string
  readonly account: string
  readonly currency: string
  readonly amount: bigint
  /** In 10⁻¹⁸ of the base currency, where the file has rates. */
  readonly base?: bigint
}

/** How the file was written, by the manifest, as far as a reader needs it. */
export interface FileContext {
  /** The order of a date's parts, and the decimal mark. */
  readonly layout: { readonly date: string; readonly decimalMark: string }
  /** The currency of all rows; empty where each row states its own. */
  readonly currency: string
  /** The service's account, for a bank statement. */
  readonly account: string
  readonly mode: "detail" | "summary"
  /** Of the manifest; empty where the books' own currencies are all that it has. */
  readonly baseCurrency: string
}

export const must = (holds: boolean, what: string): void => {
  if (!holds) throw new Unreadable(what)
}

export const scale = 18

/** An exact decimal with the layout's mark, without exponent, grouping or plus sign. */
export const exact = (text: string, mark: string): bigint => {
  const [, sign = "", whole = "", fraction = ""] =
    (mark === "," ? /^(-?)(0|[1-9]\d*)(?:,(\d{1,18}))?$/ : /^(-?)(0|[1-9]\d*)(?:\.(\d{1,18}))?$/).exec(
      text,
    ) ?? []
  must(whole !== "", `${JSON.stringify(text)} is no amount`)
  const value = BigInt(whole + fraction.padEnd(scale, "0"))
  return sign === "-" ? -value : value
}

const unit = 10n ** BigInt(scale)
const cent = 10n ** BigInt(scale - 2)

/** The base amount that a system books for an amount at a rate: to the cent, a half away from zero. */
export const atRate = (amount: bigint, rate: string, mark: string): bigint => {
  const size = (amount < 0n ? -amount : amount) * exact(rate, mark)
  const cents = (size * 2n + cent * unit) / (cent * unit * 2n)
  return (amount < 0n ? -cents : cents) * cent
}

const notZero = (amount: bigint): bigint => {
  must(amount !== 0n, "the amount is zero")
  return amount
}

export const signed = (text: string, mark: string): bigint => notZero(exact(text, mark))

export const positive = (text: string, mark: string): bigint => {
  const amount = exact(text, mark)
  must(amount > 0n, `${JSON.stringify(text)} is not positive`)
  return amount
}

/** Exactly one of the two is filled, and positive. */
export const debitOrCredit = (debit: string, credit: string, mark: string): bigint => {
  must((debit === "") !== (credit === ""), "exactly one of debit and credit must be filled")
  return debit === "" ? -positive(credit, mark) : positive(debit, mark)
}

const orders: Readonly<Record<string, RegExp>> = {
  iso: /^(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})$/,
  YYYYMMDD: /^(?<year>\d{4})(?<month>\d{2})(?<day>\d{2})$/,
  "DD/MM/YYYY": /^(?<day>\d{2})\/(?<month>\d{2})\/(?<year>\d{4})$/,
  "MM/DD/YYYY": /^(?<month>\d{2})\/(?<day>\d{2})\/(?<year>\d{4})$/,
  "DD.MM.YYYY": /^(?<day>\d{2})\.(?<month>\d{2})\.(?<year>\d{4})$/,
  long: /^(?<day>\d{2}) (?<name>[A-Z][a-z]{2}) (?<year>\d{4})$/,
}

const monthNames = "JanFebMarAprMayJunJulAugSepOctNovDec"

/** An existing calendar day as `YYYY-MM-DD`. */
export const dateOf = (text: string, order: string): string => {
  const { day = "", month, name = "?", year = "" } = orders[order]?.exec(text)?.groups ?? {}
  const number = month ?? String(monthNames.indexOf(name) / 3 + 1).padStart(2, "0")
  const date = `${year}-${number}-${day}`
  const time = Date.parse(`${date}T00:00:00Z`)
  const real = !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === date
  must(real, `${JSON.stringify(text)} is no date`)
  return date
}

/**
 * A journal number in full (`ORG-2026-10-000007`) or shortened (`ORG-2610-000007`), with an S where it is a summary's and a currency
 * where its entry has journals in several.
 */
export const journalOf = (text: string, mode: FileContext["mode"]): string => {
  const [, year = "", month = "", digits = "", end = ""] =
    /-(\d{4})-(\d{2})-(\d{6,})(S?)(?:-[A-Z]{3,8})?$/.exec(text) ??
    /-(\d{2})(\d{2})-(\d{6,})(S?)(?:-[A-Z]{3,8})?$/.exec(text) ??
    []
  must(digits !== "", `${JSON.stringify(text)} is no journal number`)
  must((end === "S") === (mode === "summary"), `${text} is not the number of a ${mode} journal`)
  return `${year.padStart(4, "20")}-${month}-${digits}`
}

/** The texts of a row of `count` cells, by position from 0. */
export const row = (cells: ReadonlyArray<Cell>, count: number): ((place: number) => string) => {
  must(cells.length === count, `has ${cells.length} cells, not ${count}`)
  return (place) => cells[place]?.text ?? ""
}
