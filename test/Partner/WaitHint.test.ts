import { describe, expect, it } from "vitest"
import { equalJitter, fullJitter } from "../../src/Partner/Backoff.ts"
import { quota, retryAfter, wait } from "../../src/Partner/WaitHint.ts"

const now = Date.UTC(2026, 9, 1, 12, 0, 0)

describe("Retry-After", () => {
  it.each([
    ["0", 0],
    ["120", 120_000],
    [" 5 ", 5000],
    ["Thu, 01 Oct 2026 12:00:30 GMT", 30_000],
    ["Thu, 01 Oct 2026 11:00:00 GMT", 0],
  ])("[C3] %j asks for %i ms", (value, milliseconds) => {
    expect(retryAfter({ "retry-after": value }, now)).toBe(milliseconds)
  })

  it.each(["", "-1", "1.5", "1e3", "soon", "Fri, 01 Oct 2026 12:00:30 GMT", "Thu, 1 Oct 2026 12:00:30 GMT"])(
    "[C3] %j is ignored",
    (value) => {
      expect(retryAfter({ "retry-after": value }, now)).toBeUndefined()
    },
  )

  it("[C3] as a date counts from the service's own clock", () => {
    const headers = { "retry-after": "Sat, 03 Oct 2026 12:00:30 GMT", date: "Sat, 03 Oct 2026 12:00:00 GMT" }
    expect(retryAfter(headers, now)).toBe(30_000)
  })
})

describe("RateLimit", () => {
  it.each([
    [{ ratelimit: "limit=100, remaining=0, reset=5" }, { remaining: 0, reset: 5000 }],
    [{ ratelimit: '"default";r=3;t=10' }, { remaining: 3, reset: 10_000 }],
    [
      { "ratelimit-remaining": "0", "ratelimit-reset": "7" },
      { remaining: 0, reset: 7000 },
    ],
    [
      { "x-ratelimit-remaining": "1", "x-ratelimit-reset": "7" },
      { remaining: 1, reset: 7000 },
    ],
    [
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(now / 1000 + 9) },
      { remaining: 0, reset: 9000 },
    ],
    [
      { ratelimit: "nonsense", "x-ratelimit-remaining": "0", "x-ratelimit-reset": "7" },
      { remaining: 0, reset: 7000 },
    ],
  ])("[C4] %j is read", (headers, expected) => {
    expect(quota(headers, now)).toEqual(expected)
  })

  it.each([
    { ratelimit: "remaining=-1, reset=5" },
    { ratelimit: "remaining=1.5, reset=5" },
    { "ratelimit-remaining": "0" },
    { "x-ratelimit-remaining": "none", "x-ratelimit-reset": "7" },
  ])("[C4] %j is ignored", (headers) => {
    expect(quota(headers, now)).toBeUndefined()
  })

  it("[C4] yields to Retry-After, and counts only when used up", () => {
    expect(wait({ "retry-after": "2", ratelimit: "remaining=0, reset=50" }, now)).toBe(2000)
    expect(wait({ "retry-after": "x", ratelimit: "remaining=0, reset=50" }, now)).toBe(50_000)
    expect(wait({ ratelimit: "remaining=1, reset=50" }, now)).toBeUndefined()
  })
})

describe("Backoff", () => {
  const bounds = { backoffBase: 500, backoffCap: 20_000 }

  it("[C5] waits anything up to a doubling ceiling of 20 s for faults that pass", () => {
    expect([1, 2, 3, 10, 5000].map((attempt) => fullJitter(attempt, bounds, 0.5))).toEqual([
      250, 500, 1000, 10_000, 10_000,
    ])
    expect(fullJitter(9, bounds, 0)).toBe(0)
  })

  it("[C5] never waits near zero after a 429 without a hint", () => {
    expect([1, 2, 10].map((attempt) => equalJitter(attempt, bounds, 0))).toEqual([250, 500, 10_000])
    expect(equalJitter(1, bounds, 0.5)).toBe(375)
  })
})
