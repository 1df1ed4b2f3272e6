/**
 * One conversion: every entry against transit, and an entry of its own (`trading`) from the first entry at which both sides'
 * cash totals are complete until both sides are back to zero. A side that a person moved elsewhere is not there to be traded:
 * then the conversion is never whole, and the other side stays in transit until somebody moves it, too.
 *
 * Reading: sides are the conversion's two accounts; an entry on a third account stands in transit and completes nothing. The
 * fee belongs to the side of its currency, to the sold one if both have it. It shows once the side's total is complete, so a
 * side of which half has come stands in transit whole. An entry that was reversed is written again if both sides are complete
 * again.
 */
import type { ResourceFact } from "../Facts.ts"
import { amountOf } from "./Decimal.ts"
import { buyParts, feeIn, type Part, sellParts } from "./Shape.ts"

type Conversion = Extract<ResourceFact, { type: "CONVERSION" }>

export interface ConversionEntry {
  readonly entryId: string
  readonly accountId: string
  readonly currency: string
  readonly cash: bigint
}

/** `entries` ordered by (occurredAt, accountId, position). */
export const conversionParts = (
  conversion: Conversion,
  entries: ReadonlyArray<ConversionEntry>,
): ReadonlyArray<Part> => {
  const cashOf = (accountId: string) =>
    entries.flatMap((entry) => (entry.accountId === accountId ? [entry.cash] : []))
  const sellFee = feeIn(conversion.fee, conversion.sell.currency)
  const buyFee = sellFee === 0n ? feeIn(conversion.fee, conversion.buy.currency) : 0n
  const sold = sellParts(cashOf(conversion.sellAccountId), amountOf(conversion.sell.amount), sellFee)
  const bought = buyParts(cashOf(conversion.buyAccountId), amountOf(conversion.buy.amount), buyFee)
  const sides = new Map([
    [conversion.sellAccountId, sold[Symbol.iterator]()],
    [conversion.buyAccountId, bought[Symbol.iterator]()],
  ])
  return entries.map(
    ({ accountId, cash }) => sides.get(accountId)?.next().value ?? { cash, counter: -cash, fee: 0n },
  )
}

/** An entry of a conversion, with its amount in transit after persons moved lines. */
export interface TransitEntry extends Part {
  readonly accountId: string
  readonly transit: bigint
}

/** The amounts of the conversion in `trading`; the other half is in transit. `entries` as for the parts. */
export const traded = (
  conversion: Conversion,
  entries: ReadonlyArray<TransitEntry>,
): ReadonlyArray<{ readonly currency: string; readonly amount: bigint }> => {
  const { buyAccountId, sellAccountId } = conversion
  const sums = {
    cash: new Map<string, bigint>(),
    counter: new Map<string, bigint>(),
    transit: new Map<string, bigint>(),
  }
  let whole: ReadonlyArray<{ currency: string; amount: bigint }> = []
  for (const { accountId, ...amounts } of entries) {
    for (const what of ["cash", "counter", "transit"] as const)
      sums[what].set(accountId, (sums[what].get(accountId) ?? 0n) + amounts[what])
    const [sell, buy] = [sums.transit.get(sellAccountId) ?? 0n, sums.transit.get(buyAccountId) ?? 0n]
    const complete =
      sums.cash.get(sellAccountId) === -amountOf(conversion.sell.amount) &&
      sums.cash.get(buyAccountId) === amountOf(conversion.buy.amount)
    if (whole.length === 0 && complete && sell !== 0n && buy !== 0n)
      whole = [
        { currency: conversion.sell.currency, amount: sell },
        { currency: conversion.buy.currency, amount: buy },
      ]
    if ((sums.counter.get(sellAccountId) ?? 0n) === 0n && (sums.counter.get(buyAccountId) ?? 0n) === 0n)
      whole = []
  }
  return whole
}
