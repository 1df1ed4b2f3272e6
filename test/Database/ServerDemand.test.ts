import { expect, it } from "@effect/vitest"
import { Effect, Either } from "effect"
import { text } from "../../src/Database/Columns.ts"
import { Database } from "../../src/Database.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const reaching = (parameters: string) =>
  Effect.gen(function* () {
    const { url } = yield* TestDatabase
    return yield* Effect.either(
      Effect.provide(
        Effect.flatMap(Database, ({ row }) =>
          row("Test.name", { name: text }, (sql) => sql`select current_setting('application_name') as name`),
        ),
        Database.layer(settingsFor(`${url}?${parameters}`)),
      ),
    )
  }).pipe(Effect.provide(TestDatabase.blank))

it.effect("a server that is not what target_session_attrs asks for is not used", () =>
  Effect.gen(function* () {
    for (const demand of ["any", "read-write", "primary", "prefer-standby"])
      expect([demand, Either.isRight(yield* reaching(`target_session_attrs=${demand}`))]).toEqual([
        demand,
        true,
      ])
    for (const demand of ["read-only", "standby"]) {
      const refused = Either.getOrThrow(Either.flip(yield* reaching(`target_session_attrs=${demand}`)))
      expect(refused.reason).toBe("Unreachable")
      expect(refused.message).toContain(
        `is a primary that may be written to, and DATABASE_URL asks for target_session_attrs=${demand}`,
      )
    }
    const reader = "default_transaction_read_only=on&target_session_attrs="
    expect(Either.isRight(yield* reaching(`${reader}read-only`))).toBe(true)
    expect(Either.isRight(yield* reaching(`${reader}read-write`))).toBe(false)
  }),
)

it.effect("application_name is our name in the server's list of sessions", () =>
  Effect.gen(function* () {
    expect(yield* reaching("application_name=books")).toEqual(Either.right({ name: "books" }))
    expect(yield* reaching("connect_timeout=5")).toEqual(Either.right({ name: "tieout" }))
  }),
)

it.effect("a parameter or value that the server does not know is a mistake in DATABASE_URL", () =>
  Effect.gen(function* () {
    for (const [parameter, what] of [
      ["colour=blue", 'unrecognized configuration parameter "colour"'],
      ["statement_timeout=soon", 'invalid value for parameter "statement_timeout": "soon"'],
    ] as const) {
      const refused = Either.getOrThrow(Either.flip(yield* reaching(parameter)))
      expect(refused.reason).toBe("Settings")
      expect(refused.message).toContain(what)
      expect(refused.message).toContain("Check DATABASE_URL.")
    }
  }),
)
