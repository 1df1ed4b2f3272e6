import { describe, expect, it } from "vitest"
import * as Currency from "../../src/Common/Currency.ts"

describe("Currency.scaleOf", () => {
  it.each([
    ["JPY", 0],
    ["KRW", 0],
    ["ISK", 0],
    ["CLP", 0],
    ["EUR", 2],
    ["USD", 2],
    ["CHF", 2],
    ["BHD", 3],
    ["KWD", 3],
    ["TND", 3],
    ["CLF", 4],
    ["USDT", 8],
    ["USDC", 8],
  ])("%s has %i decimals", (code, scale) => {
    expect(Currency.scaleOf(code)).toBe(scale)
  })

  it.each(["usd", "XXX", "", "US", "USDX", "__proto__", "constructor", " USD"])(
    "does not know %j",
    (code) => {
      expect(Currency.scaleOf(code)).toBeUndefined()
      expect(Currency.isKnown(code)).toBe(false)
    },
  )

  it("lists every code once, in order, in upper case", () => {
    const codes = Currency.currencyScales.map(([code]) => code)
    expect(codes).toEqual([...new Set(codes)].sort())
    expect(codes.filter((code) => !/^[A-Z]{3,4}$/.test(code))).toEqual([])
  })
})
