/**
 * When a schedule was last due and is due next, to the minute. node-cron fires at those times but cannot tell which it missed.
 * The rules are node-cron's (day of month and day of week must both match), except on the nights when the clocks change: a
 * skipped local time is due as much later as the clocks skip, and a repeated one is due once, the first time. Otherwise a night
 * would be lost each spring wherever the usual time is skipped. A schedule for every hour is due in each hour that exists.
 * Written by hand, since for Effect's `Cron` either day field is enough.
 */
import { Either, Option } from "effect"
import { type ParsedFields, parse } from "node-cron"

export type CronFields = Pick<ParsedFields, "minute" | "hour" | "dayOfMonth" | "month" | "dayOfWeek">

/** The fields, or the mistake in them. Weekdays count from 0 (Sunday). */
export const parseCron = (expression: string): Either.Either<CronFields, string> =>
  Either.try({
    try: () => parse(expression),
    catch: (cause) => (cause instanceof Error ? cause.message : String(cause)),
  })

/** Days to search: leap days are up to eight years apart. */
const daysLookedThrough = 8 * 366
const hoursOfDay = 24
const minute = 60_000
const day = 86_400_000

const formatters = new Map<string, Intl.DateTimeFormat>()

const formatterOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formatters.get(timeZone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  })
  formatters.set(timeZone, made)
  return made
}

/** The local time of a time zone, as if it were UTC. Epoch milliseconds, whole seconds. */
const wallClock = (instant: number, timeZone: string): number => {
  const part = Object.fromEntries(
    formatterOf(timeZone)
      .formatToParts(instant)
      .map(({ type, value }) => [type, Number(value)]),
  )
  const { year = 0, month = 1, day: dayOfMonth = 1, hour = 0, minute: minutes = 0, second = 0 } = part
  return Date.UTC(year, month - 1, dayOfMonth, hour, minutes, second)
}

/** The instants at which a local time is due: one, by the rules above if the clocks show that time never or twice. */
const instantsOf = (wall: number, timeZone: string, everyHour: boolean): ReadonlyArray<number> => {
  const byClockOf = (near: number) => wall - (wallClock(near, timeZone) - near)
  const [before, after] = [byClockOf(wall - day), byClockOf(wall + day)]
  const shown = [...new Set([before, after])].filter((instant) => wallClock(instant, timeZone) === wall)
  if (everyHour) return shown
  // By the clocks from before the change: as much later as they skip.
  return [shown.length === 0 ? before : Math.min(...shown)]
}

const fits = ({ dayOfMonth, dayOfWeek, month }: CronFields, wallDay: number): boolean => {
  const date = new Date(wallDay)
  const lastOfMonth = new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate()
  const isDay = dayOfMonth.some((wanted) =>
    wanted === "L" ? date.getUTCDate() === lastOfMonth : wanted === date.getUTCDate(),
  )
  return month.includes(date.getUTCMonth() + 1) && isDay && dayOfWeek.includes(date.getUTCDay())
}

/** All instants of a local day at which the schedule is due, in order. */
const dueOn = (fields: CronFields, timeZone: string, wallDay: number): ReadonlyArray<number> =>
  fits(fields, wallDay)
    ? fields.hour
        .flatMap((hour) =>
          fields.minute.flatMap((at) =>
            instantsOf(wallDay + (hour * 60 + at) * minute, timeZone, fields.hour.length === hoursOfDay),
          ),
        )
        .sort((a, b) => a - b)
    : []

const search = (
  fields: CronFields,
  timeZone: string,
  now: number,
  direction: 1 | -1,
): Option.Option<number> => {
  const wall = wallClock(now, timeZone)
  const today = wall - (wall % day)
  // From the day before on: where the clocks skip the hour before midnight, its times are due on the next day.
  for (let step = -1; step <= daysLookedThrough; step++) {
    const due = dueOn(fields, timeZone, today + direction * step * day)
    const found =
      direction === 1 ? due.find((instant) => instant > now) : due.findLast((instant) => instant <= now)
    if (found !== undefined) return Option.some(found)
  }
  return Option.none()
}

/** When it was last due, at `now` or before. Epoch milliseconds. None if never within eight years. */
export const previousDue = (fields: CronFields, timeZone: string, now: number): Option.Option<number> =>
  search(fields, timeZone, now, -1)

/** When it is due next, after `now`. Epoch milliseconds. None if never within eight years. */
export const nextDue = (fields: CronFields, timeZone: string, now: number): Option.Option<number> =>
  search(fields, timeZone, now, 1)
