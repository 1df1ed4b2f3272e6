/**
 * The room that large answers share, in decoded bytes, from before they are decompressed until what was read of them is booked:
 * a page of sixteen megabytes takes several times that while it is parsed and written, and every client's list may answer so.
 */

/** Bytes; up to this an answer takes no room. A page of a hundred rows has a third of it. */
export const largeAnswer = 256 * 1024

/**
 * Bytes of an answer that is a single resource or a token: hundreds are under way at once, and each has one or two thousand.
 */
export const largestThing = 32 * 1024

/** Bytes. A larger answer takes the whole room for itself. */
const roomBytes = 4 * 1024 * 1024

interface Waiting {
  readonly bytes: number
  readonly begin: () => void
}

export class Room {
  private held = 0
  private waiting: ReadonlyArray<Waiting> = []

  /** Calls `begin` when there is room for so many bytes, in turn. Returns what leaves the queue. */
  enter(bytes: number, begin: () => void): () => void {
    const one = { bytes, begin }
    this.waiting = [...this.waiting, one]
    this.admit()
    return () => {
      this.waiting = this.waiting.filter((other) => other !== one)
      this.admit()
    }
  }

  /** Gives room back. */
  leave(bytes: number): void {
    this.held -= bytes
    this.admit()
  }

  private admit(): void {
    const [first, ...others] = this.waiting
    if (first === undefined || (this.held > 0 && this.held + first.bytes > roomBytes)) return
    this.waiting = others
    this.held += first.bytes
    first.begin()
    this.admit()
  }
}

/** One room for all connections of this process. */
export const room = new Room()
