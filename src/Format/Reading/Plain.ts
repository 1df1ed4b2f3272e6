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

/** `postings`: the canonical journal. `balances`: a row per account of the manifest. `transactions`: a plain-text journal. */
export type Reading =
  | { readonly kind: "postings" | "balances" }
  | { readonly kind: "transactions"; readonly syntax: Syntax }
