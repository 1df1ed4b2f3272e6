/** The layout of an accounting system's import file, as data: one writer serves all systems. */

import type { Encoding } from "../Encoding.ts"
import type { TableJournal } from "./Journals.ts"

/** `long` is 31 Oct 2026; `DDMM` has no year. */
export type DateStyle = "iso" | "YYYYMMDD" | "DD/MM/YYYY" | "MM/DD/YYYY" | "DD.MM.YYYY" | "long" | "DDMM"

export interface Column {
  readonly header: string
  /** The source of its content; absent: always empty. */
  readonly cell?: Cell
  /** Always this text. */
  readonly constant?: string
  /** Only on the first row of a journal. */
  readonly first?: true
  /** The most characters; absent: the profile's limit. */
  readonly most?: number
  /** Characters that are left out of this text. */
  readonly drop?: RegExp
  /** An empty text is written as `""`, not as nothing. */
  readonly emptyQuoted?: true
}

/** What encloses the rows of each journal, where a journal is a block. */
export interface Frame {
  /** The cells of the line before, filled from the journal's first row. */
  readonly columns: ReadonlyArray<Column>
  /** A line each, after that one and after the last row. */
  readonly open: string
  readonly close: string
}

/** The file that a preamble is for. */
export interface PreambleOf {
  readonly book: { readonly code: string; readonly name: string }
  /** Of the system, each once, ordered, with the books' name of the first that it stands for. */
  readonly accounts: ReadonlyArray<{ readonly account: string; readonly name: string }>
  readonly period: string
  readonly currency: string
  readonly baseCurrency: string
  /** ISO 8601 in UTC. */
  readonly createdAt: string
  /** Its day in the book's time zone, `YYYY-MM-DD`. */
  readonly createdOn: string
  /** Of the product. */
  readonly version: string
}

/** How a system takes rates. */
export interface RateStyle {
  /** Decimals of a rate. */
  readonly decimals: number
  /** Digits before the decimal mark, at most. */
  readonly digits: number
  /** The least rate, in units of the last decimal. */
  readonly least: bigint
  /** Units of the foreign currency for one of the base currency; else the other way round. */
  readonly quantity: boolean
  /** The file states the amount in the base currency; else the system computes it from the rate. */
  readonly states: boolean
}

export interface Profile {
  /** Of the format. */
  readonly name: string
  /**
   * The file name. Its placeholders: `{currency}`, `{period}`, `{account}` (the service's identifier), `{from}` and `{to}`
   * (days as YYYYMMDD) and `{part}` (nothing where there is one file, else -01, -02 …).
   */
  readonly file: string
  readonly encoding: Encoding
  readonly delimiter: "," | ";" | "|" | "\t" | " "
  readonly lineEnd: "\n" | "\r\n"
  /** Whether every text is quoted, or only where it must be. */
  readonly quoteTexts: boolean
  readonly header: boolean
  readonly columns: ReadonlyArray<Column>
  readonly date: DateStyle
  readonly decimals: {
    /** Printed even where they are zero. */
    readonly least: number
    /** An amount with more is refused, never rounded. */
    readonly most: number
    readonly mark: "." | ","
  }
  /** Digits before the decimal mark. */
  readonly digits: number
  /** Characters of a text. */
  readonly text: { readonly most: number; readonly without?: RegExp }
  /** What a line says of its movement: a template (`Description.ts`). */
  readonly description: string
  /** Whether names and free texts of payments may stand in it. */
  readonly personalData: boolean
  /** Characters of a journal number, which names a journal to the importer and never changes. */
  readonly number: number
  readonly limits: { readonly rowsPerJournal: number; readonly rowsPerFile: number }
  /** Whether every month has a file of its own. */
  readonly filePerPeriod: boolean
  /** `line`: a row per line. `pair`: a row per account and contra account. */
  readonly row: "line" | "pair"
  /** `any`: as the export asks. `detail`: always a journal per entry. `statement`: a row per movement of a cash account. */
  readonly mode: "any" | "detail" | "statement"
  /**
   * The currencies that a file can express. `any`: each by its code. `official`: codes of three letters, so no stablecoins.
   * `base`: none, since there is no column for it, and every amount is taken as one in the base currency.
   */
  readonly currencies: "any" | "official" | "base"
  /** The only base currency that the format can be in; absent: any. */
  readonly baseCurrency?: string
  readonly frame?: Frame
  /** The lines before the header, each with its line ending. */
  readonly preamble?: (file: PreambleOf) => string
  /** A mistake in an account's name or dimension that the mapping's patterns do not catch; undefined: none. */
  readonly wrongAccount?: (mapped: Mapped) => string | undefined
  /** A journal number is written with the currency where its entry has journals in several: the system takes each number once. */
  readonly numberWithCurrency?: true
  /** The file has rates: journals in the currency that moved, with what they are worth in the base currency. */
  readonly rates?: RateStyle
  /** Required keys of the format's settings that are not set. */
  readonly lacks?: ReadonlyArray<string>
}

export const takesCurrency = (
  { currencies }: Pick<Profile, "currencies">,
  currency: string,
  baseCurrency: string,
): boolean => {
  if (currencies === "any") return true
  return currencies === "base" ? currency === baseCurrency : /^[A-Z]{3}$/.test(currency)
}

/** An account's name in the accounting system. */
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
  /** From 1, among the entry's lines; 0 where the row is not one of its lines. */
  readonly lineNumber: number
  readonly mapped: Mapped
  readonly contra: Mapped | undefined
  readonly minor: bigint
  /** In cents of the base currency, as the system has it; nothing where the file has no rates. */
  readonly base: bigint
}

export interface Setup {
  readonly profile: Profile
  /** The book's code. */
  readonly book: string
  readonly baseCurrency: string
  /** By account of the system. */
  readonly names: ReadonlyMap<string, string>
}

export interface Cell {
  /**
   * `plain`: digits, punctuation and codes, never quoted or cut. `text`: cleaned, cut and quoted. `name`: quoted like a text
   * but never changed, since a changed name would mean something else.
   */
  readonly kind: "plain" | "text" | "name"
  readonly fill: (row: Row, setup: Setup) => string
  /** The text may be empty, also where it does not fit; any other empty text becomes the journal's kind. */
  readonly optional?: true
}
