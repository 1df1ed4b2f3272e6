import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Database } from "../../src/Database.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

layer(TestDatabase.blankLayer, { excludeTestServices: true })("a lock", (it) => {
  it.effect("is busy while somebody holds it, and free right after", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const busy = yield* database.withSessionLock(
        "sync default",
        Effect.flip(database.withSessionLock("sync default", Effect.void)),
      )
      expect(busy).toMatchObject({ _tag: "LockBusy", lock: "sync default" })
      expect(yield* database.withSessionLock("sync default", Effect.succeed("mine"))).toBe("mine")
    }),
  )

  it.effect("of many is named by its first", () =>
    Effect.gen(function* () {
      const { tryLocks, withSessionLock } = yield* Database
      const many = ["one", "two", "three", "four", "five"].map((lock) => ({ lock, shared: false }))
      const busy = withSessionLock("five", Effect.flip(Effect.scoped(tryLocks(...many))))
      expect(yield* busy).toMatchObject({ lock: "one, two, three and 2 more" })
    }),
  )

  it.effect("leaves other locks alone", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const inner = database.withSessionLock("sync other", Effect.succeed("both"))
      expect(yield* database.withSessionLock("sync default", inner)).toBe("both")
    }),
  )

  it.effect("may be shared, beside one of its own, and is whole or not at all", () =>
    Effect.gen(function* () {
      const { tryLocks, withSessionLock } = yield* Database
      const part = (own: string) =>
        Effect.scoped(
          tryLocks({ lock: "all", shared: true }, { lock: own, shared: false }).pipe(Effect.as(own)),
        )
      const beside = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
        Effect.scoped(
          Effect.zipRight(tryLocks({ lock: "all", shared: true }, { lock: "one", shared: false }), effect),
        )
      expect(yield* beside(part("two"))).toBe("two")
      expect(yield* beside(Effect.flip(part("one")))).toMatchObject({ _tag: "LockBusy", lock: "all, one" })
      expect(yield* beside(Effect.flip(withSessionLock("all", Effect.void)))).toMatchObject({ lock: "all" })
      // What was refused has left nothing taken.
      yield* beside(Effect.ignore(part("one")))
      expect(yield* withSessionLock("all", Effect.flip(part("three")))).toMatchObject({ _tag: "LockBusy" })
      expect(yield* withSessionLock("all", Effect.succeed("alone"))).toBe("alone")
    }),
  )

  it.effect("is given back when its holder fails or is interrupted", () =>
    Effect.gen(function* () {
      const database = yield* Database
      yield* Effect.ignore(database.withSessionLock("sync default", Effect.fail("no")))
      const held = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        database.withSessionLock(
          "sync default",
          Effect.zipRight(Deferred.succeed(held, undefined), Effect.never),
        ),
      )
      yield* Deferred.await(held)
      yield* Fiber.interrupt(fiber)
      yield* database.withSessionLock("sync default", Effect.void)
    }),
  )

  it.effect("stops its holder when its connection is cut", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const held = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        database.withSessionLock(
          "sync default",
          Effect.zipRight(Deferred.succeed(held, undefined), Effect.never),
        ),
      )
      yield* Deferred.await(held)
      yield* database.query(
        "Test.cut",
        (sql) => sql`
          select pg_terminate_backend(pid) from pg_locks
          where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
      )
      const error = yield* Effect.flip(Fiber.join(fiber))
      expect(error).toMatchObject({ _tag: "DatabaseError", reason: "Unreachable" })
      yield* database.withSessionLock("sync default", Effect.void)
    }),
  )

  it.effect("is taken on another session where the one before it was cut meanwhile", () =>
    Effect.gen(function* () {
      const database = yield* Database
      yield* database.withSessionLock("sync default", Effect.void)
      yield* database.query(
        "Test.cut",
        (sql) => sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`,
      )
      expect(yield* database.withSessionLock("sync default", Effect.succeed("mine"))).toBe("mine")
    }),
  )

  it.effect("is not kept by the session that is kept for the next one", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const locks = database.query(
        "Test.locks",
        (sql) => sql`
          select pid from pg_locks
          where locktype = 'advisory' and database = (select oid from pg_database where datname = current_database())`,
      )
      const taken = yield* database.withSessionLock("sync default", locks)
      expect(taken).toHaveLength(1)
      expect(yield* locks).toHaveLength(0)
      expect(yield* database.withSessionLock("sync other", locks)).toEqual(taken)
    }),
  )

  it.effect("keeps nothing from being cleaned while it is held", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const seen = database.query<[{ taken: boolean; held_back: boolean }]>(
        "Test.snapshots",
        (sql) => sql`
          select count(*) > 0 as taken, bool_or(a.backend_xmin is not null) as held_back
          from pg_locks l join pg_stat_activity a on a.pid = l.pid
          where l.locktype = 'advisory' and l.database = (select oid from pg_database where datname = current_database())`,
      )
      const released = Effect.repeat(seen, { until: ([row]) => !row.held_back, times: 500 })
      const [found] = yield* database.withSessionLock("sync default", released)
      expect(found).toEqual({ taken: true, held_back: false })
    }),
  )
})
