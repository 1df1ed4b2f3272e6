import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import fc from "fast-check"
import { describe, it as test } from "vitest"
import { readArray, writeArray } from "../../src/Database/ArrayText.ts"
import { Database } from "../../src/Database.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const same = (item: string): string => item

/** Text that Postgres can hold, with all characters that are special in an array. */
const item = fc
  .option(
    fc.oneof(fc.string({ unit: "binary" }), fc.string({ unit: fc.constantFrom(..."{}\",\\ NUL'\n") })),
    {
      nil: null,
    },
  )
  .filter((text) => text === null || (!text.includes("\0") && text.isWellFormed()))

describe("the text of an array", () => {
  test("reads back as what was written", () => {
    const roundTrips = fc.property(fc.array(item), (items) => {
      expect(readArray(writeArray(items), same)).toEqual(items)
    })
    fc.assert(roundTrips)
  })

  test("is read as Postgres writes it", () => {
    expect(readArray('{a,NULL,"NULL","c,d","",{}}', same)).toEqual(["a", null, "NULL", "c,d", "", []])
    expect(readArray("[0:1]={{1,2},{3,NULL}}", same)).toEqual([
      ["1", "2"],
      ["3", null],
    ])
  })
})

layer(TestDatabase.blankLayer)("Postgres", (it) => {
  it.effect("reads what we write, and we read what it writes", () =>
    Effect.gen(function* () {
      const database = yield* Database
      for (const items of fc.sample(fc.array(item, { maxLength: 8 }), 50)) {
        const [row] = yield* database.query(
          "Test.array",
          (sql) => sql`select ${items}::text[] as array, array_to_json(${items}::text[])::text as json`,
        )
        expect(row?.array).toEqual(items)
        expect(JSON.parse(row?.json)).toEqual(items)
      }
    }),
  )
})
