import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Database } from "../../../src/Database.ts"
import { beginJournal } from "../../../src/Valuation/BaseJournal.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

/** Names and types, in order. */
const columnsOf = Effect.fnUntraced(function* (view: string) {
  const database = yield* Database
  const rows = yield* database.query(
    "Test.columns",
    (sql) => sql<Array<{ name: string }>>`
      select a.attname || ' ' || format_type(a.atttypid, a.atttypmod) as name from pg_attribute a
      where a.attrelid = ${view}::text::regclass and a.attnum > 0 order by a.attnum`,
  )
  return rows.map(({ name }) => name)
})

layer(TestDatabase.layer)("the views of a journal", (it) => {
  it.effect("have the same columns in the books' own currencies, in the base currency, and of a time", () =>
    Effect.gen(function* () {
      const database = yield* Database
      for (const view of ["journal", "journal_lines"]) {
        const native = yield* columnsOf(`ledger.${view}`)
        expect(native.length).toBeGreaterThan(10)
        expect(yield* columnsOf(`valuation.${view}`)).toEqual(native)
        const then = Effect.zipRight(beginJournal("then"), columnsOf(`pg_temp.then_${view}`))
        expect(yield* database.transaction(then)).toEqual(native)
      }
    }),
  )

  it.effect("of a time go away with their transaction", () =>
    Effect.gen(function* () {
      const database = yield* Database
      yield* database.transaction(beginJournal("then"))
      const left = yield* database.query(
        "Test.left",
        (sql) => sql<Array<{ left: boolean }>>`
          select exists (select from pg_class where relname like 'then%') as left`,
      )
      expect(left[0]?.left).toBe(false)
    }),
  )
})
