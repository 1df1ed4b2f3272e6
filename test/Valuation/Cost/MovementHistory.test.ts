/** The return of a deposit or a withdrawal is valued, with its cash, at the amount that clearing carries for it. */
import { describe, expect, it } from "vitest"
import type { NativeAccount } from "../../../src/Valuation/Base.ts"
import { balanceOf, depositsUsd, entry, holdingOf, linesOf, usd, valued, withdrawalsUsd } from "../Valued.ts"

const rates = (_: string, date: string): string => (date < "2026-09-05" ? "0.9" : "0.5")

const of = (
  resourceId: string,
  kind: string,
  date: string,
  cash: bigint,
  clearing: NativeAccount = depositsUsd,
) =>
  entry(
    date,
    [
      [usd, cash],
      [clearing, -cash],
    ],
    { kind, resourceId },
  )
const two = [of("d1", "deposit", "2026-09-01", 1_000n), of("d2", "deposit", "2026-09-10", 1_000n)]

describe("a movement that comes back", () => {
  it.each(["average", "fifo"] as const)("%s: in part, at its own carrying amount per unit", (method) => {
    const entries = [...two, of("d2", "deposit_return", "2026-09-11", -500n)]
    const { entries: made, state } = valued({ method, rates, entries }, false)
    expect(linesOf(made, null).at(-1)).toEqual(["2026-09-11", "1 -250", "4 250"])
    expect(holdingOf(state, usd).carrying).toBe(1_150n)
  })

  it.each(["average", "fifo"] as const)(
    "%s: with more than it moved: the rest at the day's rate",
    (method) => {
      const entries = [
        of("d1", "deposit", "2026-09-01", 1_000n),
        of("w", "withdrawal", "2026-09-02", -500n, withdrawalsUsd),
        of("w", "withdrawal_return", "2026-09-11", 800n, withdrawalsUsd),
      ]
      const { entries: made, state } = valued({ method, rates, entries }, false)
      // 500 at the 450 that they left at, and 300 at 0.5.
      expect(linesOf(made, null).at(-1)).toEqual(["2026-09-11", "1 600", `${withdrawalsUsd.accountId} -600`])
      expect(holdingOf(state, usd)).toMatchObject({ native: 1_300n, carrying: 1_050n })
    },
  )

  it("with more than came: cash leaves at its cost, like any other", () => {
    const entries = [...two, of("d1", "deposit_return", "2026-09-12", -1_500n)]
    const { entries: made } = valued({ method: "average", rates, entries }, false)
    expect(linesOf(made, null).at(-1)).toEqual(["2026-09-12", "1 -1050", "4 1050"])
  })

  it.each(["average", "fifo"] as const)("%s: months later, just as in its own month", (method) => {
    const entries = [...two, of("d1", "deposit_return", "2026-11-11", -1_000n)]
    const { entries: made, state } = valued({ method, rates, entries })
    expect(linesOf(made, null).at(-1)).toEqual(["2026-11-11", "1 -900", "4 900"])
    expect(balanceOf(state, "fx_realized")).toBe(0n)
  })

  it("before the movement itself: then the movement takes over the carrying amount, also in a later month", () => {
    const first = of("d0", "deposit", "2026-09-01", 5_000n)
    const before = of("d1", "deposit_return", "2026-09-02", -1_000n)
    const entries = [first, before, of("d1", "deposit", "2026-10-11", 1_000n)]
    const { entries: made, state } = valued({ method: "average", rates, entries })
    expect(linesOf(made, null).slice(1)).toEqual([
      ["2026-09-02", "1 -900", "4 900"],
      ["2026-10-11", "1 900", "4 -900"],
    ])
    expect(state.movements.size).toBe(0)
  })

  it("realizes the difference at the month's end where cash could not leave at that amount", () => {
    const entries = [
      ...two,
      of("w", "withdrawal", "2026-09-11", -1_000n, withdrawalsUsd),
      of("d1", "deposit_return", "2026-09-12", -1_000n),
    ]
    const { entries: made, state } = valued({ method: "average", rates, entries })
    // 1,400 of cost: 700 went with the withdrawal, 700 are left for what is worth 900 in clearing.
    expect(linesOf(made, null).at(-1)).toEqual(["2026-09-12", "1 -700", "4 700"])
    expect(linesOf(made, "fx_settlement")).toEqual([["2026-09-30", "4 200", "fx_realized -200"]])
    expect(balanceOf(state, depositsUsd.accountId)).toBe(-500n)
    expect(holdingOf(state, depositsUsd)).toMatchObject({ native: -1_000n, carrying: -500n })
  })

  it.each(["average", "fifo"] as const)(
    "%s: by overdrawing the account: what cash lacks leaves at that amount, too",
    (method) => {
      const entries = [
        of("d1", "deposit", "2026-09-01", 1_000n),
        of("w", "withdrawal", "2026-09-10", -800n, withdrawalsUsd),
        of("d1", "deposit_return", "2026-09-11", -1_000n),
      ]
      const { entries: made, state } = valued({ method, rates, entries }, false)
      // 200 at their cost of 180, and 800 at 0.9, not at the day's rate.
      expect(linesOf(made, null).at(-1)).toEqual(["2026-09-11", "1 -900", "4 900"])
      expect(holdingOf(state, usd)).toMatchObject({ native: -800n, carrying: -720n })
    },
  )
})
