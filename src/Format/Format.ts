import type { Entry, OpenedAccount } from "./Entry.ts"
import type { PlainReading } from "./Reading/Plain.ts"
import type { Totals } from "./Totals.ts"

/** What a format knows before the first entry. */
export interface FormatContext {
  readonly book: { readonly code: string; readonly name: string }
  /** `2026-10`, `2026-10-01_2026-10-15`, `all`, `since-4`. */
  readonly scope: string
  /** First day of the scope; null where it has none (all, since). */
  readonly from: string | null
  /** Every account of the book, ordered by code, name and currency. */
  readonly accounts: ReadonlyArray<OpenedAccount>
}

/** Text, or the bytes of a format that is none. */
export type Content = string | Uint8Array

/** Turns entries into a file's content, a chunk at a time. Its memory may grow with accounts, never with entries. */
export interface Writer {
  /** `firstDate` is the effective date of the first entry; undefined where there is none. */
  readonly begin: (firstDate: string | undefined) => Content
  readonly write: (entries: ReadonlyArray<Entry>) => Content
  readonly end: (totals: Totals) => Content
  /** Records written so far: CSV rows without the header, or journal transactions. */
  readonly rows: () => number
}

/** A file written in one pass over the entries, in the books' own accounts and currencies. */
export interface SingleFile {
  readonly name: string
  readonly file: string
  /** `number`: by journal number. `date`: by effective date, then journal number. */
  readonly order: "number" | "date"
  /** Also receives entries whose lines are all worth zero, which no journal holds. */
  readonly takesAll?: true
  readonly open: (context: FormatContext) => Writer
}

/** A format of one file, which replaces the file before. */
export interface PlainFormat<Name extends string = string> extends SingleFile {
  readonly kind: "plain"
  /** The name for `--format`. */
  readonly name: Name
  /** A line for `tieout export --help`. */
  readonly description: string
  readonly accumulates: false
  /** Writes the provider's statement, too. */
  readonly besideStatement: boolean
  /** How `tieout verify` reads the file back. */
  readonly reading: PlainReading
}

type Definition<Name extends string> = Omit<PlainFormat<Name>, "kind" | "accumulates" | "besideStatement"> &
  Partial<Pick<PlainFormat, "besideStatement">>

export const definePlain = <const Name extends string>(own: Definition<Name>): PlainFormat<Name> => ({
  kind: "plain",
  accumulates: false,
  besideStatement: false,
  ...own,
})
