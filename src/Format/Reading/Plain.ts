/** How a file of a plain format is read back. */
import type { Account, OpenedAccount } from "../Entry.ts"

/** A plain-text journal, line by line. */
export interface Syntax {
  /** The first line of a transaction. */
  readonly transaction: RegExp
  /** account, amount, currency and, where it asserts, the balance and its currency */
  readonly posting: RegExp
  /** account, balance, currency: what the account holds at that place */
  readonly assertion: RegExp | undefined
  readonly names: (accounts: ReadonlyArray<OpenedAccount>) => ReadonlyMap<Account, string>
}

/** A file that is read in places. */
export interface Places {
  readonly byteLength: number
  readonly slice: (start: number, end?: number) => Promise<ArrayBuffer>
}

/**
 * `postings`: the canonical journal. `balances`: a row per account of the manifest. `transactions`: a plain-text journal. `columns`: the
 * canonical journal in another form; amounts with all 18 decimals, a chunk of rows at a time.
 */
export type PlainReading =
  | {
      readonly kind: "columns"
      readonly rowsOf: (file: Places) => AsyncIterable<{
        readonly columns: ReadonlyArray<string>
        readonly rows: ReadonlyArray<ReadonlyArray<string>>
      }>
    }
  | { readonly kind: "postings" | "balances" }
  | { readonly kind: "transactions"; readonly syntax: Syntax }
