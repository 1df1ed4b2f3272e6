/**
 * What a book holds of a foreign currency on one account, and what that cost. Quantities are the currency's smallest units,
 * costs are cents of the base currency; both have the sign of the balance (an overdrawn account holds less than nothing).
 */
import type { Method } from "../../Settings/Accounting.ts"
import { type Exact, negated, rounded } from "../Rates/Rate.ts"
import { clear, isEmpty, type Lots, noLots, push, takeNewest, takeOldest } from "./Lots.ts"

export interface Holding {
  native: bigint
  carrying: bigint
  /** Only where the method wants them: as much as `native`, at exact costs of which `carrying` is what was booked. */
  readonly lots: Lots
}

export const emptyHolding = (): Holding => ({ native: 0n, carrying: 0n, lots: noLots() })

/** Whether a movement brings the balance nearer to zero, or across it. */
export const reduces = ({ native }: Pick<Holding, "native">, minor: bigint): boolean =>
  native !== 0n && native < 0n !== minor < 0n

/** The part of a reducing movement that is covered by the balance; the rest goes beyond zero. */
export const covered = ({ native }: Pick<Holding, "native">, minor: bigint): bigint => {
  const sum = native + minor
  return sum !== 0n && sum < 0n === minor < 0n ? -native : minor
}

/** A holding that was kept by average is one lot from here on. */
const asLots = ({ carrying, lots, native }: Holding): Lots => {
  if (isEmpty(lots) && native !== 0n) push(lots, native, carrying, null)
  return lots
}

/** Takes a movement toward zero off the holding at what it cost; gives its exact value, with the movement's sign. */
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

/** Whether the holding stays one, and worth no less than nothing, once a movement has left it at that value. */
export const canGiveBack = ({ carrying, native }: Holding, minor: bigint, value: bigint): boolean => {
  const [left, worth] = [native + minor, carrying + value]
  return left !== 0n && left < 0n === native < 0n && (worth === 0n || worth < 0n === native < 0n)
}

/** Takes off a movement at a value of its own, not at cost: what came in last goes back. */
export const giveBack = (holding: Holding, minor: bigint, value: bigint, method: Method): void => {
  if (method === "fifo") takeNewest(asLots(holding), -minor, -value)
  else clear(holding.lots)
  holding.native += minor
  holding.carrying += value
}

/** How a movement that comes in is kept; `origin` as of a lot. */
export interface Entering {
  readonly method: Method
  readonly withLots: boolean
  readonly origin: string | null
}

/** Adds a movement at the value that it was given. */
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
