/** A machine that vanishes closes nothing: what it held is free all the same, and it finds out itself that it holds it no more. */
import { createServer, connect as dial, type Socket } from "node:net"
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Redacted, Schedule, Scope } from "effect"
import { inject } from "vitest"
import { isAwaited, lockOf, momentOf } from "../../src/Book/Moment.ts"
import { parseDatabaseUrl } from "../../src/Database/DatabaseUrl.ts"
import { migrate } from "../../src/Database/Migrate.ts"
import { applyRoles } from "../../src/Database/Roles.ts"
import { Database } from "../../src/Database.ts"
import { beginRun } from "../../src/Run.ts"
import { forAMoment, holding } from "../../src/Sync/Runs/ConnectionLock.ts"
import { rows } from "../Sync/Runs.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { listenOn } from "../support/Loopback.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** A way to the test server that swallows everything from a moment on, and closes nothing. */
const way = Effect.gen(function* () {
  const server = yield* parseDatabaseUrl(Redacted.make(inject("testServerUrl")))
  const state = { cut: false }
  const pass = (from: Socket, to: Socket) => {
    from.on("error", () => to.destroy()).on("close", () => (state.cut ? undefined : to.destroy()))
    from.on("data", (bytes) => (state.cut ? undefined : to.write(bytes)))
  }
  const port = yield* listenOn(
    createServer((near) => {
      const far = server.path === undefined ? dial(server.port, server.host) : dial(server.path)
      pass(near, far)
      pass(far, near)
    }),
  )
  const { name } = yield* TestDatabase
  const password = server.password === undefined ? "" : Redacted.value(server.password)
  return {
    url: `postgres://${server.username}:${encodeURIComponent(password)}@127.0.0.1:${port}/${name}`,
    vanish: Effect.sync(() => {
      state.cut = true
    }),
  }
})

/** Seconds: in the product forty. */
const deadAfter = 2

/** The same where something is to come long before: in the product it is ten seconds. */
const longAfter = 20

