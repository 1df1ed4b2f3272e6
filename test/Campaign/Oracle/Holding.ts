/**
 * What one balance holds and what it cost: a quantity in its own currency, and its carrying amount in cents of the base
 * currency as it was booked. Under FIFO cash also knows its lots, whose cost stays an exact fraction of what was booked.
 *
 * Choices: the lot of money that comes in costs what its line was booked at. A lot taken in part keeps the exact rest. What
 * goes back to where it came from (a return) is taken from the newest lots, what is spent from the oldest. A balance beyond
 * zero (overdrawn cash) is a holding of the other sign, by the same rules.
 */
import { absolute, type Fraction, fraction, nothing, ofCents, plus, smaller, times } from "./Decimal.ts"

interface Lot {
  readonly quantity: bigint
  readonly cost: Fraction
}

export class Holding {
  quantity = 0n
  carrying = 0n
  private lots: Array<Lot> = []

  /** The part of an amount that takes from what is held: of its sign, at most all that is held. */
  reducing(amount: bigint): bigint {
    if (this.quantity === 0n || amount < 0n === this.quantity < 0n) return 0n
    const part = smaller(absolute(amount), absolute(this.quantity))
    return amount < 0n ? -part : part
  }

  /** What a part that `reducing` gave is carried at on average; with its sign. */
  averageOf(part: bigint): Fraction {
    return part === 0n ? nothing : times(ofCents(this.carrying), fraction(part, this.quantity))
  }

  /** What it cost by the oldest lots; with its sign. */
  oldestOf(part: bigint): Fraction {
    return this.take(part, false).cost
  }

  book(amount: bigint, cents: bigint, method: "average" | "fifo", isReturn: boolean): void {
    const part = this.reducing(amount)
    if (method === "fifo") {
      this.lots = this.take(part, isReturn).rest
      const more = amount - part
      if (more !== 0n) this.lots.push({ quantity: more, cost: times(ofCents(cents), fraction(more, amount)) })
    }
    this.quantity += amount
    this.carrying += cents
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
      const kept = fraction(size - taken, size)
      if (taken < size)
        rest.push({
          quantity: lot.quantity < 0n ? taken - size : size - taken,
          cost: times(lot.cost, kept),
        })
    }
    return { cost, rest: newest ? rest.reverse() : rest }
  }
}
