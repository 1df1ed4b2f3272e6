/**
 * First in, first out: what came in and is still there. Lots are taken from the front by moving an index, not the array, so
 * that a book of many pays for each of them once.
 */
import { type Exact, exactly, halfEven, plus, rounded } from "./Rate.ts"

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

/**
 * Takes a quantity (with the sign of the lots, no more than they are) off the oldest lots; gives its exact cost. The lot that
 * is cut keeps what the cost, rounded as a whole, leaves of it.
 */
export const takeOldest = (lots: Lots, quantity: bigint): Exact => {
  let rest = quantity
  let whole = 0n
  for (let lot = lots.all[lots.first]; lot !== undefined && rest !== 0n; lot = lots.all[lots.first]) {
    const isWhole = rest < 0n ? lot.quantity >= rest : lot.quantity <= rest
    if (!isWhole) {
      const cost = plus(exactly(whole), { numerator: lot.cost * rest, denominator: lot.quantity })
      lot.quantity -= rest
      lot.cost -= rounded(cost) - whole
      return cost
    }
    rest -= lot.quantity
    whole += lot.cost
    lots.first += 1
  }
  if (isEmpty(lots)) clear(lots)
  return exactly(whole)
}

/**
 * Takes a quantity (less than the lots are) off the newest lots at a given cost, which is no more than all of them cost: what
 * they cost more or less stays with the newest that is left. None of them gets a cost below nothing.
 */
export const takeNewest = (lots: Lots, quantity: bigint, cost: bigint): void => {
  let rest = quantity
  let over = -cost
  for (let lot = lots.all.at(-1); lot !== undefined && rest !== 0n; lot = lots.all.at(-1)) {
    const isWhole = rest < 0n ? lot.quantity >= rest : lot.quantity <= rest
    if (!isWhole) {
      const part = halfEven(lot.cost * rest, lot.quantity)
      lot.quantity -= rest
      lot.cost -= part
      over += part
      break
    }
    rest -= lot.quantity
    over += lot.cost
    lots.all.pop()
  }
  for (let at = lots.all.length - 1; at >= lots.first && over !== 0n; at--) {
    const lot = lots.all[at]
    if (lot === undefined) return
    const sum = lot.cost + over
    const isBelow = sum !== 0n && sum < 0n !== lot.quantity < 0n
    lot.cost = isBelow ? 0n : sum
    over = isBelow ? sum : 0n
  }
}
