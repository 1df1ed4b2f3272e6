import { expect, layer } from "@effect/vitest"
import { sql as fragment } from "drizzle-orm"
import { Deferred, Effect, Exit, Fiber, Ref, Stream } from "effect"
import type { Sql } from "../../src/Database/Client.ts"
import { int4, nullable, text } from "../../src/Database/Columns.ts"
import { Database } from "../../src/Database.ts"
import { aside } from "../support/aside.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const setup = Effect.gen(function* () {
  const database = yield* Database
  yield* database.query("Test.setup", (sql) => sql`drop table if exists public.note`)
  yield* database.query(
    "Test.setup",
    (sql) => sql`create table public.note (id int primary key, body text, check (body <> 'bad'))`,
  )
  return database
})

const insert = (id: number, body = "text") =>
  Effect.flatMap(Database, (database) =>
    database.query("Note.insert", (sql) => sql`insert into public.note values (${id}, ${body})`),
  )

const ids = Effect.flatMap(Database, (database) =>
  database.query("Note.list", (sql) => sql<{ id: number }[]>`select id from public.note order by id`),
).pipe(Effect.map((rows) => rows.map(({ id }) => id)))

layer(TestDatabase.blankLayer, { excludeTestServices: true })("a transaction", (it) => {
  it.effect("commits when its effect succeeds, and answers its value", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const answer = yield* database.transaction(Effect.zipRight(insert(1), Effect.succeed("done")))
      expect(answer).toBe("done")
      expect(yield* ids).toEqual([1])
    }),
  )

  it.effect("rolls back when its effect fails, and fails with the same error", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const exit = yield* Effect.exit(database.transaction(Effect.zipRight(insert(1), Effect.fail("no"))))
      expect(exit).toEqual(Exit.fail("no"))
      expect(yield* ids).toEqual([])
    }),
  )

  it.effect("rolls back when its effect dies", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const exit = yield* Effect.exit(database.transaction(Effect.zipRight(insert(1), Effect.die("bug"))))
      expect(exit).toEqual(Exit.die("bug"))
      expect(yield* ids).toEqual([])
    }),
  )

  it.effect("is not seen by others before it commits", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const inside = yield* database.transaction(
        Effect.gen(function* () {
          yield* insert(1)
          const others = yield* aside((sql) => sql`select id from public.note`)
          return { own: yield* ids, others: others.length }
        }),
      )
      expect(inside).toEqual({ own: [1], others: 0 })
    }),
  )

  it.effect("rolls back when it is interrupted, after its running statement has ended", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const started = yield* Deferred.make<void>()
      const fiber = yield* Effect.fork(
        database.transaction(
          Effect.gen(function* () {
            yield* insert(1)
            yield* Deferred.succeed(started, undefined)
            yield* database.query("Test.sleep", (sql) => sql`select pg_sleep(0.3)`)
          }),
        ),
      )
      yield* Deferred.await(started)
      yield* Fiber.interrupt(fiber)
      expect(yield* ids).toEqual([])
      const open = yield* database.query(
        "Test.open",
        (sql) =>
          sql`select 1 from pg_stat_activity where datname = current_database() and state like 'idle in%'`,
      )
      expect(open.length).toBe(0)
    }),
  )

  it.effect("has the server cancel a long statement when it is interrupted", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const fiber = yield* Effect.fork(
        database.transaction(database.query("Test.sleep", (sql) => sql`select pg_sleep(600)`)),
      )
      yield* Effect.sleep("200 millis")
      yield* Fiber.interrupt(fiber)
      const running = yield* database.query(
        "Test.running",
        (sql) => sql`select 1 from pg_stat_activity where query like '%pg_sleep(600)' and state = 'active'`,
      )
      expect(running.length).toBe(0)
    }),
  )

  it.effect("does not run a drizzle statement again when it is interrupted", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const locked = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      const hold = database
        .query("Test.lock", (sql) => sql`select pg_advisory_xact_lock(1)`)
        .pipe(Effect.zipRight(Deferred.succeed(locked, undefined)), Effect.zipRight(Deferred.await(release)))
      yield* Effect.fork(database.transaction(hold))
      yield* Deferred.await(locked)
      const fiber = yield* Effect.fork(
        database.orm("Note.next", (orm) =>
          orm.execute(
            fragment`insert into public.note select (select count(*) from public.note) + 1, 'text' from pg_advisory_xact_lock(1)`,
          ),
        ),
      )
      yield* database
        .query(
          "Test.waiting",
          (sql) => sql`select 1 from pg_locks where locktype = 'advisory' and not granted`,
        )
        .pipe(Effect.repeat({ until: (found) => found.length > 0 }))
      const interrupted = yield* Effect.fork(Fiber.interrupt(fiber))
      yield* Effect.sleep("50 millis")
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.await(interrupted)
      expect(yield* ids).toEqual([1])
    }),
  )

  it.effect("keeps what was done before a nested one that failed", () =>
    Effect.gen(function* () {
      const database = yield* setup
      yield* database.transaction(
        Effect.gen(function* () {
          yield* insert(1)
          yield* Effect.ignore(database.transaction(Effect.zipRight(insert(2), insert(1))))
          yield* database.transaction(Effect.zipRight(insert(3), database.transaction(insert(4))))
        }),
      )
      expect(yield* ids).toEqual([1, 3, 4])
    }),
  )

  it.effect("undoes its nested ones when it fails itself", () =>
    Effect.gen(function* () {
      const database = yield* setup
      yield* Effect.ignore(
        database.transaction(Effect.zipRight(database.transaction(insert(1)), Effect.fail("later"))),
      )
      expect(yield* ids).toEqual([])
    }),
  )

  it.effect("keeps nested ones that run side by side apart", () =>
    Effect.gen(function* () {
      const database = yield* setup
      yield* database.transaction(
        Effect.forEach(
          [1, 2, 3, 4, 5, 6],
          (id) =>
            Effect.ignore(
              database.transaction(
                Effect.zipRight(insert(id), id % 2 === 0 ? Effect.fail("even") : Effect.void),
              ),
            ),
          { concurrency: "unbounded" },
        ),
      )
      expect(yield* ids).toEqual([1, 3, 5])
    }),
  )

  it.effect("never pretends to commit when a statement failed and the failure was swallowed", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const error = yield* Effect.flip(
        database.transaction(Effect.zipRight(insert(1), Effect.ignore(insert(1)))),
      )
      expect(error.message).toContain("a statement had failed, so the transaction was rolled back")
      expect(yield* ids).toEqual([])
    }),
  )

  it.effect("dies when a fiber that outlived it goes on using it", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const go = yield* Deferred.make<void>()
      const fiber = yield* database.transaction(
        Effect.forkDaemon(Effect.zipRight(Deferred.await(go), insert(1))),
      )
      yield* Deferred.succeed(go, undefined)
      expect(Exit.isFailure(yield* Fiber.await(fiber))).toBe(true)
      expect(yield* ids).toEqual([])
    }),
  )

  it.effect("is run again after a deadlock", () =>
    Effect.gen(function* () {
      const database = yield* setup
      yield* insert(1)
      yield* insert(2)
      const runs = yield* Ref.make(0)
      const update = (id: number) =>
        database.query(
          "Note.update",
          (sql) => sql`update public.note set body = body || ${"+"} where id = ${id}`,
        )
      const holds = { 1: yield* Deferred.make<void>(), 2: yield* Deferred.make<void>() }
      const both = (first: 1 | 2, second: 1 | 2) =>
        database.transaction(
          Effect.gen(function* () {
            yield* Ref.update(runs, (n) => n + 1)
            yield* update(first)
            yield* Deferred.succeed(holds[first], undefined)
            yield* Deferred.await(holds[second])
            // What the caller makes of the error does not matter.
            yield* Effect.mapError(update(second), () => "mine")
          }),
        )
      yield* Effect.all([both(1, 2), both(2, 1)], { concurrency: 2 })
      const bodies = yield* database.query(
        "Note.bodies",
        (sql) => sql`select body from public.note order by id`,
      )
      expect(bodies.map(({ body }) => body)).toEqual(["text++", "text++"])
      expect(yield* Ref.get(runs)).toBeGreaterThan(2)
    }),
  )

  it.effect("is run again after a serialization failure, as often as it takes, within bounds", () =>
    Effect.gen(function* () {
      const database = yield* setup
      yield* insert(1, "0")
      const increment = database.transaction(
        Effect.gen(function* () {
          const [row] = yield* database.query(
            "Note.read",
            (sql) => sql<[{ body: string }]>`select body from public.note`,
          )
          yield* Effect.sleep("20 millis")
          const next = `${BigInt(row.body) + 1n}`
          yield* database.query("Note.write", (sql) => sql`update public.note set body = ${next}`)
        }),
        { isolation: "serializable" },
      )
      yield* Effect.all([increment, increment, increment], { concurrency: 3 })
      const [row] = yield* database.query(
        "Note.read",
        (sql) => sql<[{ body: string }]>`select body from public.note`,
      )
      expect(row.body).toBe("3")
    }),
  )

  it.effect("gives up after five more runs that all conflict", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const runs = yield* Ref.make(0)
      const error = yield* Effect.flip(
        database.transaction(
          Effect.zipRight(
            Ref.update(runs, (n) => n + 1),
            database.query(
              "Test.conflict",
              (sql) => sql`do $$ begin raise exception using errcode = '40001'; end $$`,
            ),
          ),
        ),
      )
      expect(error.reason).toBe("Conflict")
      expect(yield* Ref.get(runs)).toBe(6)
    }),
  )

  it.effect("fails, and sends nothing to another session, when its connection is cut", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const error = yield* Effect.flip(
        database.transaction(
          Effect.gen(function* () {
            yield* insert(1)
            const [{ pid }] = yield* database.query(
              "Test.pid",
              (sql) => sql<[{ pid: number }]>`select pg_backend_pid() as pid`,
            )
            yield* aside((sql) => sql`select pg_terminate_backend(${pid}, 600000)`)
            yield* Effect.sleep("100 millis")
            yield* Effect.ignore(insert(2))
            yield* insert(3)
          }),
        ),
      )
      expect(error.reason).toBe("Unreachable")
      expect(yield* ids).toEqual([])
    }),
  )

  it.effect("fails when its connection is cut between its last statement and its commit", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const error = yield* Effect.flip(
        database.transaction(
          Effect.gen(function* () {
            yield* insert(1)
            const [{ pid }] = yield* database.query(
              "Test.pid",
              (sql) => sql<[{ pid: number }]>`select pg_backend_pid() as pid`,
            )
            yield* aside((sql) => sql`select pg_terminate_backend(${pid}, 600000)`)
          }),
        ),
      )
      expect(error.message).toContain("it is not known whether the transaction was kept")
      expect(yield* ids).toEqual([])
    }),
  )

  it.effect("goes on after every idle connection was cut", () =>
    Effect.gen(function* () {
      const database = yield* setup
      yield* Effect.forEach([1, 2, 3], (id) => database.transaction(insert(id)), { concurrency: 3 })
      yield* aside(
        (sql) => sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`,
      )
      yield* Effect.forEach([4, 5, 6], (id) => database.transaction(insert(id)), { concurrency: 3 })
      expect(yield* ids).toEqual([1, 2, 3, 4, 5, 6])
    }),
  )

  it.effect("writes again once a database that could only be read may be written to", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const asServer = (statement: string) => aside((sql) => sql.unsafe(statement))
      const name = `(select format('alter database %I', current_database()))`
      const turn = (how: string) =>
        Effect.flatMap(asServer(`select ${name} || ' ${how}' as statement`), ([row]) =>
          // Its own session begins as the database is.
          asServer(`begin read write; ${row?.statement}; commit`),
        )
      const inserted = (first: number) =>
        Effect.forEach([first, first + 1, first + 2], (id) => database.transaction(insert(id)), {
          concurrency: 3,
        })
      yield* turn("set default_transaction_read_only = on").pipe(
        Effect.zipRight(
          asServer(`
            select pg_terminate_backend(pid, 600000) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()`),
        ),
        // Sessions keep how the database was when they began: those that only read so far, too.
        Effect.zipRight(Effect.forEach([1, 2, 3], () => ids, { concurrency: 3 })),
        Effect.zipRight(Effect.exit(inserted(1))),
        Effect.zipRight(Effect.flip(insert(1))),
        Effect.tap((error) => Effect.sync(() => expect(error.sqlstate).toBe("25006"))),
        Effect.ensuring(turn("reset default_transaction_read_only")),
      )
      yield* Effect.exit(insert(0))
      yield* inserted(1)
      yield* insert(4)
      expect((yield* ids).filter((id) => id > 0)).toEqual([1, 2, 3, 4])
    }),
  )

  const guard = (fewest: number) => ({
    operation: "Note.guard",
    statement: (sql: Sql) => sql`select id from public.note for share`,
    passes: (found: ReadonlyArray<object>) =>
      found.length >= fewest ? Effect.void : Effect.fail(`only ${found.length}`),
  })

  it.effect(
    "does what its guard lets pass, and nothing where it does not, on its own and within another",
    () =>
      Effect.gen(function* () {
        const database = yield* setup
        const kept = yield* Effect.exit(database.transaction(insert(1), { guard: guard(0) }))
        expect(kept).toEqual(Exit.succeed(expect.anything()))
        expect(yield* Effect.exit(database.transaction(insert(2), { guard: guard(2) }))).toEqual(
          Exit.fail("only 1"),
        )
        const within = database.transaction(insert(3), { guard: guard(3) })
        expect(yield* database.transaction(Effect.zipRight(insert(2), Effect.flip(within)))).toBe("only 2")
        yield* database.transaction(database.transaction(insert(3), { guard: guard(2) }))
        expect(yield* ids).toEqual([1, 2, 3])
      }),
  )

  it.effect("fails with what the server says of its guard, and leaves the connection as it was", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const wrong = { ...guard(0), statement: (sql: Sql) => sql`select no_such_column from public.note` }
      const error = yield* Effect.flip(database.transaction(insert(1), { guard: wrong }))
      expect(error).toMatchObject({ _tag: "DatabaseError", operation: "Note.guard" })
      yield* database.transaction(insert(2), { guard: guard(0) })
      expect(yield* ids).toEqual([2])
    }),
  )

  it.effect("goes on after every idle connection was cut, with a guard too", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const insertAll = (all: ReadonlyArray<number>) =>
        Effect.forEach(all, (id) => database.transaction(insert(id), { guard: guard(0) }), { concurrency: 3 })
      yield* insertAll([1, 2, 3])
      yield* aside(
        (sql) => sql`
          select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and pid <> pg_backend_pid()`,
      )
      yield* insertAll([4, 5, 6])
      expect(yield* ids).toEqual([1, 2, 3, 4, 5, 6])
    }),
  )

  it.effect("carries drizzle's statements too", () =>
    Effect.gen(function* () {
      const database = yield* setup
      yield* Effect.ignore(
        database.transaction(
          Effect.gen(function* () {
            yield* database.orm("Note.raw", (orm) =>
              orm.execute("insert into public.note values (1, 'text')"),
            )
            expect(yield* ids).toEqual([1])
            return yield* Effect.fail("back")
          }),
        ),
      )
      expect(yield* ids).toEqual([])
    }),
  )

  it.effect(
    "streams from one snapshot, ends early without harm, and beside other statements and streams",
    () =>
      Effect.gen(function* () {
        const database = yield* setup
        yield* database.query(
          "Test.fill",
          (sql) => sql`insert into public.note select generate_series(1, 5000), 'text'`,
        )
        const notes = (operation: string, least: number) =>
          database.rowStream(
            operation,
            { id: int4 },
            (sql) => sql`select id from public.note where id > ${least} order by id`,
          )
        const sum = (operation: string, least: number) =>
          Stream.runFold(notes(operation, least), 0, (all, { id }) => all + id)
        const outcome = yield* database.transaction(
          Effect.gen(function* () {
            const before = yield* sum("Note.stream", 0)
            const first = yield* Stream.runCollect(Stream.take(notes("Note.stream", 0), 3))
            const beside: Array<number> = []
            const read = Stream.runForEachChunk(notes("Note.stream", 0), (chunk) =>
              Effect.map(ids, (all) => beside.push(chunk.length, all.length)),
            )
            const [, half] = yield* Effect.all([read, sum("Note.other", 2500)], { concurrency: 2 })
            const twice = yield* Effect.flip(
              database.transaction(
                Stream.runForEachChunk(notes("Note.stream", 0), () => sum("Note.stream", 0)),
              ),
            )
            return {
              ...{ before, half, beside, twice: twice.sqlstate },
              first: [...first].map(({ id }) => id),
              after: yield* sum("Note.stream", 0),
            }
          }),
          { isolation: "repeatable read", readOnly: true },
        )
        expect(outcome).toEqual({
          ...{ before: 12_502_500, half: 9_376_250, after: 12_502_500, first: [1, 2, 3] },
          ...{
            beside: Array.from({ length: 5 }, () => [1000, 5000])
              .flat()
              .concat([0, 5000]),
            twice: "42P03",
          },
        })
      }),
  )

  it.effect("a stream of its own reads one snapshot, and all of its rows are planned for", () =>
    Effect.gen(function* () {
      const database = yield* setup
      yield* database.query(
        "Test.fill",
        (sql) => sql`insert into public.note select generate_series(1, 30), 'text'`,
      )
      const seen: Array<string | null> = []
      yield* database
        .rowStream(
          "Note.stream",
          { id: int4, fraction: nullable(text) },
          (sql) =>
            sql`select id, current_setting('cursor_tuple_fraction') as fraction from public.note order by id`,
          { size: 10 },
        )
        .pipe(
          Stream.runForEach(({ fraction }) =>
            Effect.zipRight(
              database.execute("Test.delete", (sql) => sql`delete from public.note`),
              Effect.sync(() => seen.push(fraction)),
            ),
          ),
        )
      expect(seen).toEqual(Array.from({ length: 30 }, () => "1"))
    }),
  )

  it.effect("streams outside a transaction, and survives being interrupted while it waits for rows", () =>
    Effect.gen(function* () {
      const database = yield* setup
      const slow = database.rowStream(
        "Test.slow",
        { n: int4 },
        (sql) => sql`select n from generate_series(1, 100) n where pg_sleep(0.05) is not null`,
        { size: 5 },
      )
      const fibers = yield* Effect.forEach([1, 2, 3, 4, 5, 6], () => Effect.fork(Stream.runDrain(slow)))
      yield* Effect.sleep("150 millis")
      yield* Fiber.interruptAll(fibers)
      const error = yield* Effect.flip(
        Stream.runDrain(
          database.rowStream(
            "Test.bad",
            { n: int4 },
            (sql) => sql`select 1 / (n - 3) as n from generate_series(1, 5) n`,
          ),
        ),
      )
      expect(error.sqlstate).toBe("22012")
      expect(yield* ids).toEqual([])
    }),
  )
})

layer(TestDatabase.blankLayer, { excludeTestServices: true })("the caller's scope", (it) => {
  it.scoped("outlives the transaction that used it", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const closed = yield* Ref.make(false)
      yield* database.transaction(Effect.addFinalizer(() => Ref.set(closed, true)))
      expect(yield* Ref.get(closed)).toBe(false)
    }),
  )
})
