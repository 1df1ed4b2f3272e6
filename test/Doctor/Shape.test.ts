import * as fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  agree,
  describe as describeAnswer,
  isName,
  lists,
  moneyFields,
  movedOn,
  pageInfos,
} from "../../src/Doctor/Shape.ts"

describe("the shape of an answer", () => {
  it("has the names and types of its fields, rows merged", () => {
    const answer = {
      items: [
        { id: "a", amount: { value: "1" }, tags: ["x"] },
        { id: null, note: "n", tags: [] },
      ],
      page: { hasNextPage: false },
    }
    expect(describeAnswer(answer)).toBe(
      "{ items: [{ id: string | null, amount?: { value: string }, tags: [string] | [], note?: string }], page: { hasNextPage: boolean } }".replace(
        "[string] | []",
        "[string]",
      ),
    )
  })

  it("does not show a name that looks like data", () => {
    expect(describeAnswer({ DE89370400440532013000: { balance: "1" }, name: "x" })).toBe(
      "{ name: string, … }",
    )
    expect(isName("0f8fad5b-d9cb-469f-a165-000000000001")).toBe(false)
    expect(isName("hasNextPage")).toBe(true)
  })

  it("never has a value in it, whatever the answer", () => {
    const value = fc.letrec((tie) => ({
      node: fc.oneof(
        { depthSize: "small" },
        fc.string().map((text) => `§${text}`),
        fc.integer({ min: 10_000 }),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("node"), { maxLength: 4 }),
        fc.dictionary(fc.constantFrom("a", "b", "c", "d9", "items"), tie("node")),
      ),
    })).node
    fc.assert(
      fc.property(value, (answer) => {
        expect(describeAnswer(answer)).not.toMatch(/§|[0-9]{5}|true|false/)
      }),
    )
  })
})

const name = fc.constantFrom("data", "rows", "result", "payload", "meta", "page", "list", "x")
const path = fc.uniqueArray(name, { minLength: 1, maxLength: 4 })
const nested = (keys: ReadonlyArray<string>, value: unknown): unknown =>
  keys.reduceRight<unknown>((inner, key) => ({ [key]: inner }), value)

describe("the list in an answer", () => {
  it("is found at any path, by its rows or as the only list", () => {
    const rows = fc.array(fc.record({ depositId: fc.uuid(), tags: fc.array(fc.string()) }), { maxLength: 3 })
    fc.assert(
      fc.property(path, rows, (keys, items) => {
        const found = lists(nested(keys, items), "depositId")
        expect(found).toEqual([{ path: keys.join("."), rows: items, known: items.length > 0 }])
      }),
    )
  })

  it("is the answer itself where that is an array", () => {
    expect(lists([{ depositId: "1" }], "depositId").map((list) => list.path)).toEqual([""])
  })

  it("is the one whose rows have the identifier, beside others", () => {
    const answer = { links: [{ rel: "self" }], data: { rows: [{ depositId: "1" }] }, errors: [] }
    expect(lists(answer, "depositId").map((list) => list.path)).toEqual(["data.rows"])
    expect(
      lists({ links: [{ rel: "self" }], data: [{ id: "1" }] }, "depositId").map((list) => list.path),
    ).toEqual(["links", "data"])
    expect(lists({ a: [], b: [] }, "depositId")).toEqual([])
  })

  it("has its PageInfo at any path, the answer itself included", () => {
    fc.assert(
      fc.property(path, (keys) => {
        expect(pageInfos(nested(keys, { hasNextPage: true, endCursor: "x" }))).toEqual([keys.join(".")])
      }),
    )
    expect(pageInfos({ hasNextPage: false, items: [] })).toEqual([""])
    expect(pageInfos({ pageInfo: { hasNextPage: "yes" } })).toEqual([])
  })
})

describe("a Money object", () => {
  it("has one field that reads as a decimal and one that is a currency code", () => {
    expect(moneyFields({ value: "12.50", ccy: "EUR", note: "x" })).toEqual({
      amounts: ["value"],
      currencies: ["ccy"],
    })
    expect(moneyFields({ value: 12.5, ccy: "eur" })).toEqual({ amounts: [], currencies: [] })
  })
})

describe("several witnesses", () => {
  it("agree on the meanings that fit all of them", () => {
    expect(agree([["a", "b"], ["b"]], "x")).toEqual({ kind: "agreed", name: "b" })
    expect(agree([["a", "b"]], "b")).toEqual({ kind: "agreed", name: "b" })
    expect(agree([["a", "b"]], "x")).toEqual({ kind: "split", names: ["a", "b"] })
    expect(agree([["a"], ["b"]], "x")).toEqual({ kind: "split", names: ["a", "b"] })
    expect(agree([], "x")).toEqual({ kind: "unknown" })
  })
})

describe("a second page", () => {
  const rows = fc
    .uniqueArray(fc.integer(), { minLength: 2 })
    .map((ids) => ids.map((id) => ({ id: `A${id}` })))

  it("has rows that were not on the first, and not the row that the first begins with", () => {
    fc.assert(
      fc.property(rows, fc.nat(), (all, cut) => {
        const at = 1 + (cut % (all.length - 1))
        const first = all.slice(0, at)
        expect(movedOn(first, all.slice(at), "id")).toBe(true)
        // Pages may repeat a row at their border.
        expect(movedOn(first, all.slice(at - 1), "id")).toBe(at > 1)
        expect(movedOn(first, first, "id")).toBe(false)
        // The first page again, with new rows.
        expect(movedOn(first, [{ id: "new" }, ...first], "id")).toBe(false)
        expect(movedOn(first, [], "id")).toBe(false)
      }),
    )
  })

  it("tells rows by their identifiers, whatever else differs from one answer to the next", () => {
    const first = [
      { id: "A1", readAt: 1 },
      { id: "A2", readAt: 1 },
    ]
    const again = [
      { id: "a1", readAt: 2 },
      { id: "a2", readAt: 2 },
    ]
    expect(movedOn(first, again, "id")).toBe(false)
  })
})
