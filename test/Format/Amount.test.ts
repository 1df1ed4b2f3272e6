/** An amount that its field cannot hold is refused, never rounded or cut. */
import { describe, expect, it } from "@effect/vitest"
import { netsuite } from "../../src/Format/NetSuite/NetSuite.ts"
import { unsigned } from "../../src/Format/Table/Amount.ts"
import { Unholdable } from "../../src/Format/Table/Journals.ts"

const { template } = netsuite
const written = (minor: bigint, scale: number) =>
  unsigned(minor, { number: "ORG-2026-10-000001", currency: "USD", scale }, template)

describe("an amount", () => {
  it("has its own decimals as far as the field takes them", () => {
    expect(written(-9_999_999_999_99n, 2)).toBe("9999999999.99")
    expect(written(1_50000000n, 8)).toBe("1.50")
  })

  it("that is longer than its field is refused, with what it is and where", () => {
    expect(() => written(10_000_000_000_00n, 2)).toThrow(
      "10000000000.00 USD of ORG-2026-10-000001 does not fit netsuite, which takes 10 digits and 2 decimals",
    )
    expect(() => written(1_50100000n, 8)).toThrow(Unholdable)
  })
})
