import fc from "fast-check"
import { expect, it } from "vitest"
import { Busiest, windows } from "../../../src/Sandbox/Http/Busiest.ts"

it("counts the fullest stretch of so many seconds, wherever it begins", () => {
  const gaps = fc.array(fc.oneof(fc.nat(400), fc.nat(9_000)), { maxLength: 200 })
  fc.assert(
    fc.property(gaps, (waits) => {
      const busiest = new Busiest()
      let now = 5
      const arrivals = waits.map((wait) => {
        now += wait
        busiest.arrive(now)
        return now
      })
      for (const seconds of windows) {
        const counts = arrivals.map(
          (from) => arrivals.filter((at) => at >= from && at < from + seconds * 1_000).length,
        )
        expect(busiest.most[seconds]).toBe(Math.max(0, ...counts))
      }
      busiest.reset()
      expect(Object.values(busiest.most)).toEqual(windows.map(() => 0))
    }),
  )
})

it("forgets what no stretch reaches any more", () => {
  const busiest = new Busiest()
  for (let at = 0; at < 100_000; at++) busiest.arrive(at * 10)
  expect(busiest.most).toEqual({ 1: 100, 10: 1_000, 60: 6_000 })
  busiest.reset()
  for (let at = 0; at < 30; at++) busiest.arrive(at * 100)
  expect(busiest.most).toEqual({ 1: 10, 10: 30, 60: 30 })
})
