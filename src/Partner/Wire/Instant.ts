import { Either } from "effect"
import type { Instant } from "../Instant.ts"

// Groups, and the iterator of a destructured match, cost ten times what the fixed positions below do.
const grammar =
  /^[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,30})?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})$/

/** What ISO 8601 allows besides: no seconds, a comma before their fraction, a zone without minutes or without the colon. */
const shorter =
  /^([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2})(:[0-9]{2}(?:[.,][0-9]{1,30})?)?(Z|[+-][0-9]{2})(?::?([0-9]{2}))?$/i

/** The same in the form of RFC 3339; undefined: it is no date-time with a zone. */
const inFull = (text: string): string | undefined => {
  const [, minute, second = ":00", zone = "", minutes] = shorter.exec(text) ?? []
  if (minute === undefined) return undefined
  if (/z/i.test(zone)) return minutes === undefined ? `${minute}${second.replace(",", ".")}Z` : undefined
  return `${minute}${second.replace(",", ".")}${zone}:${minutes ?? "00"}`
}

const firstYear = 1970
const lastYear = 2199

const daysIn = (year: number, month: number): number => {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** Two digits, at a place where the grammar has found two. */
const pair = (text: string, at: number): number =>
  (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48

// No fraction, milliseconds or microseconds: what most services write, so that most texts are already in normal form.
const fractionOf = (digits: string): string => {
  const micros = digits.slice(0, 6).padEnd(6, "0")
  if (micros === "000000") return ""
  return `.${micros.endsWith("000") ? micros.slice(0, 3) : micros}`
}

export const outside = `lies outside the years ${firstYear} to ${lastYear}`
const inRange = (year: number): boolean => year >= firstYear && year <= lastYear

/**
 * Reads a date-time (`docs/interface.md`: "ISO 8601 `date-time`", which RFC 3339 has in its full form) and normalizes it to UTC
 * with no, three or six decimals of a second, whichever is the shortest that holds it; finer digits are cut off. Refused, with
 * the reason on the left: no zone, a date that the calendar lacks, a leap second, a year outside 1970 to 2199. A text in normal
 * form comes back unchanged.
 */
export const parse = (given: string): Either.Either<Instant, string> => {
  const text = given.length > 64 || grammar.test(given) ? given : inFull(given)
  if (text === undefined || text.length > 64) return Either.left("is not an ISO 8601 date-time with a zone")
  const year = pair(text, 0) * 100 + pair(text, 2)
  const month = pair(text, 5)
  const day = pair(text, 8)
  const hour = pair(text, 11)
  const minute = pair(text, 14)
  const second = pair(text, 17)
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) {
    return Either.left("is a date that the calendar does not have")
  }
  if (second === 60) return Either.left("is a leap second")
  if (hour > 23 || minute > 59 || second > 59) return Either.left("is a time that the clock does not have")
  if (!inRange(year)) return Either.left(outside)
  const last = text.charCodeAt(text.length - 1)
  const isZulu = last === 90 || last === 122
  const zone = isZulu ? text.length - 1 : text.length - 6
  const fraction = zone > 19 ? fractionOf(text.slice(20, zone)) : ""
  const offset = isZulu ? 0 : pair(text, zone + 1) * 60 + pair(text, zone + 4)
  if (offset === 0) return Either.right(`${text.slice(0, 10)}T${text.slice(11, 19)}${fraction}Z`)
  if (pair(text, zone + 1) > 23 || pair(text, zone + 4) > 59) {
    return Either.left("has a zone that does not exist")
  }
  const shift = (text.charAt(zone) === "-" ? offset : -offset) * 60_000
  const utc = new Date(Date.UTC(year, month - 1, day, hour, minute, second) + shift).toISOString()
  if (!inRange(Number(utc.slice(0, 4)))) return Either.left(outside)
  return Either.right(`${utc.slice(0, 19)}${fraction}Z`)
}
