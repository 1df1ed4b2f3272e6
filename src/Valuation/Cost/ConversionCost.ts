/**
 * Conversions in the base currency.
 *
 * A conversion has two sides, identified by the service's account. Every leg stands in `conversions_in_transit`, and each
 * side is kept at its own cost: the sold side at the cost of the cash (average or FIFO), the bought side at what was paid for
 * it in the base currency, where that is known in the month of the leg, else at the day's rate.
 *
 * The entry of the whole conversion clears both sides from transit at their carrying amounts, through `trading`. `trading`
 * ends at zero in the base currency, and the difference is the gain or loss, in the same entry. So it is realized once, when
 * the conversion is whole: never for one side alone, whichever side came first.
 *
 * What a side returns (cancelled, refused, overcredited) is valued at the side's carrying amount, before and after the
 * conversion was whole: sold cash returns at its old cost, bought cash leaves at the value it came in at, and the reversal of
 * the whole conversion books the same gain with the opposite sign. A cancelled conversion realizes nothing. Only where the
 * account no longer holds enough does bought cash leave at cost like any other; the side's remaining carrying amount is then
 * realized.
 */

import { rounded, times, type Unit } from "../Rates/Rate.ts"
import type { Side, State } from "../ValuationState.ts"
import { emptyHolding } from "./Holding.ts"

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

/** The value of one smallest unit of a side; undefined where it never held any. */
const unitOfSide = ({ carrying, last, native }: Side): Unit | undefined =>
  native === 0n ? last : { numerator: carrying, denominator: native }

/** Adds to the account's balance, the sum of all its conversions. */
const onAccount = ({ holdings }: State, accountId: number, minor: bigint, value: bigint): void => {
  const holding = holdings.get(accountId) ?? emptyHolding()
  holding.native += minor
  holding.carrying += value
  holdings.set(accountId, holding)
}

/** Adds a leg's line at its value. */
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
 * Clears an amount from transit, or puts it back; returns its value. The conversion's whole balance leaves at its carrying
 * amount (two sides of one currency offset each other); any other amount leaves at its side's unit value. `otherwise`: the
 * day's rate, for an amount that no leg brought.
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

/** An earlier month's leg of a finished conversion that this month returns or corrects, with its value. */
export interface EarlierLeg {
  readonly id: string
  readonly accountId: number
  readonly partner: string | null
  readonly native: bigint
  readonly carrying: bigint
}

/** Restores finished conversions; those still open are in the state. */
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
 * Removes the carrying amount of conversions that no longer hold anything on an account; returns it by account. Equal amounts
 * sold and bought in one currency count as nothing, too, and no entry of the books clears them.
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

/** Keeps only conversions in transit; for later events of the others they are restored from the journal. */
export const forgetDone = ({ conversions }: State): void => {
  for (const [id, sides] of conversions) {
    if (sides.every(isDone)) conversions.delete(id)
    else for (const side of sides) delete side.last
  }
}
