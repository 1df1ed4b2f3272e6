/**
 * First in, first out: what came in and is still there. Lots are taken from the front by moving an index, not the array, so
 * that a book of many pays for each of them once.
 */
import { halfEven } from "./Rate.ts"

/** What came in at one time and is still there; quantity and cost have the sign of the balance. */
export interface Lot {
  quantity: bigint
  cost: bigint
  /** The day and the rate at which it came in, while more of the same may come; null for what is no more than a cost. */
  readonly origin: string | null
}

export interface Lots {
  /** Those before `first` are gone. */
  readonly all: Array<Lot>
  first: number
}

export const noLots = (): Lots => ({ all: [], first: 0 })

export const lotsFrom = (lots: ReadonlyArray<Omit<Lot, "origin">>): Lots => ({
  all: lots.map((lot) => ({ ...lot, origin: null })),
  first: 0,
})

/** The oldest first. */
export const remaining = ({ all, first }: Lots): ReadonlyArray<Lot> => all.slice(first)

export const isEmpty = ({ all, first }: Lots): boolean => all.length === first

export const clear = (lots: Lots): void => {
  lots.all.length = 0
  lots.first = 0
}

/** Adds to the newest lot where that came in on the same day at the same rate. */
export const push = (lots: Lots, quantity: bigint, cost: bigint, origin: string | null): void => {
  const newest = isEmpty(lots) ? undefined : lots.all.at(-1)
  if (newest !== undefined && origin !== null && newest.origin === origin) {
    newest.quantity += quantity
    newest.cost += cost
  } else lots.all.push({ quantity, cost, origin })
}

/** Takes a quantity (with the sign of the lots, no more than they are) off the oldest lots; gives its cost. */
export const takeOldest = (lots: Lots, quantity: bigint): bigint => {
  let rest = quantity
  let cost = 0n
  for (let lot = lots.all[lots.first]; lot !== undefined && rest !== 0n; lot = lots.all[lots.first]) {
    const whole = rest < 0n ? lot.quantity >= rest : lot.quantity <= rest
    if (!whole) {
      const part = halfEven(lot.cost * rest, lot.quantity)
      lot.quantity -= rest
      lot.cost -= part
      return cost + part
    }
    rest -= lot.quantity
    cost += lot.cost
    lots.first += 1
  }
  if (isEmpty(lots)) clear(lots)
  return cost
}
