/** A list with at least one item. */
export type NonEmpty<A> = readonly [A, ...ReadonlyArray<A>]

/** Mixes 32 bits so that every input bit touches every output bit (a bijection on 32-bit integers). */
export const mix32 = (value: number): number => {
  let x = value >>> 0
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d)
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b)
  return (x ^ (x >>> 16)) >>> 0
}

/**
 * The generator all data comes from: xoshiro128** on 32-bit integers, seeded by a mixed counter. The same seed gives the
 * same numbers on every machine: no transcendental functions, whose last digit may differ between engines.
 */
export class Random {
  #a: number
  #b: number
  #c: number
  #d: number

  constructor(seed: number) {
    const word = (n: number) => mix32((seed + Math.imul(n, 0x9e3779b9)) >>> 0)
    this.#a = word(1)
    this.#b = word(2)
    this.#c = word(3)
    // The state must not be all zero, or the generator yields zeros for ever.
    this.#d = word(4) | 1
  }

  /** A uniform integer in 0 .. 2^32 - 1. */
  next(): number {
    const product = Math.imul(this.#b, 5)
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0
    const shifted = this.#b << 9
    this.#c ^= this.#a
    this.#d ^= this.#b
    this.#b ^= this.#c
    this.#a ^= this.#d
    this.#c ^= shifted
    this.#d = (this.#d << 11) | (this.#d >>> 21)
    return result
  }

  /** A uniform integer in 0 .. limit - 1, for limits up to 2^53. */
  below(limit: number): number {
    const unit = ((this.next() >>> 5) * 67108864 + (this.next() >>> 6)) / 9007199254740992
    return Math.floor(unit * limit)
  }

  /** A uniform integer in low .. high, both included. */
  between(low: number, high: number): number {
    return low + this.below(high - low + 1)
  }

  /** True in `percent` of 100 cases. */
  chance(percent: number): boolean {
    return this.below(100) < percent
  }

  pick<A>(list: NonEmpty<A>): A {
    return list[this.below(list.length)] ?? list[0]
  }

  /** Picks a value with a chance proportional to its weight. */
  weighted<A>(list: NonEmpty<readonly [weight: number, value: A]>): A {
    let left = this.below(list.reduce((sum, [weight]) => sum + weight, 0))
    for (const [weight, value] of list) {
      if (left < weight) return value
      left -= weight
    }
    return list[0][1]
  }
}
