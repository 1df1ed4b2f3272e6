/** A limit that was learned is known to the next process. */
import { describe, expect, it } from "vitest"
import { Pace } from "../../src/Partner/Pacing/Pace.ts"
import { news, resumed } from "../../src/Partner/Pacing/PaceMemory.ts"
import type { RateState } from "../../src/Partner/Pacing/RateState.ts"
import { Rate } from "../../src/Partner/Pacing/RequestRate.ts"

/** So many requests, one after the other at 20 ms each, to a service that serves so many in each second. */
const night = (requests: number, limit: number, known: RateState | null) => {
  const pace = new Pace({ concurrency: 8, startRate: 40, requestsPerSecond: null }, known)
  const counts = new Map<number, number>()
  let refused = 0
  let now = 0
  for (let served = 0; served < requests; ) {
    now += Math.ceil(pace.delay(now))
    const permit = pace.admit(now)
    const second = Math.floor(now / 1000)
    const count = (counts.get(second) ?? 0) + 1
    counts.set(second, count)
    now += 20
    if (count <= limit) {
      served++
      pace.accepted()
    } else {
      refused++
      pace.refused(permit, now)
    }
  }
  return { refused, learned: pace.learned }
}

describe("a remembered pace", () => {
  it("[C7] keeps short nights from running into the same limit each time", () => {
    const alone = Array.from({ length: 30 }, () => night(60, 20, null).refused)
    expect(Math.min(...alone)).toBeGreaterThan(0)
    let known: RateState | null = null
    let refused = 0
    for (let count = 0; count < 30; count++) {
      const after: ReturnType<typeof night> = night(60, 20, known)
      refused += after.refused
      known = news(after.learned, known) ?? known
    }
    expect(refused).toBeLessThan(0.01 * 30 * 60)
  })

  it("begins gently where no limit is known, however fast it was", () => {
    const fast = Rate.starting(2000).current
    expect(resumed(fast, 40, null).current.rate).toBe(40)
    expect(news(fast, null)).toBeNull()
  })

  it("does not outlast a night in which the service refused most of what it was asked", () => {
    const rate = Rate.starting(40)
    for (let now = 0; now < 3_600_000; now += 5_000) {
      rate.admit(now)
      if (now % 20_000 === 0) rate.accepted()
      else rate.refused(now, now + 20)
    }
    expect(rate.current.rate).toBeLessThan(1)
    expect(news(rate.current, null)).toBeNull()
    expect(resumed(rate.current, 40, null).current.rate).toBe(40)
  })

  it("takes no time of another clock with it, and nothing that is not new", () => {
    const { learned } = night(300, 20, null)
    const again = resumed(learned, 40, null)
    expect([again.delay(0), again.current.sent, again.current.cutAt]).toEqual([0, 0, null])
    expect([again.current.bad, again.current.rate]).toEqual([learned.bad, learned.rate])
    expect(news(learned, learned)).toBeNull()
  })

  it("does not outlast a limit that the settings name", () => {
    const { learned } = night(300, 20, null)
    expect(resumed(learned, 40, 100).current.bad).toBeNull()
    expect(resumed(learned, 40, 5).current.rate).toBeLessThanOrEqual(5)
  })
})
