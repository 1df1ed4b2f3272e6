import type { Random } from "./Random.ts"

/**
 * The sandbox's time, in milliseconds since 1970 UTC: it never goes back, runs from the first to the last day while the
 * initial entries are made, in step with their number, and goes on at the same pace afterwards.
 */
export class Clock {
  now: number
  #start: number
  #step: number
  #end: number

  constructor(start: number, end: number, entries: number) {
    this.now = start
    this.#start = start
    this.#step = (end - start) / Math.max(entries, 1)
    this.#end = end
  }

  /** Lets time pass up to about the moment of the entry with that number. */
  advance(random: Random, posted: number): void {
    const moment = Math.floor(this.#start + this.#step * posted + random.below(Math.ceil(this.#step)))
    // Several movements within one millisecond: their order is only in the statement.
    if (!random.chance(6)) this.#to(moment)
  }

  /** Lets nothing or a moment pass between two entries of one movement. */
  pause(random: Random): void {
    if (random.chance(50)) this.#to(this.now + random.between(1, 900))
  }

  /** Lifts the bound of the initial period. */
  release(): void {
    this.#end = Number.POSITIVE_INFINITY
  }

  #to(moment: number): void {
    this.now = Math.max(this.now, Math.min(moment, this.#end))
  }
}
