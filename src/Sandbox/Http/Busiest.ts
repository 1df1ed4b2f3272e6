/** Seconds over which requests are counted. */
export const windows = [1, 10, 60] as const

/**
 * The most requests that came within any stretch of so many seconds, whenever it began: what a rate limit is held against. Keeps the
 * arrivals of the longest stretch alone.
 */
export class Busiest {
  #arrivals: Array<number> = []
  readonly #first = windows.map(() => 0)
  readonly #most = windows.map(() => 0)

  /** `now`: milliseconds, never before the last one. */
  arrive(now: number): void {
    this.#arrivals.push(now)
    windows.forEach((seconds, at) => {
      let first = this.#first[at] ?? 0
      while ((this.#arrivals[first] ?? now) <= now - seconds * 1_000) first += 1
      this.#first[at] = first
      this.#most[at] = Math.max(this.#most[at] ?? 0, this.#arrivals.length - first)
    })
    const gone = Math.min(...this.#first)
    if (gone < 10_000) return
    this.#arrivals = this.#arrivals.slice(gone)
    for (const [at, first] of this.#first.entries()) this.#first[at] = first - gone
  }

  /** By seconds. */
  get most(): Readonly<Record<string, number>> {
    return Object.fromEntries(windows.map((seconds, at) => [seconds, this.#most[at] ?? 0]))
  }

  reset(): void {
    this.#arrivals = []
    this.#first.fill(0)
    this.#most.fill(0)
  }
}
