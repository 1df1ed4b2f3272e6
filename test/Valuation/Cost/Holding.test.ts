import { describe, expect, it } from "vitest"
import { canGiveBack, emptyHolding, enter, giveBack, leave } from "../../../src/Valuation/Cost/Holding.ts"
import { remaining } from "../../../src/Valuation/Cost/Lots.ts"
import { rounded } from "../../../src/Valuation/Rates/Rate.ts"

const holding = (native: bigint, carrying: bigint) => ({ ...emptyHolding(), native, carrying })

describe("a holding that gives back an amount at a value", () => {
  it.each([
    ["keeps some of both", 40n, 30n, true],
    ["keeps an amount that cost nothing", 40n, 50n, true],
    ["would keep a cost below nothing", 40n, 51n, false],
    ["keeps nothing", 100n, 50n, false],
    ["would be overdrawn", 120n, 30n, false],
  ])("%s: of either sign", (_, amount, value, can) => {
    expect(canGiveBack(holding(100n, 50n), -amount, -value)).toBe(can)
    expect(canGiveBack(holding(-100n, -50n), amount, value)).toBe(can)
  })

  it.each([
    ["held", 1n],
    ["overdrawn", -1n],
  ])("takes the newest lots, and what they did not cost off the next: %s", (_, sign) => {
    const held = emptyHolding()
    const entering = { method: "fifo", withLots: true, origin: null } as const
    for (const cost of [30n, 4n, 5n]) enter(held, sign * 10n, sign * cost, entering)
    giveBack(held, sign * -12n, sign * -15n, "fifo")
    const told = () =>
      remaining(held.lots).map(({ cost, quantity }) => [
        sign * quantity,
        (sign * cost.numerator * 10n) / cost.denominator,
      ])
    // The newest that is left would cost less than nothing: the one before it bears the rest.
    expect(told()).toEqual([
      [10n, 240n],
      [8n, 0n],
    ])
    expect(held).toMatchObject({ native: sign * 18n, carrying: sign * 24n })
    expect(rounded(leave(held, sign * -12n, "fifo", true))).toBe(sign * -24n)
    expect(told()).toEqual([[6n, 0n]])
  })

  it("keeps what comes in on one day at one rate as one lot, and costs a part of it by its share", () => {
    const held = emptyHolding()
    const on = (origin: string) => ({ method: "fifo", withLots: true, origin }) as const
    // Three at 1.5 cents each, booked at 4 and 5 (half-even), then one on another day.
    enter(held, 3n, 4n, on("2026-10-01 1.5"))
    enter(held, 3n, 5n, on("2026-10-01 1.5"))
    enter(held, 3n, 4n, on("2026-10-02 1.5"))
    expect(remaining(held.lots).map(({ cost, quantity }) => [quantity, cost])).toEqual([
      [6n, { numerator: 9n, denominator: 1n }],
      [3n, { numerator: 4n, denominator: 1n }],
    ])
    expect(leave(held, -3n, "fifo", true)).toEqual({ numerator: -9n, denominator: 2n })
  })

  it("is one lot again once it was valued by average", () => {
    const held = emptyHolding()
    const entering = { withLots: true, origin: null } as const
    const fill = () => {
      for (const cost of [10n, 30n]) enter(held, 10n, cost, { ...entering, method: "fifo" })
    }
    fill()
    leave(held, -5n, "average", true)
    expect(remaining(held.lots)).toEqual([])
    expect(rounded(leave(held, -5n, "fifo", true))).toBe(-10n)
    fill()
    giveBack(held, -5n, -10n, "average")
    expect(remaining(held.lots)).toEqual([])
  })
})
