const tick = 50

/** Lets movements happen by themselves, so many a second. */
export class Rate {
  readonly #happen: (movements: number) => void
  #timer: NodeJS.Timeout | undefined
  #perSecond = 0
  #owed = 0
  #last = 0

  constructor(happen: (movements: number) => void) {
    this.#happen = happen
  }

  get perSecond(): number {
    return this.#perSecond
  }

  /** 0 stops it. */
  set(perSecond: number): void {
    clearInterval(this.#timer)
    this.#perSecond = perSecond
    this.#owed = 0
    this.#last = performance.now()
    if (perSecond > 0) this.#timer = setInterval(() => this.#tick(), tick)
  }

  #tick(): void {
    const now = performance.now()
    this.#owed += ((now - this.#last) / 1_000) * this.#perSecond
    this.#last = now
    const due = Math.floor(this.#owed)
    this.#owed -= due
    if (due > 0) this.#happen(due)
  }
}
