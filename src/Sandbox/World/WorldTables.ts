import type { NonEmpty } from "./Random.ts"
import { AmountColumn, NumberColumn } from "./TypedColumns.ts"

/** A status column that keeps each status as its place in the list of all. */
class StatusColumn<S extends string> {
  #names: NonEmpty<S>
  #codes = NumberColumn.u8()
  /** Called with every status, and whether the row is new. */
  watch: ((index: number, status: S, isNew: boolean) => void) | undefined

  constructor(names: NonEmpty<S>) {
    this.#names = names
  }

  get size(): number {
    return this.#codes.size
  }

  push(status: S): void {
    this.#codes.push(this.#names.indexOf(status))
    this.watch?.(this.#codes.size - 1, status, true)
  }

  at(index: number): S {
    return this.#names[this.#codes.at(index)] ?? this.#names[0]
  }

  set(index: number, status: S): void {
    this.#codes.set(index, this.#names.indexOf(status))
    this.watch?.(index, status, false)
  }
}

/** `relatedResourceType`, where NONE stands for its absence and ANONYMOUS_PAYOUT for a payout without an identifier. */
const relations = ["NONE", "DEPOSIT", "WITHDRAWAL", "CONVERSION", "PAYOUT", "ANONYMOUS_PAYOUT"] as const
export type Relation = (typeof relations)[number]

/** Statement entries of all accounts, in posting order. */
export class Entries {
  readonly account = NumberColumn.u32()
  readonly credit = NumberColumn.u8()
  readonly amount = new AmountColumn()
  readonly balanceAfter = new AmountColumn()
  readonly relation = new StatusColumn<Relation>(relations)
  readonly resource = NumberColumn.u32()
  readonly occurredAt = NumberColumn.f64()
}

const depositStatuses = ["PENDING", "HELD", "COMPLETED", "CANCELED", "REJECTED"] as const
export type DepositStatus = (typeof depositStatuses)[number]

/** Deposits. `fee` is -1 where the service states none. */
export class Deposits {
  readonly account = NumberColumn.u32()
  readonly amount = new AmountColumn()
  readonly fee = new AmountColumn()
  readonly status = new StatusColumn<DepositStatus>(depositStatuses)
  readonly createdAt = NumberColumn.f64()
}

const withdrawalStatuses = [
  "PENDING_CONFIRMATION",
  "PENDING",
  "HELD",
  "COMPLETED",
  "CANCELED",
  "REJECTED",
] as const
export type WithdrawalStatus = (typeof withdrawalStatuses)[number]

/** Withdrawals. `amount` is the source amount, `destination` an index into the address book. */
export class Withdrawals {
  readonly account = NumberColumn.u32()
  readonly amount = new AmountColumn()
  readonly fee = new AmountColumn()
  readonly destination = NumberColumn.u32()
  readonly status = new StatusColumn<WithdrawalStatus>(withdrawalStatuses)
  readonly createdAt = NumberColumn.f64()
}

/** No PENDING: it appears only in the answer to a conversion's creation, which the sandbox does not offer. */
const conversionStatuses = ["ACTIVE", "COMPLETED", "CANCELED"] as const
export type ConversionStatus = (typeof conversionStatuses)[number]

/** Conversions. The rate is `rate` / 10^`rateScale`, the fee in the pair's fiat currency; `completedAt` 0 means not yet. */
export class Conversions {
  readonly pair = NumberColumn.u32()
  readonly sell = new AmountColumn()
  readonly buy = new AmountColumn()
  readonly fee = new AmountColumn()
  readonly rate = NumberColumn.u32()
  readonly rateScale = NumberColumn.u8()
  readonly status = new StatusColumn<ConversionStatus>(conversionStatuses)
  readonly createdAt = NumberColumn.f64()
  readonly completedAt = NumberColumn.f64()
}
