/**
 * A clock for nights that pass in seconds. The wait of whoever sleeps for a minute or longer is over when the clock has been
 * moved to its end; shorter ones are real, but twenty times shorter.
 */
import { Clock, Duration, Effect } from "effect"

interface Sleeper {
  readonly until: number
  readonly minutes: number
  readonly wake: () => void
}

const long = 60_000
const faster = 20

export class VirtualClock {
  /** Milliseconds that it is ahead of the real one. */
  ahead: number
  #sleepers: Array<Sleeper> = []

  constructor(now: number) {
    this.ahead = now - Date.now()
  }

  now(): number {
    return Date.now() + this.ahead
  }

  /** Whether somebody sleeps for so many minutes. */
  sleeps(minutes: (minutes: number) => boolean): boolean {
    return this.#sleepers.some((sleeper) => minutes(sleeper.minutes))
  }

  /** When the next sleeper wakes, at the latest at a given time. */
  next(latest: number): number {
    return this.#sleepers.reduce((first, { until }) => Math.min(first, until), latest)
  }

  /** Moves the clock, and wakes whose time has come. */
  moveTo(time: number): void {
    this.ahead += Math.max(0, time - this.now())
    const due = this.#sleepers.filter(({ until }) => until <= time)
    this.#sleepers = this.#sleepers.filter(({ until }) => until > time)
    for (const { wake } of due) wake()
  }

  readonly clock: Clock.Clock = {
    [Clock.ClockTypeId]: Clock.ClockTypeId,
    unsafeCurrentTimeMillis: () => Math.round(this.now()),
    unsafeCurrentTimeNanos: () => BigInt(Math.round(this.now())) * 1_000_000n,
    currentTimeMillis: Effect.sync(() => Math.round(this.now())),
    currentTimeNanos: Effect.sync(() => BigInt(Math.round(this.now())) * 1_000_000n),
    sleep: (duration) =>
      Effect.async<void>((resume) => {
        const milliseconds = Duration.toMillis(duration)
        if (milliseconds < long) {
          const timer = setTimeout(() => resume(Effect.void), milliseconds / faster)
          return Effect.sync(() => clearTimeout(timer))
        }
        const sleeper: Sleeper = {
          until: this.now() + milliseconds,
          minutes: milliseconds / 60_000,
          wake: () => resume(Effect.void),
        }
        this.#sleepers.push(sleeper)
        return Effect.sync(() => {
          this.#sleepers = this.#sleepers.filter((other) => other !== sleeper)
        })
      }),
  }
}
