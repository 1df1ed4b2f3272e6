/** How the files of a format are read back. A reader shares nothing with what wrote the files: it would confirm its mistakes. */
import type { Booked, FileContext } from "./Booked.ts"
import type { Cell } from "./Cells.ts"

/** Takes a file's rows in order, the header excluded; those of a preamble come first. */
export type RowReader = (cells: ReadonlyArray<Cell>) => ReadonlyArray<Booked>

export interface Reader {
  /**
   * `lines`: a journal's lines, each as it is in the ledger. `pairs`: an account and its contra account in a row, which say
   * what an account comes to, not by which lines. `movements`: what goes in and out of a bank account, in no journal.
   */
  readonly holds: "lines" | "pairs" | "movements"
  /** A row is of one entry, even where an export sums up days. */
  readonly perEntry?: true
  /** Lines before the header; none where it is absent. */
  readonly preamble?: number
  readonly rows: (context: FileContext) => RowReader
}
