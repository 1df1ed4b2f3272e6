/** How `src` reads rows: by columns that every answer is compared with, never by a cast. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { sources } from "../support/folderMap.ts"

describe("the statements of src", () => {
  const files = sources().map((path) => ({ path, text: readFileSync(path, "utf8") }))
  const saying = (what: RegExp) => files.filter(({ text }) => what.test(text)).map(({ path }) => path)

  it("claim no type for what the database answers", () => {
    expect(saying(/\b(?:sql|client)<[^`]*`/)).toEqual([])
  })

  it("read no rows that nobody looks at", () => {
    expect(saying(/\bdatabase\s*\.query\(/)).toEqual([])
  })

  it("take lists as arrays: the server would read a text again for each row that it compares", () => {
    expect(saying(/\}::text::[a-z0-9]+\[\]/)).toEqual([])
  })

  it("ask no index for each pair of two lists: before version 17 Postgres looks every one of them up", () => {
    const [, ...functions] = readFileSync("drizzle/rules.sql", "utf8").split("create or replace function ")
    const pairing = functions.filter((text) => (text.match(/= any \(array\(select/g) ?? []).length > 1)
    // All lines of one statement are of one book.
    expect(pairing.map((text) => text.split("(", 1)[0])).toEqual(["ledger.check_postings"])
  })
})
