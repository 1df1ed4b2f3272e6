/** Times of a history: months of an accounting time zone, and the hours around their ends. */
import type { Time } from "./Facts.ts"

const hour = 3_600_000
export const day = 24 * hour

export const timeOf = (epochMilliseconds: number): Time =>
  `${new Date(epochMilliseconds).toISOString().slice(0, 19)}Z`

const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const found = formats.get(timeZone)
  if (found !== undefined) return found
  const made = new Intl.DateTimeFormat("en-GB", {
    ...{ timeZone, hourCycle: "h23", year: "numeric", month: "2-digit", day: "2-digit" },
    ...{ hour: "2-digit", minute: "2-digit", second: "2-digit" },
  })
  formats.set(timeZone, made)
  return made
}

/** The local time of the zone read as if it were UTC, in epoch milliseconds. */
const wall = (timeZone: string, at: number): number => {
  const parts = Object.fromEntries(
    formatOf(timeZone)
      .formatToParts(at)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { day: date = 1, hour: hours = 0, minute = 0, month = 1, second = 0, year = 1970 } = parts
  return Date.UTC(year, month - 1, date, hours, minute, second)
}

/** The first instant of a month (0: January 2025; beyond: the years after), epoch milliseconds. */
export const monthStart = (timeZone: string, month: number): number => {
  const wanted = Date.UTC(2025, month, 1)
  const guess = wanted - (wall(timeZone, wanted) - wanted)
  return wanted - (wall(timeZone, guess) - guess)
}

/** `2025-03` for 2. */
export const monthName = (month: number): string =>
  new Date(Date.UTC(2025, month, 1)).toISOString().slice(0, 7)

/** The local date of an instant, `YYYY-MM-DD`. */
export const localDate = (timeZone: string, at: number): string =>
  new Date(wall(timeZone, at)).toISOString().slice(0, 10)
