import { randomBytes } from "node:crypto"
import { Context, Effect, Layer, Redacted } from "effect"
import { inject } from "vitest"
import { type Client, makeClient } from "../../src/Database/Client.ts"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"
import { Database } from "../../src/Database.ts"
import { settingsFor, withDatabase } from "./DatabaseAddress.ts"

let administrator: Client | undefined

/** Runs one statement on the test server itself, outside the test's database: on sessions that are kept for all tests of a process. */
const onServer = (statement: string) =>
  Effect.gen(function* () {
    const settings = yield* parseDatabaseUrl(Redacted.make(inject("testServerUrl")))
    administrator ??= makeClient(settings, { connections: 2 })
    const client = administrator
    yield* Effect.promise(() => client.unsafe(statement))
  }).pipe(Effect.orDie)

/**
 * Copies the template's files. By default the server would write the copy to its log, which costs ten times as much. All changes
 * of the template are in its files by then, because such a copy begins with a checkpoint.
 */
const create = (template: string, locale = "") =>
  Effect.acquireRelease(
    Effect.gen(function* () {
      const name = `tieout_test_${randomBytes(6).toString("hex")}`
      yield* onServer(`create database ${name} template ${template} strategy file_copy ${locale}`)
      return { name, url: withDatabase(inject("testServerUrl"), name) }
    }),
    ({ name }) => onServer(`drop database if exists ${name} with (force)`),
  )

/**
 * A database of the test's own on the run's server: a copy of the migrated template (30 ms), dropped with the scope.
 * `url` is what a child process takes as `DATABASE_URL`.
 */
export class TestDatabase extends Context.Tag("TestDatabase")<
  TestDatabase,
  { readonly name: string; readonly url: string }
>() {
  static readonly migrated = Layer.scoped(
    TestDatabase,
    Effect.suspend(() => {
      const broken = inject("testTemplateError")
      return broken === ""
        ? create(inject("testTemplate"))
        : Effect.dieMessage(`The migrations do not apply: ${broken}`)
    }),
  )

  /** Without any migration. */
  static readonly blank = Layer.scoped(
    TestDatabase,
    Effect.suspend(() => create("template0")),
  )

  /** Without any migration, and with the letters of a Turkish server, where a small I has no dot. */
  static readonly turkish = Layer.scoped(
    TestDatabase,
    Effect.suspend(() => create("template0", "locale_provider icu icu_locale 'tr' encoding 'UTF8'")),
  )

  private static readonly database = Layer.unwrapEffect(
    Effect.map(TestDatabase, ({ url }) => Database.layer(settingsFor(url))),
  )

  /** `Database` on a migrated database, and its `TestDatabase`. */
  static readonly layer = Layer.provideMerge(TestDatabase.database, TestDatabase.migrated)

  /** `Database` on an empty database, and its `TestDatabase`. */
  static readonly blankLayer = Layer.provideMerge(TestDatabase.database, TestDatabase.blank)

  static readonly turkishLayer = Layer.provideMerge(TestDatabase.database, TestDatabase.turkish)
}

/** Runs a test on a migrated database of its own, beside the one that its file shares. */
export const inOwnDatabase = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provide(effect, TestDatabase.layer)
