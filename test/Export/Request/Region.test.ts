import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  box,
  intersect,
  lastDay,
  type Region,
  subtract,
  union,
  wholeThrough,
} from "../../../src/Export/Request/Region.ts"

const days = ["2026-09-29", "2026-09-30", "2026-10-01", "2026-10-02", "2026-10-03"]
const steps = [1n, 2n, 3n, 4n, 5n]

const holds = (region: Region, day: string, step: bigint): boolean =>
  region.some(
    ({ from, spans, to }) =>
      from <= day && day <= to && spans.some(({ after, through }) => after < step && step <= through),
  )

const anyBox = fc
  .record({
    from: fc.option(fc.constantFrom(...days)),
    to: fc.option(fc.constantFrom(...days)),
    after: fc.bigInt(0n, 4n),
    through: fc.bigInt(0n, 5n),
  })
  .filter(({ from, to }) => from === null || to === null || from <= to)
  .map(({ after, from, through, to }) => box(from, to, after, through))

const anyRegion = fc.array(anyBox, { maxLength: 5 }).map(union)

describe("a set of entries by day and step", () => {
  it("is united, subtracted and intersected point by point, and has only one written form", () => {
    fc.assert(
      fc.property(anyRegion, anyRegion, (a, b) => {
        const [joined, left, both] = [union([a, b]), subtract(a, b), intersect(a, b)]
        for (const day of days) {
          for (const step of steps) {
            const [inA, inB] = [holds(a, day, step), holds(b, day, step)]
            expect([holds(joined, day, step), holds(left, day, step), holds(both, day, step)]).toEqual([
              inA || inB,
              inA && !inB,
              inA && inB,
            ])
          }
        }
        expect(union([left, both])).toEqual(union([a]))
      }),
    )
  })

  it("knows the step up to which every day is in it", () => {
    expect(wholeThrough([])).toBe(0n)
    expect(wholeThrough(box("2026-10-01", null, 0n, 9n))).toBe(0n)
    expect(wholeThrough(union([box(null, null, 0n, 4n), box("2026-10-01", "2026-10-31", 0n, 9n)]))).toBe(4n)
    expect(wholeThrough(union([box(null, null, 0n, 4n), box(null, lastDay, 4n, 6n)]))).toBe(6n)
    expect(wholeThrough(union([box(null, null, 0n, 4n), box(null, null, 5n, 6n)]))).toBe(4n)
  })
})
