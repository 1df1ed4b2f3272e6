/** What is known of how much a service bears: plain data, for processes that share it. */

/** What was served between two refusals, from a pause on: requests a second, and at which rate. */
interface Stretch {
  readonly served: number
  readonly rate: number
}

export interface RateState {
  /** Requests per second. */
  readonly rate: number
  /** A rate that was too high; null: none is known. */
  readonly bad: number | null
  /** When the next request may go, and until when none may. Milliseconds of the caller's clock, as the others. */
  readonly nextAt: number
  readonly heldUntil: number
  /** When the rate was cut last; null: never. */
  readonly cutAt: number | null
  /** Answers since the rate was last changed. */
  readonly successes: number
  readonly betweenProbes: number
  /** Probes above `bad` that succeeded one after the other. */
  readonly climbed: number
  /** Whether anything was answered since the last refusal that counts, or since the start, and how much. */
  readonly hasServed: boolean
  readonly served: number
  readonly stretches: ReadonlyArray<Stretch>
  /** So many further refusals are taken as not being about the rate. */
  readonly aside: number
  /** Requests sent in about the last second. */
  readonly sent: number
  readonly sentAt: number
  /** Whether the rate, and not the callers or the service, has limited the speed since the rate was last changed. */
  readonly isLimiting: boolean
  /** Requests a second that the service allows this partner; null: it has not said. */
  readonly allowed: number | null
  /** When the keeper of a shared pace was asked last, by its own clock; 0: never, or nobody shares it. */
  readonly keptAt: number
}
