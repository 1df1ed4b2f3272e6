/** Several processes that share a connection's pace, and the service's limit, in virtual time. */
import { describe, expect, it } from "vitest"
import type { Permit } from "../../src/Partner/Pacing/Pace.ts"
import { reserved } from "../../src/Partner/Pacing/PaceKeeper.ts"
import type { RateState } from "../../src/Partner/Pacing/RateState.ts"
import { Rate } from "../../src/Partner/Pacing/RequestRate.ts"
import { type Reserve, SharedPace } from "../../src/Partner/Pacing/SharedPace.ts"

interface Timer {
  readonly at: number
  readonly run: () => void
}

/** Time that passes when nothing else is to be done. */
class Simulated {
  now = 0
  private timers: Array<Timer> = []

  after(delay: number, run: () => void): void {
    this.timers.push({ at: this.now + delay, run })
  }

  async until(end: number): Promise<void> {
    for (;;) {
      for (let turn = 0; turn < 8; turn++) await Promise.resolve()
      this.timers.sort((a, b) => a.at - b.at)
      const [first] = this.timers
      if (first === undefined || first.at > end) break
      this.timers.shift()
      this.now = first.at
      first.run()
    }
    this.now = end
  }
}

/** Keeps the rate for all, a few milliseconds away. */
const keeper = (time: Simulated, start: number, told: number | null = null) => {
  let state: RateState = Rate.starting(start, told).current
  const reserve: Reserve = (asked) =>
    new Promise((resolve) => {
      time.after(3, () => {
        const answer = reserved(state, asked, time.now + 1_000_000, told)
        state = answer.state
        resolve(answer.reserved)
      })
    })
  return { reserve, state: () => state }
}

/** One process that always wants more, with answers after 15 to 45 ms. */
const sender = (time: Simulated, reserve: Reserve, serve: (at: number) => boolean) => {
  let sent = 0
  const pump = (): void => {
    for (let delay = pace.delay(time.now); delay !== Number.POSITIVE_INFINITY; delay = pace.delay(time.now)) {
      if (delay > 0) {
        if (!waits) time.after(delay, wake)
        waits = true
        return
      }
      const permit: Permit = pace.admit()
      const isServed = serve(time.now)
      time.after(15 + ((sent++ * 7919) % 30), () => {
        if (isServed) pace.accepted()
        else pace.refused(permit, time.now)
        pump()
      })
    }
  }
  let waits = false
  const wake = () => {
    waits = false
    pump()
  }
  const pace = new SharedPace(
    { concurrency: 64, startRate: 20 },
    reserve,
    pump,
    () => 64,
    () => time.now,
  )
  return { pump, pace }
}

/** So many in each second of its clock; says how many it served and refused, second by second. */
const service = (limit: number) => {
  const seconds: Array<{ served: number; refused: number }> = []
  const serve = (at: number): boolean => {
    const place = Math.floor(at / 1_000)
    const second = seconds[place] ?? { served: 0, refused: 0 }
    seconds[place] = second
    if (second.served >= limit) {
      second.refused++
      return false
    }
    second.served++
    return true
  }
  const sum = (from: number, to: number) =>
    seconds.slice(from, to).reduce(
      (all, one) => ({
        served: all.served + (one?.served ?? 0),
        refused: all.refused + (one?.refused ?? 0),
      }),
      { served: 0, refused: 0 },
    )
  return { serve, sum }
}

describe("a pace that processes share", () => {
  it.each([1, 2, 4])("uses the service's limit, and keeps to it, with %d of them", async (processes) => {
    const time = new Simulated()
    const { reserve } = keeper(time, 20)
    const { serve, sum } = service(200)
    for (let one = 0; one < processes; one++) sender(time, reserve, serve).pump()
    await time.until(120_000)
    const { refused, served } = sum(20, 120)
    expect(served).toBeGreaterThan(0.88 * 200 * 100)
    expect(refused).toBeLessThan(0.01 * served)
  })

  it.each([1, 2, 4])(
    "keeps to a limit that the service has told, and uses it, with %d of them",
    async (processes) => {
      const time = new Simulated()
      const { reserve } = keeper(time, 20, 200)
      const { serve, sum } = service(200)
      const sent: Array<number> = []
      const served = (at: number): boolean => {
        sent.push(at)
        return serve(at)
      }
      for (let one = 0; one < processes; one++) sender(time, reserve, served).pump()
      await time.until(120_000)
      expect(sum(20, 120).served).toBeGreaterThan(0.95 * 200 * 100)
      let from = 0
      const most = sent.reduce((all, at, place) => {
        while ((sent[from] ?? at) <= at - 10_000) from++
        return Math.max(all, place - from + 1)
      }, 0)
      expect(most).toBeLessThanOrEqual(1.01 * 200 * 10)
    },
  )

  it("is held for all by what one of them was told", async () => {
    const time = new Simulated()
    const { reserve, state } = keeper(time, 100)
    let sent = 0
    const serve = () => {
      sent++
      return true
    }
    const [one, two] = [sender(time, reserve, serve), sender(time, reserve, serve)]
    one.pump()
    two.pump()
    await time.until(5_000)
    one.pace.hold(time.now + 3_000)
    await time.until(5_600)
    const before = sent
    await time.until(7_900)
    expect(sent).toBe(before)
    await time.until(10_000)
    expect(sent).toBeGreaterThan(before)
    expect(state().rate).toBeGreaterThanOrEqual(100)
  })

  it("sends no burst after it stalled", async () => {
    const time = new Simulated()
    const { reserve } = keeper(time, 100)
    const pace = new SharedPace(
      { concurrency: 64, startRate: 100 },
      reserve,
      () => {},
      () => 64,
      () => time.now,
    )
    expect(pace.delay(time.now)).toBe(Number.POSITIVE_INFINITY)
    await time.until(10)
    // Permits for a quarter of a second came, and were not used for two.
    await time.until(2_000)
    let burst = 0
    for (; pace.delay(time.now) === 0; burst++) pace.admit()
    expect(burst).toBe(0)
  })

  it("asks again where the keeper cannot be reached, and loses no report", async () => {
    const reports: Array<number> = []
    const reserve: Reserve = (asked) => {
      reports.push(asked.refused.length)
      return Promise.reject(new Error("away"))
    }
    let now = 0
    const pace = new SharedPace(
      { concurrency: 4, startRate: 20 },
      reserve,
      () => {},
      () => 1,
      () => now,
    )
    pace.delay(now)
    await Promise.resolve()
    await Promise.resolve()
    pace.refused({ admittedAt: 1 }, now)
    await Promise.resolve()
    await Promise.resolve()
    now = 5_000
    pace.delay(now)
    expect(reports).toEqual([0, 1, 1])
  })

  it("goes on, and keeps its hold, where the keeper's clock is set back", () => {
    const asked = { wanted: 1, accepted: 0, refused: [], hold: 0 }
    const day = 86_400_000
    const paced = reserved(Rate.starting(20).current, asked, 2 * day)
    const next = reserved(paced.state, asked, day)
    expect(next.reserved.permits).toEqual([50])
    const held = reserved(next.state, { ...asked, hold: 60_000 }, day + 1)
    expect(reserved(held.state, asked, 1_000).reserved.hold).toBe(60_000)
  })
})
