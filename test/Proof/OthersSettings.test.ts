/** Settings of the database and its roles: named are those that reach sessions which may read or write the books. */
import { randomBytes } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { text } from "../../src/Database/Columns.ts"
import { changedObjects } from "../../src/Database/Migrations/Objects.ts"
import { Database } from "../../src/Database.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { tried } from "./Falsehood.ts"

/** Roles belong to the whole server; this one is never committed. */
const role = `test_else_${randomBytes(6).toString("hex")}`

const named = Effect.gen(function* () {
  const database = yield* Database
  const found = yield* database.rows(
    "Test.changed",
    { name: text, message: text },
    (sql) => sql`select c.name, c.message from (${sql.unsafe(changedObjects)}) c`,
  )
  return found.map(({ message, name }) => `${name} ${message}`)
})

const looked = (statement: string) =>
  Effect.map(tried("unruled", `create role ${role}; ${statement}`, named), ({ look, refused }) => [
    refused,
    ...(look ?? []),
  ])

const set = `alter role ${role} set search_path = elsewhere`

layer(TestDatabase.layer, { excludeTestServices: true })("a setting of a role", (it) => {
  it.effect("is nothing to the books where the role may not look into them", () =>
    Effect.gen(function* () {
      expect(yield* looked(set)).toEqual([""])
      expect(yield* looked(`alter role ${role} set tieout.program = 'on'`)).toEqual([""])
    }),
  )

  it.effect("is named where the role, or one that it may become, has a right, with what takes it back", () =>
    Effect.gen(function* () {
      const expected = [
        "",
        `setting search_path=elsewhere of ${role} was not made by tieout migrate; to take it back: alter role ${role} reset search_path`,
      ]
      expect(yield* looked(`${set}; grant usage on schema ledger to ${role}`)).toEqual(expected)
      const member = `create role ${role}_2 noinherit; grant usage on schema ledger to ${role}_2; grant ${role}_2 to ${role}`
      expect(yield* looked(`${member}; ${set}`)).toEqual(expected)
      expect(yield* looked(`alter role ${role} superuser; ${set}`)).toEqual(expected)
    }),
  )

  it.effect(
    "is named where the whole database has it, but not where it is what every server begins with",
    () =>
      Effect.gen(function* () {
        const { name } = yield* TestDatabase
        expect(yield* looked(`alter database ${name} set search_path = elsewhere`)).toEqual([
          "",
          `setting search_path=elsewhere was not made by tieout migrate; to take it back: alter database ${name} reset search_path`,
        ])
        expect(yield* looked(`alter database ${name} set search_path = "$user", public`)).toEqual([""])
      }),
  )
})
