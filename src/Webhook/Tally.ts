/** What was received, as counts and as log lines that a stranger cannot multiply. */
import { Effect } from "effect"
import { counted } from "../Common/Text.ts"
import { steadyMillis } from "../Common/Time.ts"
import { Meters } from "./DeliveryMeters.ts"
import type { Refusal, Verdict } from "./Receiver.ts"

/** The same warning is not repeated within this. Milliseconds. */
const quiet = 60_000
const mostRemembered = 1_000

const words: Readonly<Partial<Record<Verdict, string>>> = {
  conflict: "An event came again with another body; both are kept",
  poison: "An event has a good signature and cannot be read; it is kept as it came",
}

/** Refusals of one kind that no line of the log has reported yet. */
interface Refused {
  readonly connection: string
  count: number
  last: Refusal
}

const summary = ({ count, last: { detail, status } }: Refused): string => {
  const advice =
    status === 401
      ? " tieout webhook diagnose, with a delivery and the key, finds out how the service signs them."
      : ""
  return `${counted(count, "delivery was", "deliveries were")} refused with ${status} in the last minute; the last one because ${detail.replace(/\.$/, "")}.${advice}`
}

export class Tally {
  private readonly counted = new Map<string, Map<Verdict, number>>()
  private readonly meters: ReadonlyMap<string, Meters>
  private readonly warned = new Map<string, number>()
  /** By connection and verdict. */
  private readonly refused = new Map<string, Refused>()

  constructor(connections: ReadonlyArray<string>) {
    this.meters = new Map(connections.map((name) => [name, new Meters(name)]))
  }

  /** By connection and verdict, since the start of the process. */
  get counts(): ReadonlyMap<string, ReadonlyMap<Verdict, number>> {
    return this.counted
  }

  readonly record = (connection: string, outcome: Verdict | Refusal): Effect.Effect<void> =>
    Effect.suspend(() => {
      this.count(connection, typeof outcome === "string" ? outcome : outcome.verdict)
      if (typeof outcome === "string") {
        const text = words[outcome]
        return text === undefined ? Effect.void : Effect.asVoid(this.warn(connection, text))
      }
      const text = `A delivery was refused with ${outcome.status}: ${outcome.detail}`
      if (outcome.notable !== true) {
        this.remember(connection, outcome)
        return Effect.annotateLogs(Effect.logDebug(text), { connection })
      }
      return Effect.map(this.warn(connection, text), (wasLogged) => {
        if (!wasLogged) this.remember(connection, outcome)
      })
    })

  /**
   * Counts, without an effect, an outcome that needs no log line, as almost every one. Returns false, and counts nothing, if a
   * line is due.
   */
  readonly recordQuietly = (connection: string, outcome: Verdict | Refusal): boolean => {
    if (typeof outcome !== "string" || words[outcome] !== undefined) return false
    this.count(connection, outcome)
    return true
  }

  /** Logs the refusals of the last minute: one warning for each connection and verdict. */
  readonly tellRefused: Effect.Effect<void> = Effect.suspend(() => {
    const all = [...this.refused.values()]
    this.refused.clear()
    return Effect.forEach(
      all,
      (one) => Effect.annotateLogs(Effect.logWarning(summary(one)), { connection: one.connection }),
      { discard: true },
    )
  })

  /** Logs refusals once a minute until it is interrupted, and then the last ones. */
  readonly watch: Effect.Effect<never> = Effect.ensuring(
    Effect.forever(Effect.delay(this.tellRefused, quiet)),
    this.tellRefused,
  )

  private count(connection: string, verdict: Verdict): void {
    const counts = this.counted.get(connection) ?? new Map<Verdict, number>()
    counts.set(verdict, (counts.get(verdict) ?? 0) + 1)
    this.counted.set(connection, counts)
    this.meters.get(connection)?.counted(verdict)
  }

  private remember(connection: string, last: Refusal): void {
    const key = `${connection} ${last.verdict}`
    const known = this.refused.get(key)
    if (known === undefined) this.refused.set(key, { connection, count: 1, last })
    else {
      known.count += 1
      known.last = last
    }
  }

  /** Whether the warning was logged. */
  private warn(connection: string, text: string): Effect.Effect<boolean> {
    return Effect.flatMap(steadyMillis, (now) => {
      const key = `${connection} ${text}`
      if (now - (this.warned.get(key) ?? Number.NEGATIVE_INFINITY) < quiet) return Effect.succeed(false)
      if (this.warned.size >= mostRemembered) this.warned.clear()
      this.warned.set(key, now)
      return Effect.as(Effect.annotateLogs(Effect.logWarning(text), { connection }), true)
    })
  }
}
