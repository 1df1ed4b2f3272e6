/** One version of a receivable, as the service reported it, and the cash of the transactions that it names. */
import { Option } from "effect"
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import { byInstant } from "../../Common/Time.ts"
import type { Instant } from "../../Partner/Instant.ts"
import type { InterestPolicy } from "./ReceivableAmounts.ts"

export interface ReceivableVersion {
  readonly version: number
  /** Verbatim. */
  readonly status: string
  readonly initialPrincipal: Amount
  readonly currentPrincipal: Amount
  readonly repaymentAmount: Amount
  /** The service's clock when it answered with this content. */
  readonly servedAt: Instant
  /** Transactions that no version before this one names. */
  readonly disbursed: Option.Option<Transaction>
  readonly repayments: ReadonlyArray<Transaction>
}

export interface Transaction {
  readonly txId: string
  readonly txTimestamp: Instant
  /** This receivable's share of its cash, positive in the expected direction; none if the books do not have the cash. */
  readonly cash: Option.Option<Amount>
}

export interface ReceivableView extends InterestPolicy {
  readonly view: "lender" | "borrower"
  /** Whether `repaymentAmount` falls with repayments or stays as it was at the start. */
  readonly repaymentAmount: "outstanding" | "original"
  /** New interest that may have come between two readings and be paid with the second: % of the principal a day, a decimal. */
  readonly interestBetweenReads: string
}

/** The cash of all transactions together; none if there are no transactions, or if one of them is not in the books. */
export const cashOf = (transactions: ReadonlyArray<Transaction>): Option.Option<Amount> =>
  transactions.length === 0
    ? Option.none()
    : transactions.reduce<Option.Option<Amount>>(
        (sum, { cash }) => Option.zipWith(sum, cash, Money.add),
        Option.some(Money.zero),
      )

/** The cash of the transactions that are in the books. */
export const knownCash = (transactions: ReadonlyArray<Transaction>): Amount =>
  Money.total(transactions.map(({ cash }) => Option.getOrElse(cash, () => Money.zero)))

export const latest = (transactions: ReadonlyArray<Transaction>): Option.Option<Instant> =>
  Option.fromNullable(
    transactions
      .map(({ txTimestamp }) => txTimestamp)
      .sort(byInstant)
      .at(-1),
  )

export const isLive = (status: string): boolean => status === "ACTIVE" || status === "PAID"
