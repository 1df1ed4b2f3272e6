/**
 * A book's holding of a foreign currency on one account, and its cost. Quantities are the currency's smallest units, costs are
 * cents of the base currency; both have the sign of the balance (an overdrawn account holds a negative quantity).
 */
import type { Method } from "../../Settings/Accounting.ts"
import { type Exact, negated, rounded } from "../Rates/Rate.ts"
import { clear, isEmpty, type Lots, noLots, push, takeNewest, takeOldest } from "./Lots.ts"

export interface Holding {
  native: bigint
  carrying: bigint
  /** Only for FIFO: they add up to `native`, at exact costs; `carrying` is their booked sum. */
  readonly lots: Lots
}

export const emptyHolding = (): Holding => ({ native: 0n, carrying: 0n, lots: noLots() })

/** Whether a movement brings the balance toward zero, or across it. */
export const reduces = ({ native }: Pick<Holding, "native">, minor: bigint): boolean =>
  native !== 0n && native < 0n !== minor < 0n

/** The part of a reducing movement that is covered by the balance; the rest goes beyond zero. */
export const covered = ({ native }: Pick<Holding, "native">, minor: bigint): bigint => {
  const sum = native + minor
  return sum !== 0n && sum < 0n === minor < 0n ? -native : minor
}

/** A holding valued by average becomes one lot. */
const asLots = ({ carrying, lots, native }: Holding): Lots => {
  if (isEmpty(lots) && native !== 0n) push(lots, native, carrying, null)
  return lots
}

/** Takes a movement toward zero off the holding at cost; returns its exact value, with the movement's sign. */
export const leave = (holding: Holding, minor: bigint, method: Method, withLots: boolean): Exact => {
  const byLots = method === "fifo" && withLots
  if (!byLots) clear(holding.lots)
  const value = byLots
    ? negated(takeOldest(asLots(holding), -minor))
    : { numerator: holding.carrying * minor, denominator: holding.native }
  holding.native += minor
  holding.carrying += rounded(value)
  return value
}

/** Whether the holding keeps its sign, and a value of that sign, after a movement leaves it at that value. */
export const canGiveBack = ({ carrying, native }: Holding, minor: bigint, value: bigint): boolean => {
  const [left, worth] = [native + minor, carrying + value]
  return left !== 0n && left < 0n === native < 0n && (worth === 0n || worth < 0n === native < 0n)
}

/** Takes off a movement at a given value instead of at cost: the newest lots are returned. */
export const giveBack = (holding: Holding, minor: bigint, value: bigint, method: Method): void => {
  if (method === "fifo") takeNewest(asLots(holding), -minor, -value)
  else clear(holding.lots)
  holding.native += minor
  holding.carrying += value
}

/** An incoming movement; `origin` as in `Lot`. */
export interface Entering {
  readonly method: Method
  readonly withLots: boolean
  readonly origin: string | null
}

/** Adds a movement at its value. */
export const enter = (
  holding: Holding,
  minor: bigint,
  value: bigint,
  { method, origin, withLots }: Entering,
): void => {
  const isLot = method === "fifo" && withLots
  if (!isLot || reduces(holding, minor)) clear(holding.lots)
  else push(asLots(holding), minor, value, origin)
  holding.native += minor
  holding.carrying += value
}
