import type { Entry, OpenedAccount } from "./Entry.ts"
import type { Totals } from "./Totals.ts"

/** What a format may know before the first entry. */
export interface FormatContext {
  readonly book: { readonly code: string; readonly name: string }
  /** `2026-10`, `2026-10-01_2026-10-15`, `all`, `since-4`. */
  readonly scope: string
  /** First day of the scope; null where it has none (all, since). */
  readonly from: string | null
  /** Every account of the book, ordered by code, name and currency. */
  readonly accounts: ReadonlyArray<OpenedAccount>
}

/** Turns entries into text, a chunk at a time; it may keep what grows with accounts, never what grows with entries. */
export interface Writer {
  /** `firstDate` is the effective date of the first entry; undefined where there is none. */
  readonly begin: (firstDate: string | undefined) => string
  readonly write: (entries: ReadonlyArray<Entry>) => string
  readonly end: (totals: Totals) => string
  /** Records written so far: CSV rows without the header, or journal transactions. */
  readonly rows: () => number
}

export interface Format {
  readonly name: string
  readonly file: string
  /** `number`: by journal number. `date`: by effective date, then journal number. */
  readonly order: "number" | "date"
  /** Also gets entries whose lines are all worth nothing, which no journal holds. */
  readonly takesAll?: true
  readonly open: (context: FormatContext) => Writer
}
