/** A role named `ledger`, or one that has its own path for psql, would print names of ours without their schema. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { shapeOf, tablesOf } from "../../src/Backup/Catalog.ts"
import { text } from "../../src/Database/Columns.ts"
import { changedObjects } from "../../src/Database/Migrations/Objects.ts"
import { Database } from "../../src/Database.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const changed = Effect.flatMap(Database, (database) =>
  database.rows(
    "Test.changed",
    { name: text },
    (sql) => sql`select c.name from (${sql.unsafe(changedObjects)}) c`,
  ),
)

layer(TestDatabase.layer, { excludeTestServices: true })("a path of schemas that others have set", (it) => {
  it.scoped("leaves the names of a backup's tables, and of the rules that are proved, as they are", () =>
    Effect.gen(function* () {
      const { name, url } = yield* TestDatabase
      const database = yield* Database
      const before = yield* tablesOf()
      const path = "ledger, mirror, export"
      yield* database.execute("Test.path", (sql) =>
        sql.unsafe(`alter database ${name} set search_path = ${path}`),
      )
      for (const address of [url, `${url}${url.includes("?") ? "&" : "?"}search_path=ledger`]) {
        yield* Effect.gen(function* () {
          expect(yield* tablesOf()).toEqual(before)
          expect(yield* changed).toEqual([{ name: `setting search_path=${path}` }])
        }).pipe(Effect.provide(Database.layer(settingsFor(address))))
      }
    }),
  )

  it.effect("is no hindrance to what was written under one: columns tell which table is meant", () =>
    Effect.gen(function* () {
      const tables = yield* tablesOf()
      const bare = tables.map(({ columns, name }) => ({ columns, table: name.replace(/^.*[.]/, "") }))
      expect(bare.map((one) => shapeOf(tables, one))).toEqual(tables)
      expect(bare.map(({ table }) => shapeOf(tables, { columns: [], table }))).toEqual(
        bare.map(() => undefined),
      )
    }),
  )
})
