import { Either } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parse } from "../../src/Partner/Wire/Instant.ts"

describe("Instant.parse", () => {
  it.each([
    ["2026-10-01T12:00:00Z", "2026-10-01T12:00:00Z"],
    ["2026-10-01t12:00:00z", "2026-10-01T12:00:00Z"],
    ["2026-10-01T12:00:00.000Z", "2026-10-01T12:00:00Z"],
    ["2026-10-01T12:00:00.120Z", "2026-10-01T12:00:00.120Z"],
    ["2026-10-01T12:00:00.12Z", "2026-10-01T12:00:00.120Z"],
    ["2026-10-01T12:00:00.123456Z", "2026-10-01T12:00:00.123456Z"],
    ["2026-10-01T12:00:00.1234569Z", "2026-10-01T12:00:00.123456Z"],
    ["2026-10-01T12:00:00+00:00", "2026-10-01T12:00:00Z"],
    ["2026-10-01T12:00:00-00:00", "2026-10-01T12:00:00Z"],
    ["2026-10-01T00:30:00.5+02:00", "2026-09-30T22:30:00.500Z"],
    ["2026-12-31T23:30:00-01:00", "2027-01-01T00:30:00Z"],
    ["2026-10-01T12:00Z", "2026-10-01T12:00:00Z"],
    ["2026-10-01T12:00+02", "2026-10-01T10:00:00Z"],
    ["2026-10-01T12:00:00+0530", "2026-10-01T06:30:00Z"],
    ["2026-10-01T12:00:00,5-0100", "2026-10-01T13:00:00.500Z"],
    ["2026-10-01T12:00:00+0000", "2026-10-01T12:00:00Z"],
    ["2024-02-29T00:00:00Z", "2024-02-29T00:00:00Z"],
    ["1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z"],
    ["2199-12-31T23:59:59.999999Z", "2199-12-31T23:59:59.999999Z"],
  ])("[B] reads %s as %s", (text, instant) => {
    expect(parse(text)).toEqual(Either.right(instant))
  })

  it.each([
    ["2026-10-01T12:00:00", "is not an ISO 8601 date-time with a zone"],
    ["2026-10-01", "is not an ISO 8601 date-time with a zone"],
    ["2026-10-01 12:00:00Z", "is not an ISO 8601 date-time with a zone"],
    ["2026-10-01T12Z", "is not an ISO 8601 date-time with a zone"],
    ["2026-10-01T12:00:00Z00", "is not an ISO 8601 date-time with a zone"],
    ["20261001T120000Z", "is not an ISO 8601 date-time with a zone"],
    ["2026-10-01T12:00+2", "is not an ISO 8601 date-time with a zone"],
    ["2026-10-01T12:00:00.Z", "is not an ISO 8601 date-time with a zone"],
    ["2026-10-01T12:00:00Z ", "is not an ISO 8601 date-time with a zone"],
    ["infinity", "is not an ISO 8601 date-time with a zone"],
    ["", "is not an ISO 8601 date-time with a zone"],
    [`2026-10-01T12:00:00.${"0".repeat(60)}Z`, "is not an ISO 8601 date-time with a zone"],
    ["2026-02-31T00:00:00Z", "is a date that the calendar does not have"],
    ["2100-02-29T00:00:00Z", "is a date that the calendar does not have"],
    ["2026-13-01T00:00:00Z", "is a date that the calendar does not have"],
    ["2026-00-10T00:00:00Z", "is a date that the calendar does not have"],
    ["2026-06-30T23:59:60Z", "is a leap second"],
    ["2026-06-30T24:00:00Z", "is a time that the clock does not have"],
    ["2026-06-30T12:00:00+24:00", "has a zone that does not exist"],
    ["2026-06-30T12:00:00+10:60", "has a zone that does not exist"],
    ["0001-01-01T00:00:00Z", "lies outside the years 1970 to 2199"],
    ["9999-12-31T00:00:00Z", "lies outside the years 1970 to 2199"],
    ["1970-01-01T00:00:00+01:00", "lies outside the years 1970 to 2199"],
    ["2199-12-31T23:30:00-01:00", "lies outside the years 1970 to 2199"],
  ])("[B] refuses %s", (text, reason) => {
    expect(parse(text)).toEqual(Either.left(reason))
  })

  it("names the same moment as the platform's own clock, in every zone", () => {
    const moment = fc.integer({ min: 86_400_000, max: Date.UTC(2199, 11, 30) })
    const offset = fc.integer({ min: -23 * 60, max: 23 * 60 })
    fc.assert(
      fc.property(moment, offset, (time, minutes) => {
        const sign = minutes < 0 ? "-" : "+"
        const two = (value: number) => String(value).padStart(2, "0")
        const zone = `${sign}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`
        const local = new Date(time + minutes * 60_000).toISOString().slice(0, -1)
        const instant = Either.getOrThrow(parse(local + zone))
        expect(new Date(instant).getTime()).toBe(time)
        expect(parse(instant)).toEqual(Either.right(instant))
      }),
    )
  })
})