layer(TestDatabase.layer, { excludeTestServices: true })("a holder whose machine vanishes", (it) => {
  it.scoped(
    "is followed by another, who takes its lock and its lease from the middle of a transaction [S7]",
    () =>
      Effect.gen(function* () {
        const { url, vanish } = yield* way
        const inside = yield* Deferred.make<void>()
        const holder = yield* Effect.gen(function* () {
          const database = yield* Database
          const run = yield* beginRun("default", "sync")
          return yield* database.withSessionLock(
            "sync:default",
            run.commit(
              Effect.zipRight(
                database.query(
                  "Test.write",
                  (sql) => sql`update sync.runs set summary = '{"of": "the dead"}'`,
                ),
                Effect.zipRight(Deferred.succeed(inside, undefined), Effect.never),
              ),
            ),
          )
        }).pipe(Effect.provide(Database.layer({ ...settingsFor(url), deadAfter })), Effect.fork)
        yield* Deferred.await(inside)
        const database = yield* Database
        expect(yield* Effect.flip(database.withSessionLock("sync:default", Effect.void))).toMatchObject({
          _tag: "LockBusy",
        })
        yield* vanish
        const next = yield* database
          .withSessionLock("sync:default", beginRun("default", "sync"))
          .pipe(Effect.retry(Schedule.spaced("100 millis")))
        expect(yield* rows(`select state, summary from sync.runs order by run_id`)).toEqual([
          { state: "abandoned", summary: null },
          { state: "running", summary: null },
        ])
        expect(yield* rows("select run_id, epoch::text as epoch from sync.leases")).toEqual([
          { run_id: next.runId, epoch: "2" },
        ])
        expect(yield* Effect.flip(Fiber.join(holder))).toMatchObject({
          _tag: "DatabaseError",
          reason: "Unreachable",
        })
      }),
  )

  it.scoped("keeps its lock, however long, while it can say that it lives", () =>
    Effect.gen(function* () {
      const { url } = yield* way
      const database = yield* Database
      const held = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      const holder = yield* Effect.gen(function* () {
        const own = yield* Database
        return yield* own.withSessionLock(
          "sync:default",
          Effect.zipRight(Deferred.succeed(held, undefined), Deferred.await(release)),
        )
      }).pipe(Effect.provide(Database.layer({ ...settingsFor(url), deadAfter })), Effect.fork)
      yield* Deferred.await(held)
      // Refused each time, until a silent holder would be dead.
      yield* Effect.repeat(
        Effect.flip(database.withSessionLock("sync:default", Effect.void)),
        Schedule.spaced("300 millis").pipe(Schedule.upTo(`${deadAfter * 1.5} seconds`)),
      )
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(holder)
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("who waits for a connection and vanishes", (it) => {
  it.scoped("holds up those who have it for moments for a fraction of that time", () =>
    Effect.gen(function* () {
      const { url, vanish } = yield* way
      const database = yield* Database
      const moment = yield* Scope.make()
      yield* Scope.extend(database.tryLock(momentOf("default")), moment)
      yield* Scope.extend(database.tryLock(lockOf("default")), moment)
      yield* Effect.forkScoped(
        Effect.flatMap(Database, (own) => holding(own, "default", Effect.never)).pipe(
          Effect.provide(Database.layer({ ...settingsFor(url), deadAfter: longAfter })),
        ),
      )
      yield* Effect.repeat(Effect.delay(isAwaited(database, "default"), "20 millis"), { until: (so) => so })
      yield* vanish
      yield* Scope.close(moment, Exit.void)
      const found = yield* Effect.timeoutOption(
        forAMoment(database, "default", Effect.succeed("read")),
        `${longAfter * 0.75} seconds`,
      )
      expect(found).toEqual(Option.some("read"))
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a statement that nothing may interrupt", (it) => {
  it.scoped("ends where the server has fallen silent, though it closed nothing [S7]", () =>
    Effect.gen(function* () {
      const { url, vanish } = yield* way
      const settings = settingsFor(`${url}?connect_timeout=1`)
      yield* Effect.gen(function* () {
        const database = yield* Database
        const ask = database.query("Test.read", (sql) => sql`select 1 as one`)
        yield* ask
        yield* vanish
        const asked = Effect.all(
          [
            Effect.flip(Effect.uninterruptible(ask)),
            Effect.flip(Effect.uninterruptible(database.transaction(ask))),
          ],
          { concurrency: "unbounded" },
        )
        for (const error of yield* asked) expect(error).toMatchObject({ reason: "Unreachable" })
      }).pipe(Effect.provide(Database.layer(settings)))
    }),
  )

  it.scoped("ends as well where it makes the rules anew, or the roles", () =>
    Effect.gen(function* () {
      const { url, vanish } = yield* way
      const database = yield* Database
      const beside = Database.layer(settingsFor((yield* TestDatabase).url))
      const there = Database.layer(settingsFor(`${url}?connect_timeout=1`))
      yield* rows("delete from drizzle.rules")
      // Somebody else holds both up.
      const waiting = rows(
        "select pid from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()",
      )
      const asked = yield* database.transaction(
        Effect.gen(function* () {
          yield* rows("lock table drizzle.rules in share mode")
          yield* rows("select pg_advisory_xact_lock(hashtextextended('tieout roles', 0))")
          const both = yield* Effect.fork(
            Effect.all([Effect.flip(migrate()), Effect.flip(applyRoles())], {
              concurrency: "unbounded",
            }).pipe(Effect.provide(there)),
          )
          yield* Effect.repeat(Effect.delay(waiting, "20 millis"), {
            until: (found) => found.length >= 2,
          }).pipe(Effect.provide(beside))
          yield* vanish
          return yield* Fiber.join(both)
        }),
      )
      for (const error of asked) expect(error).toMatchObject({ reason: "Unreachable" })
    }),
  )

  it.scoped("may take as long as it likes where the server answers", () =>
    Effect.gen(function* () {
      const { url } = yield* way
      const settings = settingsFor(`${url}?connect_timeout=1`)
      yield* Effect.gen(function* () {
        const database = yield* Database
        expect(yield* database.query("Test.sleep", (sql) => sql`select pg_sleep(12)::text as slept`)).toEqual(
          [{ slept: "" }],
        )
      }).pipe(Effect.provide(Database.layer(settings)))
    }),
  )
})
