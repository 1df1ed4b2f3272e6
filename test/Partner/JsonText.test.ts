import fc from "fast-check"
import { describe, expect, it } from "vitest"
import * as JsonText from "../../src/Partner/Wire/JsonText.ts"

const indent = fc.constantFrom(undefined, 2, "\t")

describe("JsonText", () => {
  it("cuts an array into the texts of its elements, wherever it lies and however it is spaced", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.jsonValue(), indent, (items, other, space) => {
        const text = JSON.stringify({ before: other, "a.b": { items }, after: other }, null, space)
        const cut = JsonText.elements(text, ["a.b", "items"])
        expect(cut.map((element) => JSON.stringify(JSON.parse(element)))).toEqual(
          items.map((item) => JSON.stringify(item)),
        )
        expect(JsonText.elements(JSON.stringify(items, null, space), []).length).toBe(items.length)
      }),
    )
  })

  it("finds every member of an object", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), indent, (value, space) => {
        const text = JSON.stringify(value, null, space)
        const found = JsonText.members(text).map(({ key, start, end }): [string, unknown] => [
          key,
          JSON.parse(text.slice(start, end)),
        ])
        const again: unknown = JSON.parse(text)
        expect(Object.fromEntries(found)).toEqual(again)
      }),
    )
  })

  it("keeps numbers to the letter", () => {
    expect(JsonText.elements("[1.10, 12345678901234567890 ,-1E+2]", [])).toEqual([
      "1.10",
      "12345678901234567890",
      "-1E+2",
    ])
  })

  it("takes the last of doubled keys, as JSON.parse does", () => {
    expect(JsonText.elements('{"items":[1],"items":[2,3]}', ["items"])).toEqual(["2", "3"])
  })

  it("measures nesting of any depth", () => {
    const deep = `${"[".repeat(100_000)}${"]".repeat(100_000)}`
    expect(JsonText.shape(deep)).toEqual({ depth: 100_000, absurdNumber: false })
    expect(JsonText.shape('{"a":1e99999}').absurdNumber).toBe(true)
    expect(JsonText.shape('{"a":"1e99999","b":1e99}').absurdNumber).toBe(false)
  })
})
