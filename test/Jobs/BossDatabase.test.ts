/** pg-boss's statements over our own client. */
import { describe, expect, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { isPassing } from "../../src/Database/DatabaseError.ts"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"
import { calling } from "../../src/Jobs/Boss.ts"
import { bossDatabase } from "../../src/Jobs/BossDatabase.ts"
import { aside } from "../support/aside.ts"
import { freePort } from "../support/Loopback.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

it.scopedLive(
  "runs scripts on sessions of their own, whichever statement is the first, and leaves no transaction open",
  () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const settings = yield* parseDatabaseUrl(Redacted.make(url))
      const { close, db } = bossDatabase(settings)
      yield* Effect.addFinalizer(() => Effect.promise(close))
      const run = (statement: string) => Effect.tryPromise(() => db.executeSql(statement))
      expect((yield* run("begin; select 1 as one; commit")).rows).toEqual([{ one: 1 }])
      expect((yield* run("select 2 as two")).rows).toEqual([{ two: 2 }])
      expect((yield* run("begin; select 3 as three; commit")).rows).toEqual([{ three: 3 }])
      yield* Effect.flip(run("begin; select 1 / 0; commit"))
      const open =
        "select count(*)::int as open from pg_stat_activity where datname = current_database() and state like 'idle in transaction%'"
      expect((yield* run(open)).rows).toEqual([{ open: 0 }])
    }).pipe(Effect.provide(TestDatabase.blank)),
)

it.scopedLive("writes again once a database that could only be read may be written to", () =>
  Effect.gen(function* () {
    const { name, url } = yield* TestDatabase
    const settings = yield* parseDatabaseUrl(Redacted.make(url))
    const turn = (how: string) =>
      aside((sql) => sql.unsafe(`begin read write; alter database ${name} ${how}; commit`))
    yield* aside((sql) => sql`create table public.note (id int)`)
    yield* turn("set default_transaction_read_only = on")
    const { close, db } = bossDatabase(settings)
    yield* Effect.addFinalizer(() => Effect.promise(close))
    const insert = calling("Jobs.send", () =>
      db.executeSql("insert into public.note values (1) returning id"),
    )
    const refused = yield* Effect.flip(insert).pipe(
      Effect.ensuring(turn("set default_transaction_read_only = off")),
    )
    expect(refused.sqlstate).toBe("25006")
    expect(yield* insert).toEqual({ rows: [{ id: 1 }] })
  }).pipe(Effect.provide(TestDatabase.blankLayer)),
)

describe("a statement of the queue that fails", () => {
  const failing = (call: () => Promise<unknown>) => Effect.flip(calling("Jobs.send", call))

  it.scopedLive("for an outage of the database is one, as everywhere: it is tried again", () =>
    Effect.gen(function* () {
      const port = yield* freePort
      const settings = yield* parseDatabaseUrl(Redacted.make(`postgres://nobody@127.0.0.1:${port}/none`))
      const { close, db } = bossDatabase(settings)
      const away = yield* failing(() => db.executeSql("select 1"))
      expect([away.reason, isPassing(away)]).toEqual(["Unreachable", true])
      expect(away.message).toContain("Jobs.send: the database cannot be reached")
      yield* Effect.promise(close)
      expect((yield* failing(() => db.executeSql("select 1"))).reason).toBe("Unreachable")
    }),
  )

  it.effect("for another reason has the words of the server or of pg-boss", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const { close, db } = bossDatabase(yield* parseDatabaseUrl(Redacted.make(url)))
      yield* Effect.addFinalizer(() => Effect.promise(close))
      const refused = yield* failing(() => db.executeSql("select from jobs.nothing"))
      expect([refused.reason, refused.sqlstate]).toEqual(["Other", "42P01"])
      const own = yield* failing(() => Promise.reject(new Error("Queue books does not exist")))
      expect(own.message).toBe("Jobs.send: Queue books does not exist. Nothing of this transaction was kept.")
    }).pipe(Effect.scoped, Effect.provide(TestDatabase.blank)),
  )
})
