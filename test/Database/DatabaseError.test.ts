import { expect, layer } from "@effect/vitest"
import { sql as drizzleSql } from "drizzle-orm"
import { Effect, Either, Option, Redacted } from "effect"
import { describe, it as test } from "vitest"
import { databaseError, toDatabaseError } from "../../src/Database/DatabaseError.ts"
import { acceptVersion } from "../../src/Database/ServerVersion.ts"
import { Database } from "../../src/Database.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const secret = "s3cr3t-value"

/** All texts that a careless logger could get from an error. */
const everything = (error: object): string =>
  [
    String(error),
    JSON.stringify(error),
    ...Object.getOwnPropertyNames(error).map((name) => String(Reflect.get(error, name))),
  ].join("\n")

layer(TestDatabase.blankLayer, { excludeTestServices: true })("an error of the database", (it) => {
  const setup = Effect.gen(function* () {
    const database = yield* Database
    yield* database.query("Test.setup", (sql) =>
      sql`
        drop table if exists public.thing;
        create table public.thing (id text primary key, amount numeric constraint amount_positive check (amount > 0));
        create or replace function public.refuse() returns trigger language plpgsql as $$
          begin raise exception 'entry does not balance' using errcode = 'TO001'; end $$;
        create trigger refuse before delete on public.thing for each statement execute function public.refuse()`.simple(),
    )
    return database
  })

  it.effect("names the constraint that refused a row, and none of the row's values", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const add = database.query("Thing.add", (sql) => sql`insert into public.thing values (${secret}, 1)`)
      yield* add
      const error = yield* Effect.flip(add)
      expect(error).toMatchObject({
        _tag: "DatabaseError",
        reason: "Refused",
        operation: "Thing.add",
        sqlstate: "23505",
        constraint: "thing_pkey",
        table: "public.thing",
      })
      expect(error.message).toBe(
        'Thing.add: duplicate key value violates unique constraint "thing_pkey" [23505]. Nothing of this transaction was kept.',
      )
      expect(everything(error)).not.toContain(secret)
    }),
  )

  it.effect("is unwrapped from drizzle's error, which holds every parameter", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const error = yield* Effect.flip(
        database.orm("Thing.add", (orm) =>
          orm.execute(drizzleSql`insert into public.thing values (${secret}, ${"-1"}::numeric)`),
        ),
      )
      expect(error).toMatchObject({ reason: "Refused", sqlstate: "23514", constraint: "amount_positive" })
      expect(everything(error)).not.toContain(secret)
    }),
  )

  it.effect("does not repeat a value that does not fit a column", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const error = yield* Effect.flip(
        database.query(
          "Thing.add",
          (sql) => sql`insert into public.thing values ('a', ${secret}::text::numeric)`,
        ),
      )
      expect(error).toMatchObject({ reason: "Other", sqlstate: "22P02" })
      expect(everything(error)).not.toContain(secret)
    }),
  )

  it.effect("carries the message of our own triggers", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const error = yield* Effect.flip(database.query("Thing.remove", (sql) => sql`delete from public.thing`))
      expect(error).toMatchObject({ reason: "Refused", sqlstate: "TO001" })
      expect(error.message).toContain("entry does not balance")
    }),
  )

  it.effect("says that the disk is full", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const error = yield* Effect.flip(
        database.query(
          "Test.full",
          (sql) => sql`do $$ begin raise exception 'no space' using errcode = '53100'; end $$`,
        ),
      )
      expect(error.reason).toBe("DiskFull")
    }),
  )

  it.effect("is a conflict with another transaction, when a lock cannot be taken in time", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const { url } = yield* TestDatabase
      const waiting = Effect.gen(function* () {
        const other = yield* Database
        return yield* Effect.flip(
          other.transaction(
            other.query("Test.wait", (sql) =>
              sql`set local lock_timeout = '20ms'; lock table public.thing`.simple(),
            ),
          ),
        )
      }).pipe(Effect.provide(Database.layer(settingsFor(url))))
      const error = yield* database.transaction(
        Effect.zipRight(
          database.query("Test.hold", (sql) => sql`lock table public.thing`),
          waiting,
        ),
      )
      expect([error.reason, error.sqlstate]).toEqual(["Conflict", "55P03"])
    }),
  )

  it.effect("says what to do where the database allows a statement too little time", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const slow = Effect.gen(function* () {
        const database = yield* Database
        return yield* Effect.flip(database.query("Test.slow", (sql) => sql`select pg_sleep(5)`))
      })
      const error = yield* slow.pipe(
        Effect.provide(Database.layer(settingsFor(`${url}?statement_timeout=50ms`))),
      )
      expect([error.reason, error.message]).toEqual([
        "Other",
        "Test.slow: canceling statement due to statement timeout [57014]. Nothing of this transaction was kept. Unless somebody cancelled it, the database or the role has a statement_timeout that is too short: raise it for Tieout's role, or add statement_timeout=0 to the parameters of DATABASE_URL (?statement_timeout=0).",
      ])
    }),
  )

  it.effect("is an outage, when the server ends a transaction that was idle for too long", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const error = yield* Effect.flip(
        database.transaction(
          database
            .query("Test.set", (sql) => sql`set idle_in_transaction_session_timeout = '50ms'`)
            .pipe(
              Effect.zipRight(Effect.sleep("1 second")),
              Effect.zipRight(database.query("Test.late", (sql) => sql`select 1`)),
            ),
        ),
      )
      expect(error.reason).toBe("Unreachable")
    }),
  )

  it.effect("does not repeat the text of an unknown error", () =>
    Effect.sync(() => {
      const error = toDatabaseError("Test.odd", new Error(`Failed query: insert params: ${secret}`))
      expect(error.reason).toBe("Other")
      expect(everything(error)).not.toContain(secret)
    }),
  )

  it.effect("names the address of an unreachable server, without its password", () =>
    Effect.gen(function* () {
      const url = `postgres://me:${secret}@127.0.0.1:1/books`
      const error = yield* Effect.flip(
        Effect.scoped(
          Effect.provide(
            Effect.void,
            Database.layer({ url: Option.some(Redacted.make(url)), dataDir: "unused" }),
          ),
        ),
      )
      expect(error).toMatchObject({
        _tag: "DatabaseError",
        reason: "Unreachable",
        operation: "Database.connect",
      })
      expect(error.message).toContain("postgres://me@127.0.0.1:1/books")
      expect(error.message).toContain("ECONNREFUSED")
      expect(everything(error)).not.toContain(secret)
    }),
  )

  it.effect("says that the password or the database is wrong", () =>
    Effect.gen(function* () {
      const { url } = yield* TestDatabase
      const refused = (changed: string) =>
        Effect.flip(
          Effect.provide(
            Effect.void,
            Database.layer({ url: Option.some(Redacted.make(changed)), dataDir: "unused" }),
          ),
        )
      const missing = yield* refused(url.replace(/\/[^/]*$/, "/no_such_database"))
      expect(missing).toMatchObject({ reason: "Settings", sqlstate: "3D000" })
      expect(missing.message).toContain('database "no_such_database" does not exist')
    }),
  )
})

