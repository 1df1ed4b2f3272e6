/** Spans and points of time, mostly as text for a person. */
import { Clock, Effect } from "effect"
import { counted } from "./Text.ts"

/** Milliseconds by a clock that nobody sets: for spans only, since what it counts from means nothing. */
export const steadyMillis: Effect.Effect<number> = Effect.map(
  Clock.currentTimeNanos,
  (nanos) => Number(nanos) / 1e6,
)

/** ISO 8601, of epoch milliseconds. */
export const isoOf = (millis: number): string => new Date(millis).toISOString()

/** The machine's clock, which somebody may set: ISO 8601. */
export const nowByUs: Effect.Effect<string> = Effect.map(Clock.currentTimeMillis, isoOf)

/** `45 seconds`, `3 minutes`, `26 hours`, `5 days`: in the largest unit that is precise enough. */
export const spanText = (seconds: number): string => {
  const whole = Math.max(0, Math.round(seconds))
  if (whole < 120) return counted(whole, "second")
  if (whole < 7_200) return counted(Math.round(whole / 60), "minute")
  if (whole < 172_800) return counted(Math.round(whole / 3_600), "hour")
  return counted(Math.round(whole / 86_400), "day")
}

/** `12.3 s`, `4 min 05 s`, `2 h 03 min`. */
export const durationText = (seconds: number): string => {
  if (seconds < 100) return `${seconds.toFixed(1)} s`
  const whole = Math.round(seconds)
  const two = (value: number) => String(value).padStart(2, "0")
  return whole < 3_600
    ? `${Math.floor(whole / 60)} min ${two(whole % 60)} s`
    : `${Math.floor(whole / 3_600)} h ${two(Math.floor((whole % 3_600) / 60))} min`
}

/** `2026-10-07 03:30` on the clocks of the time zone. */
export const clockText = (instant: number, timeZone: string): string =>
  new Intl.DateTimeFormat("sv-SE", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
  }).format(instant)

/** `2026-10-07`: the day of an instant in the time zone. */
export const dayText = (instant: string, timeZone: string): string =>
  clockText(Date.parse(instant), timeZone).slice(0, 10)

/**
 * Compares instants of UTC that have no, three or six decimals of a second, for sorting. The zone letter must not be compared: it
 * stands behind every digit and the point.
 */
export const byInstant = (one: string, other: string): number => {
  const [a, b] = [one.slice(0, -1), other.slice(0, -1)]
  return a < b ? -1 : a > b ? 1 : 0
}

/** The date `days` later, or earlier where negative, as `YYYY-MM-DD`. */
export const shiftDate = (date: string, days: number): string =>
  new Date(Date.parse(`${date}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

/** Whether it is a day of the calendar, written as `YYYY-MM-DD`. No calendar has the year 0, which the database refuses. */
export const isDate = (text: string): boolean => {
  if (!/^(?!0000)\d{4}-\d{2}-\d{2}$/.test(text)) return false
  const time = Date.parse(`${text}T00:00:00Z`)
  // Some engines roll 2026-02-30 over to March: only a day that prints as itself exists.
  return !Number.isNaN(time) && new Date(time).toISOString().slice(0, 10) === text
}

/** The last day of a month: `2026-02` → `2026-02-28`. */
export const lastDayOf = (period: string): string => {
  const [year = 0, month = 0] = period.split("-").map(Number)
  return new Date(Date.UTC(year, month, 0)).toISOString().slice(0, 10)
}
