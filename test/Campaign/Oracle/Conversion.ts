/**
 * One conversion: every entry against transit, and an entry of its own (`trading`) from the first entry at which both sides'
 * cash totals are complete until both sides are back to zero.
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

export interface ConversionBooks {
  /** As the entries were given. */
  readonly parts: ReadonlyArray<Part>
  /** What stands in `trading` of it: the other half of it is in transit. */
  readonly trading: ReadonlyArray<{ readonly currency: string; readonly amount: bigint }>
}

/** `entries` ordered by (occurredAt, accountId, position). */
export const conversionBooks = (
  conversion: Conversion,
  entries: ReadonlyArray<ConversionEntry>,
): ConversionBooks => {
  const cashOf = (accountId: string) =>
    entries.flatMap((entry) => (entry.accountId === accountId ? [entry.cash] : []))
  const sold = amountOf(conversion.sell.amount)
  const bought = amountOf(conversion.buy.amount)
  const sellFee = feeIn(conversion.fee, conversion.sell.currency)
  const buyFee = sellFee === 0n ? feeIn(conversion.fee, conversion.buy.currency) : 0n
  const sides = new Map([
    [conversion.sellAccountId, sellParts(cashOf(conversion.sellAccountId), sold, sellFee)[Symbol.iterator]()],
    [conversion.buyAccountId, buyParts(cashOf(conversion.buyAccountId), bought, buyFee)[Symbol.iterator]()],
  ])
  const cash = new Map<string, bigint>()
  const counter = new Map<string, bigint>()
  let whole: ReadonlyArray<{ currency: string; amount: bigint }> = []
  const parts = entries.map(({ accountId, cash: amount }) => {
    const part: Part = sides.get(accountId)?.next().value ?? { cash: amount, counter: -amount, fee: 0n }
    cash.set(accountId, (cash.get(accountId) ?? 0n) + part.cash)
    counter.set(accountId, (counter.get(accountId) ?? 0n) + part.counter)
    const [sell, buy] = [conversion.sellAccountId, conversion.buyAccountId].map((id) => counter.get(id) ?? 0n)
    const complete =
      cash.get(conversion.sellAccountId) === -sold && cash.get(conversion.buyAccountId) === bought
    if (whole.length === 0 && complete)
      whole = [
        { currency: conversion.sell.currency, amount: sell ?? 0n },
        { currency: conversion.buy.currency, amount: buy ?? 0n },
      ]
    if (sell === 0n && buy === 0n) whole = []
    return part
  })
  return { parts, trading: whole }
}
