import { BigDecimal } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { parse, print, TooPrecise } from "../../src/Common/MinorUnits.ts"
import * as Money from "../../src/Common/Money.ts"

const scale = fc.integer({ min: 0, max: 8 })
const minor = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n })

describe("amounts in smallest units", () => {
  it("print as Money.format does", () => {
    fc.assert(
      fc.property(minor, scale, (units, decimals) => {
        expect(print(units, decimals)).toBe(Money.format(BigDecimal.make(units, decimals), decimals))
      }),
    )
  })

  it("read back as what was printed, with any number of decimals up to the scale", () => {
    fc.assert(
      fc.property(minor, scale, scale, (units, a, b) => {
        const [fewer, more] = a < b ? [a, b] : [b, a]
        expect(parse(print(units, fewer), more)).toBe(units * 10n ** BigInt(more - fewer))
        expect(parse(`${print(units, fewer)}${fewer === 0 ? ".000" : "000"}`, fewer)).toBe(units)
      }),
    )
  })

  it("never round", () => {
    expect(() => parse("1.001", 2)).toThrow(TooPrecise)
    expect(() => parse("-0.5", 0)).toThrow(TooPrecise)
    expect(parse("-0.50", 2)).toBe(-50n)
    expect(print(-5n, 2)).toBe("-0.05")
  })
})
