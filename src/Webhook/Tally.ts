/** What was received, as counts for whoever looks in and as a log that a stranger cannot flood. */
import { Effect } from "effect"
import type { Refusal, Verdict } from "./Receiver.ts"

/** The same warning is not repeated within this. Milliseconds. */
const quiet = 60_000
const mostRemembered = 1_000

const words: Readonly<Partial<Record<Verdict, string>>> = {
  conflict: "An event came again with another body; both are kept",
  poison: "An event has a good signature and cannot be read; it is kept as it came",
}

export class Tally {
  private readonly counted = new Map<string, Map<Verdict, number>>()
  private readonly warned = new Map<string, number>()

  /** By connection and verdict, since the start of the process. */
  get counts(): ReadonlyMap<string, ReadonlyMap<Verdict, number>> {
    return this.counted
  }

  readonly told = (connection: string, outcome: Verdict | Refusal): Effect.Effect<void> => {
    const verdict = typeof outcome === "string" ? outcome : outcome.verdict
    const counts = this.counted.get(connection) ?? new Map<Verdict, number>()
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1)
    this.counted.set(connection, counts)
    if (typeof outcome === "string") {
      const text = words[outcome]
      return text === undefined ? Effect.void : this.warn(connection, text)
    }
    const text = `A delivery was refused with ${outcome.status}: ${outcome.detail}`
    return outcome.notable === true
      ? this.warn(connection, text)
      : Effect.annotateLogs(Effect.logDebug(text), { connection })
  }

  private warn(connection: string, text: string): Effect.Effect<void> {
    const key = `${connection} ${text}`
    const now = Date.now()
    if (now - (this.warned.get(key) ?? Number.NEGATIVE_INFINITY) < quiet) return Effect.void
    if (this.warned.size >= mostRemembered) this.warned.clear()
    this.warned.set(key, now)
    return Effect.annotateLogs(Effect.logWarning(text), { connection })
  }
}
