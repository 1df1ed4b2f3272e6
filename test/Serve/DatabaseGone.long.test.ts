import { expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { inject } from "vitest"
import { makeClient } from "../../src/Database/Client.ts"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"
import { aside } from "../support/aside.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { ask, serving } from "./Asking.ts"

const drop = (name: string) =>
  Effect.acquireUseRelease(
    Effect.map(parseDatabaseUrl(Redacted.make(inject("testServerUrl"))), (settings) =>
      makeClient(settings, { connections: 1 }),
    ),
    (client) => Effect.promise(() => client.unsafe(`drop database ${name} with (force)`)),
    (client) => Effect.promise(() => client.end({ timeout: 2 })),
  )

it.scopedLive("a database that is gone: alive, not ready, and every page says so", () =>
  Effect.gen(function* () {
    const port = yield* serving()
    expect((yield* ask(port, "/readyz")).status).toBe(200)
    const { name } = yield* TestDatabase
    yield* drop(name)
    expect((yield* ask(port, "/healthz")).status).toBe(200)
    // The last result of the probe is repeated for five seconds.
    const { body } = yield* Effect.repeat(Effect.delay(ask(port, "/readyz"), "100 millis"), {
      until: ({ status }) => status === 503,
    })
    expect(body).toMatch(/^not ready: the database /)
    const page = yield* ask(port, "/")
    expect([page.status, page.body.includes("The database cannot be read at the moment")]).toEqual([
      503,
      true,
    ])
    const metrics = yield* ask(port, "/metrics")
    expect([metrics.status, metrics.body.includes("tieout_database_up 0\n")]).toEqual([200, true])
  }).pipe(Effect.provide(TestDatabase.layer)),
)

it.scopedLive(
  "a database that may only be read: not ready until it may be written to again, and the page shows it",
  () =>
    Effect.gen(function* () {
      const { name } = yield* TestDatabase
      const turn = (how: string) =>
        aside((sql) => sql.unsafe(`begin read write; alter database ${name} ${how}; commit`))
      const cut = aside(
        (sql) => sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`,
      )
      const port = yield* serving()
      const until = (text: string) =>
        Effect.repeat(Effect.delay(ask(port, "/readyz"), "100 millis"), {
          until: ({ body }) => body === text,
        })
      yield* until("ready\n")
      yield* Effect.zipRight(turn("set default_transaction_read_only = on"), cut)
      const { status } = yield* until("not ready: the database may only be read at the moment\n")
      expect(status).toBe(503)
      expect((yield* ask(port, "/")).status).toBe(200)
      yield* turn("reset default_transaction_read_only")
      yield* until("ready\n")
    }).pipe(Effect.provide(TestDatabase.layer)),
)
