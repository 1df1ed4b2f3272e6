/**
 * Conversions in the base currency.
 *
 * A conversion has sides, told by the service's account. Every leg stands in `conversions_in_transit`, and each side is kept
 * at its own cost: what is sold at what the cash cost (average or FIFO), what is bought at what was given for it in the base
 * currency, where that is known in the month of the leg, else at the day's rate.
 *
 * The entry of the whole conversion takes both sides out of transit at their carrying amounts, through `trading`; `trading`
 * is left with nothing in the base currency, and the difference is the gain or loss, in that same entry. So it is realized
 * once, when the conversion is whole: never for one side alone, and whichever side came first.
 *
 * What goes back of a side (cancelled, refused, credited too much) goes back at what the side carries, before and after
 * the conversion was whole: cash that was sold returns at its old cost, cash that was bought leaves at what it came in for,
 * and the reversal of the whole books the same gain the other way round. A cancelled conversion realizes nothing. Only where
 * the account has not so much left any more, bought cash leaves at cost like any other, and what the side then carries too
 * much or too little is realized.
 */

import { rounded, times, type Unit } from "../Rates/Rate.ts"
import type { State } from "../State.ts"
import { emptyHolding } from "./Holding.ts"

/** Smallest units and cents, debit positive. What was cleared is still known: what goes back afterwards is worth the same. */
export interface Side {
  readonly accountId: number
  readonly partner: string
  /** What its legs have brought so far, cleared or not. */
  native: bigint
  carrying: bigint
  /** The part that entries of the whole conversion have taken out of transit. */
  clearedNative: bigint
  clearedCarrying: bigint
  /** What it was worth before all of it went back, for the rest of the month. */
  last?: Unit
}

export const openOf = (side: Side) => ({
  native: side.native - side.clearedNative,
  carrying: side.carrying - side.clearedCarrying,
})

const isDone = (side: Side): boolean => {
  const { carrying, native } = openOf(side)
  return native === 0n && carrying === 0n
}

const sidesOf = ({ conversions }: State, id: string): Array<Side> => {
  const known = conversions.get(id)
  if (known !== undefined) return known
  const sides: Array<Side> = []
  conversions.set(id, sides)
  return sides
}

export const sideOf = (state: State, id: string, accountId: number, partner: string | null): Side => {
  const sides = sidesOf(state, id)
  const own = sides.filter((side) => side.accountId === accountId)
  const found = own.find((side) => side.partner === partner) ?? (partner === null ? own[0] : undefined)
  if (found !== undefined) return found
  const side = {
    ...{ accountId, partner: partner ?? "" },
    ...{ native: 0n, carrying: 0n, clearedNative: 0n, clearedCarrying: 0n },
  }
  sides.push(side)
  return side
}

/** What one smallest unit of a side is worth; undefined where it has never had any. */
const unitOfSide = ({ carrying, last, native }: Side): Unit | undefined =>
  native === 0n ? last : { numerator: carrying, denominator: native }

/** The account's balance is that of all its conversions together. */
const onAccount = ({ holdings }: State, accountId: number, minor: bigint, value: bigint): void => {
  const holding = holdings.get(accountId) ?? emptyHolding()
  holding.native += minor
  holding.carrying += value
  holdings.set(accountId, holding)
}

/** A line of a leg, at its value. */
export const addLeg = (state: State, side: Side, minor: bigint, value: bigint): void => {
  const before = unitOfSide(side)
  side.native += minor
  side.carrying += value
  if (side.native === 0n && before !== undefined) side.last = before
  onAccount(state, side.accountId, minor, value)
}

const takeOut = (state: State, side: Side, minor: bigint, value: bigint): void => {
  side.clearedNative -= minor
  side.clearedCarrying -= value
  onAccount(state, side.accountId, minor, value)
}

const sumOf = (sides: ReadonlyArray<Side>) =>
  sides
    .map(openOf)
    .reduce(
      (sum, { carrying, native }) => ({ native: sum.native + native, carrying: sum.carrying + carrying }),
      { native: 0n, carrying: 0n },
    )

const takeOutAll = (state: State, sides: ReadonlyArray<Side>): void => {
  for (const side of sides) {
    const { carrying, native } = openOf(side)
    takeOut(state, side, -native, -carrying)
  }
}

/**
 * Takes an amount out of transit, or back into it; gives its value. All that stands there of the conversion leaves at what it
 * carries (two sides of one currency face each other); any other amount at what its side is worth. `otherwise`: the day's
 * rate, for what no leg has brought.
 */
export const clearTransit = (
  state: State,
  id: string,
  accountId: number,
  minor: bigint,
  otherwise: () => Unit,
): bigint => {
  const sides = sidesOf(state, id).filter((side) => side.accountId === accountId)
  const { carrying, native } = sumOf(sides)
  if (native === -minor) {
    takeOutAll(state, sides)
    return -carrying
  }
  const facing = sides.find((side) => openOf(side).native < 0n !== minor < 0n)
  const side = facing ?? sides[0] ?? sideOf(state, id, accountId, null)
  const value = rounded(times(unitOfSide(side) ?? otherwise(), minor))
  takeOut(state, side, minor, value)
  return value
}

/** What an earlier month's leg of a conversion was worth: of one that was done with, and that the month has something of. */
export interface EarlierLeg {
  readonly id: string
  readonly accountId: number
  readonly partner: string | null
  readonly native: bigint
  readonly carrying: bigint
}

/** Conversions that were done with are known again; those that are still open are as the state has them. */
export const recall = (state: State, legs: ReadonlyArray<EarlierLeg>): void => {
  const open = new Set(state.conversions.keys())
  for (const { accountId, carrying, id, native, partner } of legs) {
    if (open.has(id)) continue
    const side = sideOf(state, id, accountId, partner)
    side.native += native
    side.carrying += carrying
    side.clearedNative = side.native
    side.clearedCarrying = side.carrying
  }
}

/**
 * Takes off what conversions carry that hold nothing on an account any more; gives it by account. As much sold as bought in one
 * currency is nothing either, and no entry of the books clears it.
 */
export const settleSides = (state: State): ReadonlyMap<number, bigint> => {
  const left = new Map<number, bigint>()
  for (const sides of state.conversions.values()) {
    for (const accountId of new Set(sides.map((side) => side.accountId))) {
      const own = sides.filter((side) => side.accountId === accountId)
      const { carrying, native } = sumOf(own)
      if (native !== 0n) continue
      takeOutAll(state, own)
      left.set(accountId, (left.get(accountId) ?? 0n) + carrying)
    }
  }
  return left
}

/** Keeps only what is still in transit: what comes of the others later is told by the journal. */
export const forgetDone = ({ conversions }: State): void => {
  for (const [id, sides] of conversions) {
    if (sides.every(isDone)) conversions.delete(id)
    else for (const side of sides) delete side.last
  }
}
