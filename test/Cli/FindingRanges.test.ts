import { Option } from "effect"
import fc from "fast-check"
import { describe, expect, test } from "vitest"
import { findingsIn, listOf } from "../../src/Cli/FindingRanges.ts"

describe("the findings that a person names", () => {
  test("three and more in a row are a range, in the order of their numbers", () => {
    expect(listOf(["F12", "F3", "F10", "F11", "F2", "F2", "F20", "F21"])).toEqual([
      ...["F2", "F3", "F10-F12", "F20", "F21"],
    ])
    expect(listOf([])).toEqual([])
  })

  test("a range that runs backwards, or has no end, names nothing; what is no range is left as it is", () => {
    for (const list of ["F3-F2", "F1-F999999999999", "F1,,F2", ""])
      expect(findingsIn(list), list).toEqual(Option.none())
    expect(findingsIn("F7-F7, Q3,F1-")).toEqual(Option.some(["F7", "Q3", "F1-"]))
  })

  test("the short list names the same findings", () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.integer({ min: 1, max: 60 }), { minLength: 1 }), (numbers) => {
        const ids = numbers.map((number) => `F${number}`)
        const inOrder = numbers.toSorted((a, b) => a - b).map((number) => `F${number}`)
        expect(findingsIn(listOf(ids).join(","))).toEqual(Option.some(inOrder))
      }),
    )
  })
})
