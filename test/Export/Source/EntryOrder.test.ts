import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Database } from "../../../src/Database.ts"
import { selectionOf } from "../../../src/Export/Request/ExportScope.ts"
import { numberedByDate } from "../../../src/Export/Source/EntryOrder.ts"
import { byDate } from "../../../src/Export/Source/EntryQuery.ts"
import { lookUpOneByOne } from "../../../src/Export/Source/JournalViews.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { openBook } from "../Books.ts"
import { all, deposit } from "../Exporting.ts"

const whole = { from: null, to: null }
const september = { from: "2026-09-01", to: "2026-09-30" }
const october = { from: "2026-10-01", to: "2026-10-31" }

layer(TestDatabase.layer, { excludeTestServices: true })("entries by journal number", (it) => {
  it.effect("are in the order of their dates until one is booked late", () =>
    Effect.gen(function* () {
      const book = yield* openBook("ORG")
      expect(yield* numberedByDate(book, whole)).toBe(true)
      yield* deposit(book, "2026-10-05")
      yield* deposit(book, "2026-10-05")
      yield* deposit(book, "2026-10-07")
      // Months have numbers of their own.
      yield* deposit(book, "2026-09-29")
      expect(yield* numberedByDate(book, whole)).toBe(true)

      yield* deposit(book, "2026-10-06")
      expect(yield* numberedByDate(book, whole)).toBe(false)
      expect(yield* numberedByDate(book, october)).toBe(false)
      expect(yield* numberedByDate(book, { from: "2026-10-20", to: "2026-10-21" })).toBe(false)
      expect(yield* numberedByDate(book, september)).toBe(true)
      const other = yield* openBook("CL-00001", "33333333-0000-4000-8000-000000000001")
      expect(yield* numberedByDate(other, whole)).toBe(true)
    }),
  )

  it.effect(
    "are looked up one by one in the order of their dates, though nothing is known of the tables yet",
    () =>
      Effect.gen(function* () {
        const database = yield* Database
        const book = yield* openBook("CL-00002", "33333333-0000-4000-8000-000000000002")
        const selection = yield* Effect.map(selectionOf(all), (chosen) => chosen ?? expect.fail())
        const plan = database.transaction(
          Effect.zipRight(
            lookUpOneByOne(true),
            database.query(
              "Test.plan",
              (sql) => sql<Array<{ "QUERY PLAN": string }>>`
              explain (costs off) ${byDate(sql, book, "native", selection)}`,
            ),
          ),
        )
        const lines = (yield* plan).map((row) => row["QUERY PLAN"])
        expect(lines.join("\n")).toContain("Index Cond: ((book_id = ")
        expect(lines.filter((line) => /Materialize|Seq Scan/.test(line))).toEqual([])
      }),
  )
})
