/** How a format's files are read back. A reader shares no code with the writer, or it would confirm the writer's mistakes. */
import type { Booked, FileContext } from "./Booked.ts"
import type { Cell } from "./LineCells.ts"

/** Takes a file's rows in order, without the header; preamble rows come first. */
export type RowReader = (cells: ReadonlyArray<Cell>) => ReadonlyArray<Booked>

export interface Reader {
  /**
   * `lines`: a journal's lines, each as in the ledger. `pairs`: an account and its contra account per row, which show an
   * account's total but not its lines. `movements`: what goes in and out of a bank account, without a journal.
   */
  readonly holds: "lines" | "pairs" | "movements"
  /** Each row belongs to one entry, even in an export that sums up days. */
  readonly perEntry?: true
  /** Lines before the header; absent: none. */
  readonly preamble?: number
  /** Whether a line is one of those that the manifest counts; absent: all after the header are. */
  readonly isRow?: (cells: ReadonlyArray<Cell>) => boolean
  readonly rows: (context: FileContext) => RowReader
}
