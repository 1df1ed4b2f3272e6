/** A bank's statements as they are read back. Amounts in 10⁻¹⁸ of the currency; money that the account holds is positive. */

export interface ReadEntry {
  /** The service's identifier, without hyphens. */
  readonly id: string
  /** `2026-10-000007`: the journal number without the book's code; null: it says none. */
  readonly journal: string | null
  readonly amount: bigint
  readonly currency: string
  /** `YYYY-MM-DD` */
  readonly day: string
}

/** The sums that a statement states of its own entries. */
export interface StatedSums {
  readonly entries: number
  readonly credits: bigint
  readonly debits: bigint
}

export interface ReadStatement {
  readonly id: string
  /** The service's account, without hyphens. */
  readonly account: string
  readonly currency: string
  readonly day: string
  readonly opening: bigint
  readonly closing: bigint
  readonly stated: StatedSums
  readonly entries: ReadonlyArray<ReadEntry>
}

/** Takes a file's lines in order, without their ends, and returns a statement once it has ended. */
export interface StatementLines {
  readonly line: (text: string) => ReadStatement | undefined
  /** After the last line. */
  readonly end: () => void
}

/** Opens a file. It shares no code with what wrote it. */
export type StatementReader = () => StatementLines
