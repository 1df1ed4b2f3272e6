/**
 * What a book holds of a foreign currency on one account, and what that cost. Quantities are the currency's smallest units,
 * costs are cents of the base currency; both have the sign of the balance (an overdrawn account holds less than nothing).
 */
import type { Method } from "../Settings/Accounting.ts"
import { halfEven } from "./Rate.ts"

/** What came in at one time and is still there. */
export interface Lot {
  readonly quantity: bigint
  readonly cost: bigint
}

export interface Holding {
  native: bigint
  carrying: bigint
  /** The oldest first; only where the method wants them, and then they add up to the two above. */
  lots: Array<Lot>
}

export const emptyHolding = (): Holding => ({ native: 0n, carrying: 0n, lots: [] })

/** Whether a movement brings the balance nearer to zero, or across it. */
export const reduces = ({ native }: Holding, minor: bigint): boolean =>
  native !== 0n && native < 0n !== minor < 0n

/** The part of a reducing movement that is covered by the balance; the rest goes beyond zero. */
export const covered = ({ native }: Holding, minor: bigint): bigint => {
  const sum = native + minor
  return sum !== 0n && sum < 0n === minor < 0n ? -native : minor
}

const oldestCost = (holding: Holding, minor: bigint): { cost: bigint; lots: Array<Lot> } => {
  const lots = holding.lots.length > 0 ? holding.lots : [{ quantity: holding.native, cost: holding.carrying }]
  let rest = -minor
  let cost = 0n
  let used = 0
  for (const lot of lots) {
    if (rest === 0n) break
    const whole = rest < 0n ? lot.quantity >= rest : lot.quantity <= rest
    if (!whole) {
      const part = halfEven(lot.cost * rest, lot.quantity)
      const left = { quantity: lot.quantity - rest, cost: lot.cost - part }
      return { cost: cost + part, lots: [left, ...lots.slice(used + 1)] }
    }
    rest -= lot.quantity
    cost += lot.cost
    used += 1
  }
  return { cost, lots: lots.slice(used) }
}

/** Takes a movement toward zero off the holding at what it cost; gives its value, with the movement's sign. */
export const leave = (holding: Holding, minor: bigint, method: Method, withLots: boolean): bigint => {
  let value = halfEven(holding.carrying * minor, holding.native)
  if (method === "fifo" && withLots) {
    const { cost, lots } = oldestCost(holding, minor)
    holding.lots = lots
    value = -cost
  } else holding.lots = []
  holding.native += minor
  holding.carrying += value
  return value
}

/** Adds a movement at the value that it was given. */
export const enter = (
  holding: Holding,
  minor: bigint,
  value: bigint,
  method: Method,
  withLots: boolean,
): void => {
  if (method === "fifo" && withLots) {
    // A holding that was kept by average is one lot from here on; so is one that two lines moved at once.
    const kept = holding.lots.length > 0 || holding.native === 0n
    const before = kept ? holding.lots : [{ quantity: holding.native, cost: holding.carrying }]
    const lot = { quantity: minor, cost: value }
    holding.lots = reduces(holding, minor)
      ? [{ quantity: holding.native + minor, cost: holding.carrying + value }]
      : [...before, lot]
  } else holding.lots = []
  holding.native += minor
  holding.carrying += value
}
