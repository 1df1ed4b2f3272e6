/**
 * What one balance holds and what it cost: a quantity in its own currency, and its carrying amount in cents of the base
 * currency as it was booked. Under FIFO cash also knows its lots, whose cost stays an exact fraction of what was booked.
 *
 * Choices: the lot of money that comes in costs what its line was booked at; what comes in on one day at that day's rate is
 * one lot. A lot taken in part keeps the exact rest. What goes back to where it came from (a return) is taken from the newest
 * lots, what is spent from the oldest; what those lots cost more or less than the return stays with the newest that is left,
 * which does not cost less than nothing. A balance beyond zero (overdrawn cash) is a holding of the other sign, by the same
 * rules.
 */
import {
  absolute,
  centsOf,
  type Fraction,
  fraction,
  minus,
  nothing,
  ofCents,
  plus,
  smaller,
  times,
} from "./Decimal.ts"

interface Lot {
  readonly quantity: bigint
  readonly cost: Fraction
  /** The day at whose rate it came in; null where it came in at another value. */
  readonly day: string | null
}

/** How a line changes a holding. */
export interface Booking {
  readonly amount: bigint
  readonly cents: bigint
  readonly isReturn: boolean
  readonly day: string | null
}

export class Holding {
  quantity = 0n
  carrying = 0n
  private lots: Array<Lot> = []
  private readonly byLots: boolean

  constructor(byLots = false) {
    this.byLots = byLots
  }

  /** The part of an amount that reduces the holding: with its sign, and at most all of the holding. */
  reducing(amount: bigint): bigint {
    if (this.quantity === 0n || amount < 0n === this.quantity < 0n) return 0n
    const part = smaller(absolute(amount), absolute(this.quantity))
    return amount < 0n ? -part : part
  }

  /** The cost of a part that `reducing` gave, by the oldest lots or on average, with its sign. */
  costOf(part: bigint): Fraction {
    if (part === 0n) return nothing
    return this.byLots
      ? this.take(part, false).cost
      : times(ofCents(this.carrying), fraction(part, this.quantity))
  }

  /** Whether something remains at a cost of at least zero, once an amount has left at its own value. */
  keepsSome(amount: bigint, cents: bigint): boolean {
    const [left, cost] = [this.quantity + amount, this.carrying + cents]
    return left !== 0n && left < 0n === this.quantity < 0n && (cost === 0n || cost < 0n === left < 0n)
  }

  book({ amount, cents, day, isReturn }: Booking): void {
    if (this.byLots) {
      const part = this.reducing(amount)
      const { cost, rest } = this.take(part, isReturn)
      this.lots = isReturn ? spread(rest, minus(ofCents(cents), cost)) : rest
      if (amount !== part) this.add({ quantity: amount - part, cost: ofCents(cents - centsOf(cost)), day })
    }
    this.quantity += amount
    this.carrying += cents
  }

  private add(lot: Lot): void {
    const newest = this.lots.at(-1)
    if (newest === undefined || lot.day === null || newest.day !== lot.day) this.lots.push(lot)
    else {
      const { cost, day, quantity } = newest
      this.lots[this.lots.length - 1] = { quantity: quantity + lot.quantity, cost: plus(cost, lot.cost), day }
    }
  }

  private take(part: bigint, newest: boolean): { readonly cost: Fraction; readonly rest: Array<Lot> } {
    const lots = newest ? [...this.lots].reverse() : this.lots
    const rest: Array<Lot> = []
    let left = absolute(part)
    let cost = nothing
    for (const lot of lots) {
      const size = absolute(lot.quantity)
      const taken = smaller(left, size)
      left -= taken
      cost = plus(cost, times(lot.cost, fraction(-taken, size)))
      if (taken === size) continue
      const kept = size - taken
      rest.push({
        ...lot,
        quantity: lot.quantity < 0n ? -kept : kept,
        cost: times(lot.cost, fraction(kept, size)),
      })
    }
    return { cost, rest: newest ? rest.reverse() : rest }
  }
}

/** Adds the surplus to the newest lot; where that would cost less than zero, the rest goes to the lot before. */
const spread = (lots: ReadonlyArray<Lot>, over: Fraction): Array<Lot> => {
  let left = over
  return [...lots]
    .reverse()
    .map((lot) => {
      const cost = plus(lot.cost, left)
      const isBelow = cost.n !== 0n && cost.n < 0n !== lot.quantity < 0n
      left = isBelow ? cost : nothing
      return { ...lot, cost: isBelow ? nothing : cost }
    })
    .reverse()
}
