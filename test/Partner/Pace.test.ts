import { describe, expect, it } from "vitest"
import { Pace, type Permit } from "../../src/Partner/Pacing/Pace.ts"

type Limiter = (at: number) => boolean

/** So many in each second of the clock. */
const fixedWindow = (limit: number): Limiter => {
  let second = -1
  let count = 0
  return (at) => {
    if (Math.floor(at / 1000) !== second) {
      second = Math.floor(at / 1000)
      count = 0
    }
    count++
    return count <= limit
  }
}

/** Refills evenly, holds up to `burst`. */
const bucket = (limit: number, burst: number): Limiter => {
  let tokens = burst
  let last = 0
  return (at) => {
    tokens = Math.min(burst, tokens + ((at - last) * limit) / 1000)
    last = at
    if (tokens < 1) return false
    tokens--
    return true
  }
}

interface Seen {
  readonly served: number
  readonly refused: number
}

/** Callers that always want more, against a service that takes 15 to 45 ms, in virtual time. Milliseconds. */
const run = (
  limiter: Limiter,
  until: number,
  onSecond: (seen: Seen, pace: Pace) => void = () => {},
): Seen => {
  const pace = new Pace({ concurrency: 16, startRate: 20 })
  const underWay: Array<{ readonly at: number; readonly isServed: boolean; readonly permit: Permit }> = []
  let now = 0
  let second = 1000
  let served = 0
  let refused = 0
  for (let step = 0; now < until; step++) {
    let delay = pace.delay(now)
    for (; delay === 0; delay = pace.delay(now)) {
      const at = now + 15 + ((step * 7919 + underWay.length * 104_729) % 30)
      underWay.push({ at, isServed: limiter(now), permit: pace.admit(now) })
    }
    underWay.sort((a, b) => a.at - b.at)
    const wakeAt = now + Math.max(1, Math.ceil(delay))
    const [first] = underWay
    if (first !== undefined && first.at <= wakeAt) {
      underWay.shift()
      now = Math.max(now, first.at)
      if (first.isServed) {
        served++
        pace.accepted()
      } else {
        refused++
        pace.refused(first.permit, now)
      }
    } else now = wakeAt
    if (now >= second) {
      second += 1000
      onSecond({ served, refused }, pace)
    }
  }
  return { served, refused }
}

const limiters: ReadonlyArray<readonly [string, (limit: number) => Limiter]> = [
  ["counts by the second", fixedWindow],
  ["refills evenly and holds a second's worth", (limit) => bucket(limit, limit)],
  ["refills evenly and holds ten seconds' worth", (limit) => bucket(limit, limit * 10)],
]

describe("Pace", () => {
  for (const limit of [1, 5, 50]) {
    for (const [habit, make] of limiters) {
      it(`[C7] against ${limit} requests/s of a service that ${habit}: under 1 % refused, most of it used`, () => {
        const seconds = 1200
        const { served, refused } = run(make(limit), seconds * 1000)
        expect(refused / (served + refused)).toBeLessThan(0.01)
        expect(served).toBeGreaterThan(0.7 * limit * seconds)
        expect(refused).toBeGreaterThan(0)
      })
    }
  }

  it("[C7] starts gently and without limits is at full speed in about a second", () => {
    const seconds: Array<number> = []
    run(
      () => true,
      4000,
      ({ served }) => seconds.push(served),
    )
    const [first = 0, second = 0, third = 0] = seconds
    expect(first).toBeGreaterThan(100)
    // 16 at once, 30 ms each: about 530 a second is all that this service can do.
    expect(third - second).toBeGreaterThan(450)
    const pace = new Pace({ concurrency: 16, startRate: 20 })
    const atOnce = [0, 0, 0].map(() => (pace.delay(0) === 0 ? pace.admit(0) : null))
    expect(atOnce.filter((permit) => permit !== null)).toHaveLength(1)
  })

  it("[C7] halves on a 429, once for all that were already under way", () => {
    const pace = new Pace({ concurrency: 16, startRate: 1000 })
    const permits = [0, 1].map((at) => {
      expect(pace.delay(at)).toBe(0)
      return pace.admit(at)
    })
    for (const permit of permits) pace.refused(permit, 10)
    const after = pace.rate
    expect(after).toBeLessThanOrEqual(500)
    expect(pace.underWay).toBe(0)
    expect(pace.window).toBe(1)
  })

  it("[C7] finds a limit that was raised", () => {
    let limit = fixedWindow(5)
    let isRaised = false
    let before = 0
    const seen = run(
      (at) => limit(at),
      1_200_000,
      ({ served }) => {
        if (isRaised || served < 500) return
        isRaised = true
        before = served
        limit = fixedWindow(50)
      },
    )
    expect(seen.served - before).toBeGreaterThan(0.5 * 50 * 1000)
  })

  it("holds everything until the service's own time is up", () => {
    const pace = new Pace({ concurrency: 16, startRate: 20 })
    pace.hold(5000)
    pace.hold(1000)
    expect(pace.delay(0)).toBe(5000)
    expect(pace.delay(5000)).toBe(0)
  })

  it("never lets more than its bound go at once", () => {
    const pace = new Pace({ concurrency: 3, startRate: 100_000 })
    for (let now = 0; now < 1000; now += 10) {
      while (pace.delay(now) === 0) pace.admit(now)
      expect(pace.underWay).toBeLessThanOrEqual(3)
      pace.accepted()
    }
    expect(pace.window).toBe(3)
  })
})
