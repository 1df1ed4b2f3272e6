import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as Money from "../../src/Common/Money.ts"
import { allocate, type Leg, type Movement } from "../../src/Ledger/Allocation.ts"

const amount = (text: string) => Money.fromTrusted(text)
const credit = (text: string): Movement => ({ type: "CREDIT", amount: amount(text) })
const debit = (text: string): Movement => ({ type: "DEBIT", amount: amount(text) })
const fees = (leg: Leg, entries: ReadonlyArray<Movement>): ReadonlyArray<string> =>
  allocate(leg, entries).map((part) => Money.format(part, 2))

const leg = (fields: Partial<Leg>): Leg => ({
  direction: "out",
  amount: amount("1000"),
  fee: amount("5"),
  feeInside: true,
  net: false,
  ...fields,
})
const deposit = leg({ direction: "in", feeInside: false })
const withdrawal = leg({})
const openFlat = leg({ feeInside: false })
const sell = leg({})
const buy = leg({ direction: "in", amount: amount("497"), fee: amount("2.50"), feeInside: false, net: true })

describe("fees of a deposit", () => {
  it.each([
    ["netted", [credit("995")], ["5.00"]],
    ["separate", [credit("1000"), debit("5")], ["0.00", "5.00"]],
    ["the fee before the amount", [debit("5"), credit("1000")], ["5.00", "0.00"]],
    ["stated, but no entry shows it", [credit("1000")], ["0.00"]],
    ["netted and returned whole: the mirror image", [credit("995"), debit("995")], ["5.00", "-5.00"]],
    [
      "separate and returned: the fee stays",
      [credit("1000"), debit("5"), debit("1000")],
      ["0.00", "5.00", "0.00"],
    ],
    [
      "separate, and the fee comes back",
      [credit("1000"), debit("5"), credit("5")],
      ["0.00", "5.00", "-5.00"],
    ],
    [
      "the fee before the amount, and given back",
      [debit("5"), credit("5"), credit("1000")],
      ["5.00", "-5.00", "0.00"],
    ],
    [
      "credited in full and returned in part: no fee is kept",
      [credit("1000"), debit("995")],
      ["0.00", "0.00"],
    ],
    ["netted, and as much again: no part of it is the fee", [credit("995"), debit("5")], ["5.00", "0.00"]],
    ["an amount of no known shape", [credit("300")], ["0.00"]],
    [
      "netted, in parts: shown by the one that makes it whole",
      [credit("300"), credit("695")],
      ["0.00", "5.00"],
    ],
    [
      "in parts, and separate: nothing is netted",
      [credit("300"), credit("700"), debit("5")],
      ["0.00", "0.00", "5.00"],
    ],
  ])("%s", (_, entries, expected) => {
    expect(fees(deposit, entries)).toEqual(expected)
  })
})

describe("fees of a withdrawal", () => {
  it.each([
    ["inside", withdrawal, [debit("1000")], ["5.00"]],
    ["on top", withdrawal, [debit("1005")], ["5.00"]],
    [
      "separate, amount and fee: the first is put right",
      withdrawal,
      [debit("1000"), debit("5")],
      ["0.00", "5.00"],
    ],
    ["separate, amount less fee and fee", withdrawal, [debit("995"), debit("5")], ["0.00", "5.00"]],
    ["the fee before the amount", withdrawal, [debit("5"), debit("995")], ["5.00", "0.00"]],
    ["flat and not completed: nothing is known to be inside", openFlat, [debit("1000")], ["0.00"]],
    [
      "flat and refused, less the fee that was kept",
      openFlat,
      [debit("1000"), credit("995")],
      ["0.00", "5.00"],
    ],
    ["inside and returned with the fee", withdrawal, [debit("1000"), credit("1000")], ["5.00", "-5.00"]],
    ["inside and returned without the fee", withdrawal, [debit("1000"), credit("995")], ["5.00", "0.00"]],
    ["on top and returned without the fee", withdrawal, [debit("1005"), credit("1000")], ["5.00", "0.00"]],
    [
      "returned, and the fee in an entry of its own",
      withdrawal,
      [debit("995"), debit("5"), credit("995"), credit("5")],
      ["0.00", "5.00", "0.00", "-5.00"],
    ],
    ["on top, in parts", withdrawal, [debit("300"), debit("705")], ["0.00", "5.00"]],
    ["in parts that show no fee", openFlat, [debit("300"), debit("700")], ["0.00", "0.00"]],
    [
      "separate, and all of it returned at once",
      withdrawal,
      [debit("1000"), debit("5"), credit("1005")],
      ["0.00", "5.00", "-5.00"],
    ],
    [
      "as large as what is left of the amount: the amount comes first, and goes back first",
      leg({ amount: amount("10") }),
      [debit("5"), debit("5"), credit("5"), credit("5")],
      ["0.00", "5.00", "0.00", "-5.00"],
    ],
    ["inside, and the fee comes back", withdrawal, [debit("1000"), credit("5")], ["5.00", "-5.00"]],
    ["on top, and the fee comes back", withdrawal, [debit("1005"), credit("5")], ["5.00", "-5.00"]],
    ["returned before anything was known to be debited", withdrawal, [credit("1000")], ["0.00"]],
    ["no fee", leg({ fee: Money.zero }), [debit("1000")], ["0.00"]],
  ])("%s", (_, of, entries, expected) => {
    expect(fees(of, entries)).toEqual(expected)
  })
})