test("a statement that the server cancels in another language may have met its timeout", () => {
  const cancelled = (said: string) =>
    toDatabaseError("Test.slow", Object.assign(new Error(said), { code: "57014" })).message
  expect(cancelled("storniere Anfrage wegen Zeitüberschreitung der Anfrage")).toContain("statement_timeout")
  expect(cancelled("canceling statement due to user request")).not.toContain("statement_timeout")
})

describe("a server's version", () => {
  test("15 and later are accepted", () => {
    expect(Either.isRight(acceptVersion(150_000, "s"))).toBe(true)
    expect(Either.isRight(acceptVersion(180_004, "s"))).toBe(true)
  })

  test("an older one is refused, with what to do", () => {
    const refused = Either.flip(acceptVersion(140_012, "postgres://me@db:5432/books"))
    expect(Either.getOrThrow(refused)).toMatchObject({
      reason: "Settings",
      message:
        "Database.connect: postgres://me@db:5432/books is Postgres 14, and Tieout needs 15 or later. Check DATABASE_URL.",
    })
  })
})

test("a database that was reached and is not fit is not blamed on DATABASE_URL, which may not be set", () => {
  const unfit = databaseError("Settings", "Database.read", "the database is older: run tieout migrate")
  expect(unfit.message).toBe("Database.read: the database is older: run tieout migrate.")
})

test("a server that takes no more connections says that they are too few, and stays an outage", () => {
  const full = toDatabaseError(
    "Database.transaction",
    Object.assign(new Error("sorry, too many clients already"), { code: "53300" }),
    "the server",
  )
  expect(full.reason).toBe("Unreachable")
  expect(full.message).toBe(
    "Database.transaction: the database takes no more connections: sorry, too many clients already [53300]. Each process of Tieout opens up to ten and a few for locks: raise max_connections, or the limit of the role or the database, or let less run at once; nothing half-done was kept, run the command again.",
  )
})
