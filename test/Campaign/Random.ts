/** Reproducible chance: the same seed gives the same history. */

/** The random choices that a generator makes. */
export interface Random {
  /** A whole number from `low` to `high`, both included. */
  readonly whole: (low: number, high: number) => number
  /** True with this probability, 0 to 1. */
  readonly chance: (share: number) => boolean
  readonly pick: <A>(from: readonly [A, ...ReadonlyArray<A>]) => A
  /** One of them by its weight. */
  readonly weighted: <A>(from: readonly [readonly [number, A], ...ReadonlyArray<readonly [number, A]>]) => A
  readonly shuffled: <A>(from: ReadonlyArray<A>) => ReadonlyArray<A>
}

/** The 32 bits that a text hashes to (FNV-1a): a seed. */
export const seedOf = (text: string): number => {
  let hash = 0x811c9dc5
  for (let index = 0; index < text.length; index++) {
    hash ^= text.charCodeAt(index)
    hash = Math.imul(hash, 0x01000193)
  }
  return hash >>> 0
}

/** Mulberry32: 32 bits of state, good enough to choose with. */
export const random = (seed: string): Random => {
  let state = seedOf(seed)
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000
  }
  const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1))
  const pick = <A>(from: readonly [A, ...ReadonlyArray<A>]): A => from[whole(0, from.length - 1)] ?? from[0]
  const weighted: Random["weighted"] = (from) => {
    let left = next() * from.reduce((sum, [weight]) => sum + weight, 0)
    for (const [weight, one] of from) {
      left -= weight
      if (left < 0) return one
    }
    return from[0][1]
  }
  const shuffled = <A>(from: ReadonlyArray<A>): ReadonlyArray<A> =>
    from
      .map((one) => ({ one, at: next() }))
      .sort((a, b) => a.at - b.at)
      .map(({ one }) => one)
  return { whole, chance: (share) => next() < share, pick, weighted, shuffled }
}