describe("fees of a conversion", () => {
  it.each([
    ["sell leg, inside", sell, [debit("1000")], ["5.00"]],
    ["sell leg, reversed", sell, [debit("1000"), credit("1000")], ["5.00", "-5.00"]],
    ["buy leg, stated net", buy, [credit("497")], ["2.50"]],
    ["buy leg, stated gross and credited net", buy, [credit("494.50")], ["2.50"]],
    ["buy leg, stated gross with a separate fee", buy, [credit("497"), debit("2.50")], ["0.00", "2.50"]],
    [
      "buy leg, stated gross with a separate fee, and reversed",
      buy,
      [credit("497"), debit("2.50"), debit("494.50")],
      ["0.00", "2.50", "-2.50"],
    ],
    ["buy leg, the fee before the amount", buy, [debit("2.50"), credit("497")], ["2.50", "0.00"]],
    ["buy leg, its last part as large as the fee", buy, [credit("494.50"), credit("2.50")], ["2.50", "0.00"]],
    ["buy leg, reversed", buy, [credit("497"), debit("497")], ["2.50", "-2.50"]],
    [
      "buy leg, the fee given back and taken again",
      buy,
      [credit("497"), credit("2.50"), debit("2.50")],
      ["2.50", "-2.50", "2.50"],
    ],
    [
      "buy leg, reversed, and then a fee of its own",
      buy,
      [credit("497"), debit("497"), debit("2.50")],
      ["2.50", "-2.50", "2.50"],
    ],
    [
      "sell leg in parts: shown by the one that makes it whole",
      sell,
      [debit("370"), debit("630")],
      ["0.00", "5.00"],
    ],
    ["sell leg in parts, separate", sell, [debit("370"), debit("630"), debit("5")], ["0.00", "0.00", "5.00"]],
    ["sell leg in parts, part of it returned", sell, [debit("370"), credit("370")], ["0.00", "0.00"]],
    ["buy leg in parts", buy, [credit("300"), credit("197")], ["0.00", "2.50"]],
    ["buy leg, an over-credit pulled back", buy, [credit("597"), debit("100")], ["0.00", "2.50"]],
    ["sell leg, an over-debit given back", sell, [debit("1100"), credit("100")], ["0.00", "5.00"]],
  ])("%s", (_, of, entries, expected) => {
    expect(fees(of, entries)).toEqual(expected)
  })
})

describe("properties", () => {
  const cents = fc.integer({ min: 1, max: 1_000 }).map((value) => Money.fromTrusted(`${value}`))
  const anyLeg: fc.Arbitrary<Leg> = fc.record({
    direction: fc.constantFrom("in", "out"),
    amount: cents,
    fee: fc.oneof(fc.constant(Money.zero), cents),
    feeInside: fc.boolean(),
    net: fc.boolean(),
  })
  const anyEntries = fc.array(
    fc.record({ type: fc.constantFrom("CREDIT" as const, "DEBIT" as const), amount: cents }),
    {
      maxLength: 6,
    },
  )
  const expectBounded = (of: Leg, entries: ReadonlyArray<Movement>) => {
    const parts = allocate(of, entries)
    expect(parts).toHaveLength(entries.length)
    let standing = Money.zero
    for (const part of parts) {
      standing = Money.add(standing, part)
      expect(Money.isNegative(standing)).toBe(false)
      expect(Money.isNegative(Money.subtract(of.fee, standing))).toBe(false)
    }
  }

  it("gives every entry a part, and never more fees than are stated nor less than none", () => {
    fc.assert(fc.property(anyLeg, anyEntries, expectBounded))
    // All histories of three entries whose amounts say something of the fee.
    const telling = ["1000", "5", "1005", "995"].flatMap((text) => [credit(text), debit(text)])
    const longer = (histories: ReadonlyArray<ReadonlyArray<Movement>>) =>
      histories.flatMap((history) => telling.map((next) => [...history, next]))
    const three = longer(longer(longer([[]])))
    for (const of of [deposit, withdrawal, openFlat, { ...buy, amount: amount("1000"), fee: amount("5") }])
      for (const entries of three) expectBounded(of, entries)
  })

  it("does not look ahead: what is decided from the first entries is decided without the later ones", () => {
    fc.assert(
      fc.property(anyLeg, anyEntries, (of, entries) => {
        const whole = allocate(of, entries)
        const last = entries.length - 1
        const before = allocate(of, entries.slice(0, last))
        const changed = before.filter((part, at) => !Money.equals(part, whole[at] ?? Money.zero))
        // At most one earlier entry is put right, and only by a separate fee.
        expect(changed.length).toBeLessThanOrEqual(1)
        if (changed.length === 1) expect(Money.equals(whole[last] ?? Money.zero, of.fee)).toBe(true)
      }),
    )
  })
})
