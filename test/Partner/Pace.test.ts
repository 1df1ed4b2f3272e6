import { describe, expect, it } from "vitest"
import { Pace, type Permit } from "../../src/Partner/Pacing/Pace.ts"
import { news } from "../../src/Partner/Pacing/PaceMemory.ts"
import { Rate } from "../../src/Partner/Pacing/RequestRate.ts"

type Limiter = (at: number) => boolean

/** Serves so many requests in each second of the clock. */
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

/** Refills evenly, and saves up to `burst` requests. */
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

/** Serves so many requests in each minute of the clock, at any speed. */
const byTheMinute = (limit: number): Limiter => {
  let minute = -1
  let count = 0
  return (at) => {
    if (Math.floor(at / 60_000) !== minute) {
      minute = Math.floor(at / 60_000)
      count = 0
    }
    count++
    return count <= limit
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
  requestsPerSecond: number | null = null,
): Seen => {
  const pace = new Pace({ concurrency: 16, startRate: 20, requestsPerSecond })
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

/** One caller, who waits 200 ms for each answer and asks for no more: so many requests. */
const oneByOne = (requests: number, limiter: Limiter): Pace => {
  const pace = new Pace({ concurrency: 16, startRate: 40, requestsPerSecond: null })
  let now = 0
  for (let sent = 0; sent < requests; sent++) {
    now += Math.ceil(pace.delay(now))
    const permit = pace.admit(now)
    const isServed = limiter(now)
    now += 200
    if (isServed) pace.accepted()
    else pace.refused(permit, now)
  }
  return pace
}

const limiters: ReadonlyArray<readonly [string, (limit: number) => Limiter]> = [
  ["counts by the second", fixedWindow],
  ["refills evenly and holds a second's worth", (limit) => bucket(limit, limit)],
  ["refills evenly and holds ten seconds' worth", (limit) => bucket(limit, limit * 10)],
]

describe("Pace", () => {
  for (const limit of [1, 5, 50]) {
    for (const [habit, make] of limiters) {
      it(`[C7] against ${limit} requests/s of a service that ${habit}: under 1 % refused, nine tenths of it used`, () => {
        const seconds = 1200
        const { served, refused } = run(make(limit), seconds * 1000)
        expect(refused / (served + refused)).toBeLessThan(0.01)
        expect(served).toBeGreaterThan(0.9 * limit * seconds)
        expect(refused).toBeGreaterThan(0)
      })
    }
  }

  for (const limit of [1, 5, 50, 200]) {
    for (const [habit, make] of limiters) {
      it(`[C7] keeps to a known limit of ${limit} requests/s of a service that ${habit}, and uses it`, () => {
        const limiter = make(limit)
        const sent: Array<number> = []
        const seconds = 300
        const { served, refused } = run(
          (at) => {
            sent.push(at)
            return limiter(at)
          },
          seconds * 1000,
          undefined,
          limit,
        )
        let from = 0
        const most = sent.reduce((all, at, place) => {
          while ((sent[from] ?? at) <= at - 10_000) from++
          return Math.max(all, place - from + 1)
        }, 0)
        expect(most).toBeLessThanOrEqual(10 * limit)
        expect(refused).toBe(0)
        expect(served).toBeGreaterThan(0.95 * limit * seconds)
      })
    }
  }

  for (const [nth, least] of [
    [3, 100],
    [4, 150],
    [6, 250],
    [10, 400],
  ] as const) {
    it(`[C7] keeps its rate where every ${nth}th request is refused, whatever the rate`, () => {
      let asked = 0
      const { served } = run(() => ++asked % nth !== 0, 120_000)
      expect(served).toBeGreaterThan(least)
    })
  }

  it("[C7] keeps its rate where one of hundreds is refused while far fewer are sent, and has nothing for the next process", () => {
    let asked = 0
    const pace = oneByOne(1_000, () => ++asked % 300 !== 0)
    expect(pace.rate).toBeGreaterThanOrEqual(40)
    expect(news(pace.learned, null)).toBeNull()
  })

  it("[C7] learns a limit that is lower than what one caller sends", () => {
    const pace = oneByOne(2_000, bucket(3, 300))
    expect(pace.rate).toBeGreaterThan(2)
    expect(pace.rate).toBeLessThan(3.5)
  })

  it("[C7] adopts a newly configured limit, whatever it has learned before", () => {
    const learned = Rate.starting(50)
    learned.admit(0)
    learned.accepted()
    learned.refused(0, 10)
    expect(learned.isKnown).toBe(true)
    expect(Rate.of(learned.current, null).isKnown).toBe(true)
    const told = Rate.of(learned.current, 200)
    expect(told.isKnown).toBe(false)
    expect(Rate.of(told.current, 0.1).current.rate).toBeLessThan(0.1)
  })

  it("[C7] a 429 before anything was served does not change the rate", () => {
    const limiter = fixedWindow(50)
    let asked = 0
    const { served } = run((at) => asked++ >= 1 && limiter(at), 60_000)
    expect(served).toBeGreaterThan(0.8 * 50 * 60)
  })

  it("[C7] against a service that counts by the minute: all of it used, with few requests while nothing is served", () => {
    const { refused, served } = run(byTheMinute(3000), 1_800_000)
    expect(served).toBeGreaterThan(0.95 * 3000 * 30)
    expect(refused).toBeLessThan(0.1 * served)
  })

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
    const pace = new Pace({ concurrency: 16, startRate: 20, requestsPerSecond: null })
    const atOnce = [0, 0, 0].map(() => (pace.delay(0) === 0 ? pace.admit(0) : null))
    expect(atOnce.filter((permit) => permit !== null)).toHaveLength(1)
  })

  it("[C7] halves on a 429, once for all that were already under way", () => {
    const pace = new Pace({ concurrency: 16, startRate: 1000, requestsPerSecond: null })
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

  it("pauses everything until the time that the service asked for has passed", () => {
    const pace = new Pace({ concurrency: 16, startRate: 20, requestsPerSecond: null })
    pace.hold(5000)
    pace.hold(1000)
    expect(pace.delay(0)).toBe(5000)
    expect(pace.delay(5000)).toBe(0)
  })

  it("never lets more than its bound run at once", () => {
    const pace = new Pace({ concurrency: 3, startRate: 100_000, requestsPerSecond: null })
    for (let now = 0; now < 1000; now += 10) {
      while (pace.delay(now) === 0) pace.admit(now)
      expect(pace.underWay).toBeLessThanOrEqual(3)
      pace.accepted()
    }
    expect(pace.window).toBe(3)
  })
})
