/** The rate of a day: weekends and holidays have that of the last business day. */
import { describe, expect, it } from "@effect/vitest"
import { decodeUnknownSync } from "effect/Schema"
import { Content } from "../../../src/Settings/Content.ts"
import { fromRows } from "../../../src/Valuation/Rates/RateTable.ts"

const { maxRateAgeDays } = decodeUnknownSync(Content)({}).accounting.valuation

describe("the rate of a day without one", () => {
  it("is that of the last business day before, over Easter by default, and no longer", () => {
    // The Thursday before Easter 2026; the next rates come on the Tuesday after.
    const rows = [{ date: "2026-04-02", from: "USD", to: "EUR", rate: "0.9", source: "ECB" }]
    const of = fromRows(rows, "EUR", maxRateAgeDays)
    const days = ["2026-04-01", "2026-04-02", "2026-04-03", "2026-04-06", "2026-04-07"]
    expect(days.map((day) => of("USD", day)?.date)).toEqual([
      undefined,
      ...["2026-04-02", "2026-04-02", "2026-04-02"],
      undefined,
    ])
    expect(fromRows(rows, "EUR", 0)("USD", "2026-04-03")).toBe(undefined)
  })
})
