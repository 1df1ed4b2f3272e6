import { BigDecimal, Either } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Money from "../../src/Common/Money.ts"

/** An integer of up to 20 digits and the decimals under it: the amount itself, told without any parser. */
const unscaled = fc.bigInt({ min: 1n - 10n ** 20n, max: 10n ** 20n - 1n })
const scale = fc.integer({ min: 0, max: 18 })

/** Puts the point into digits by counting from the right; the slow and obvious way. */
const spell = (value: bigint, decimals: number): string => {
  const digits = [...(value < 0n ? -value : value).toString().padStart(decimals + 1, "0")]
  if (decimals > 0) digits.splice(digits.length - decimals, 0, ".")
  return (value < 0n ? "-" : "") + digits.join("")
}

const parsed = (text: string) => Either.getOrThrow(Money.parse(text))

describe("Money.parse", () => {
  it("gives back every digit and the scale, and format prints the same text again", () => {
    fc.assert(
      fc.property(unscaled, scale, (value, decimals) => {
        const text = spell(value, decimals)
        const amount = parsed(text)
        expect(amount.value).toBe(value)
        expect(amount.scale).toBe(decimals)
        expect(Money.format(amount, decimals)).toBe(text)
      }),
    )
  })

  it.each([
    ..."1e5|-0|-0.00|+1|.5|1.|1,000.00|0x10||  1|1 |1\n|١٢|NaN|Infinity|-|--1|01|1.2.3|1_000|1e|0b1|1.5f".split(
      "|",
    ),
    "1".repeat(39),
    `0.${"1".repeat(38)}`,
    "1".repeat(100_000),
  ])("refuses %j", (text) => {
    expect(Either.isLeft(Money.parse(text))).toBe(true)
  })

  it("takes 38 digits, wherever the point stands", () => {
    expect(Money.toText(parsed("9".repeat(38)))).toBe("9".repeat(38))
    expect(Money.toText(parsed(`-0.${"1".repeat(37)}`))).toBe(`-0.${"1".repeat(37)}`)
  })

  it("reads a sum from the database that has more digits than an amount may have", () => {
    const sum = `100006.${"0".repeat(36)}`
    expect(Money.toText(Money.fromTrusted(sum))).toBe(sum)
    expect(() => Money.fromTrusted("1e5")).toThrow(/not a plain decimal number/)
  })

  it("accepts what the grammar describes and nothing else", () => {
    const grammar = /^-?(0|[1-9]\d*)(\.\d+)?$/
    const character = fc.constantFrom(..."0123456789.-+eE, ".split(""), "")
    const candidate = fc.array(character, { maxLength: 8 }).map((characters) => characters.join(""))
    fc.assert(
      fc.property(candidate, (text) => {
        const isNegativeZero = /^-[0.]*$/.test(text)
        expect(Either.isRight(Money.parse(text))).toBe(grammar.test(text) && !isNegativeZero)
      }),
      { numRuns: 2000 },
    )
  })
})

describe("Money.format", () => {
  it("pads to the scale and never rounds: too many decimals are a defect", () => {
    fc.assert(
      fc.property(unscaled, scale, scale, (value, decimals, printed) => {
        const amount = BigDecimal.make(value, decimals)
        const lost = decimals > printed && value % 10n ** BigInt(decimals - printed) !== 0n
        if (lost) expect(() => Money.format(amount, printed)).toThrow(/cannot be printed exactly/)
        else expect(Money.equals(parsed(Money.format(amount, printed)), amount)).toBe(true)
      }),
    )
  })

  it("never prints an exponent", () => {
    expect(Money.format(parsed("10000000000000000"), 2)).toBe("10000000000000000.00")
    expect(Money.toText(parsed("0.00000001"))).toBe("0.00000001")
  })
})

describe("Money arithmetic", () => {
  it("adds and subtracts without loss, in any order", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(unscaled, scale), { maxLength: 20 }), (parts) => {
        const amounts = parts.map(([value, decimals]) => BigDecimal.make(value, decimals))
        const exact = parts.reduce((sum, [value, decimals]) => sum + value * 10n ** BigInt(18 - decimals), 0n)
        expect(Money.equals(Money.total(amounts), BigDecimal.make(exact, 18))).toBe(true)
        expect(Money.equals(Money.total(amounts.toReversed()), Money.total(amounts))).toBe(true)
        expect(Money.isZero(Money.subtract(Money.total(amounts), Money.total(amounts)))).toBe(true)
      }),
    )
  })
})
