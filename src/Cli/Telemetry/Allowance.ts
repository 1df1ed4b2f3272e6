/** Limits how many of each name, and of all, pass within a window of time: a million entries still cause only a handful. */
export class Allowance {
  private readonly each: number
  private readonly all: number
  /** Milliseconds. */
  private readonly window: number
  private readonly counts = new Map<string, number>()
  private total = 0
  private since = Number.NEGATIVE_INFINITY

  constructor(bounds: { readonly each: number; readonly all: number; readonly window: number }) {
    this.each = bounds.each
    this.all = bounds.all
    this.window = bounds.window
  }

  /** `now`: milliseconds of a monotonic clock. */
  admits(name: string, now: number): boolean {
    if (now - this.since >= this.window) {
      this.counts.clear()
      this.total = 0
      this.since = now
    }
    const count = this.counts.get(name) ?? 0
    if (count >= this.each || this.total >= this.all) return false
    this.counts.set(name, count + 1)
    this.total += 1
    return true
  }
}
