/** Nights of several processes that keep one schedule on one database. */
import { expect, it } from "@effect/vitest"
import { type Clock, Duration, Effect, Either, Fiber, Layer, Logger, LogLevel, Option } from "effect"
import { describe } from "vitest"
import { Database } from "../../src/Database.ts"
import { Alerts } from "../../src/Serve/Alerts.ts"
import { parseCron, previousDue } from "../../src/Serve/Cron.ts"
import { claim, lookAt, type Night } from "../../src/Serve/Nightly/Claim.ts"
import { Nightly } from "../../src/Serve/Nightly.ts"
import { Settings } from "../../src/Settings.ts"
import { Sync } from "../../src/Sync.ts"
import { credit, partnership } from "../Sync/Partnership.ts"
import { rows, variablesFor } from "../Sync/Runs.ts"
import { changedClock } from "../support/ChangedClock.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const fields = Either.getOrThrowWith(parseCron("30 3 * * *"), (text) => new Error(text))
const lastDue = () => Option.getOrThrow(previousDue(fields, "UTC", Date.now()))

/** Sessions of their own, so that the database sees another process. */
const onOwnDatabase = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.flatMap(TestDatabase, ({ url }) => Effect.provide(effect, Database.layer(settingsFor(url))))

/** The nightly part of a process for which one night falls due again and again; its log goes to `lines`. */
const keeping = (variables: Record<string, string>, lines: Array<string>, done: { nights: number }) =>
  Effect.gen(function* () {
    const { run } = yield* Nightly
    const night = { due: lastDue(), isMissed: false }
    const once = Effect.zipRight(
      run(night),
      Effect.sync(() => {
        done.nights += 1
      }),
    )
    return yield* Effect.forever(Effect.delay(once, "100 millis"))
  }).pipe(
    Effect.scoped,
    Effect.provide(
      Nightly.Default.pipe(
        Layer.provide(Layer.merge(Alerts.Default, Sync.Default)),
        Layer.provideMerge(Settings.from({ variables })),
        Layer.provideMerge(
          Logger.replace(
            Logger.defaultLogger,
            Logger.make(({ message }) => void lines.push(String(message))),
          ),
        ),
      ),
    ),
    onOwnDatabase,
  )

const nightlyAt = (url: string) =>
  Nightly.Default.pipe(
    Layer.provide(Layer.merge(Alerts.Default, Sync.Default)),
    Layer.provideMerge(Settings.from({ variables: variablesFor(url) })),
  )

/** As if all runs had ended while the database's clock was ten days ahead. */
const evidenceFrom10DaysAhead = Effect.flatMap(Database, (database) =>
  database.transaction(
    Effect.zipRight(
      database.execute("Test.rules", (sql) => sql`set local session_replication_role = replica`),
      database.execute(
        "Test.ahead",
        (sql) => sql`update sync.runs set ended_at = now() + interval '10 days'`,
      ),
    ),
  ),
)

/** A clock that is ahead until it is set right, and on which nobody sleeps for longer than 50 ms. */
const clockAhead = (ahead: number) =>
  Effect.map(Effect.clock, (clock) => {
    let offset = ahead
    const by = () => offset
    const sleep: Clock.Clock["sleep"] = (duration) => clock.sleep(Duration.min(duration, Duration.millis(50)))
    return {
      setRight: () => {
        offset = 0
      },
      clock: changedClock(clock, { ahead: by, passed: by, sleep }),
    }
  })

const until = <A, E, R>(effect: Effect.Effect<A, E, R>, is: (found: A) => boolean) =>
  Effect.repeat(Effect.delay(effect, "20 millis"), { until: is })

const nights = rows(
  "select connection, epoch, ended_at is not null as ended from sync.nights order by connection",
)
const runs = rows("select connection, state from sync.runs order by connection, run_id")

const twoConnections = (url: string) => ({
  ...Object.fromEntries(
    Object.entries(variablesFor(url)).flatMap(([name, value]) =>
      ["ONE", "TWO"].map((of) => [name.replace("TIEOUT_", `TIEOUT_${of}_`), value]),
    ),
  ),
  TIEOUT_CONNECTIONS: "{one: {}, two: {}}",
  TIEOUT_SCHEDULE_EXPORT: "[journal]",
  TIEOUT_SCHEDULE_OUT: temporaryFolder(),
})

/** Ends the sessions that hold a connection's night, as the end of their process would. */
const endHolders = (connection: string) =>
  rows(`
    select count(pg_terminate_backend(l.pid))::integer as ended from pg_locks l,
      (select hashtextextended('tieout night:${connection}', 0) as key) k
    where l.locktype = 'advisory' and l.database = (select oid from pg_database where datname = current_database())
      and (l.classid::bigint << 32 | l.objid::bigint) = k.key`)

describe("a night of several processes", () => {
  it.scopedLive("runs once for each connection, however often it falls due, and alerts once", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      held.statement = [credit(1, "5.00", "5.00")]
      held.balance = "5.00"
      yield* rows(`
        insert into webhook.inbox (connection, event_id, digest, type, body, key_id, algorithm, state, received_at)
        values ('one', 'a', '\\x00', 'x', '\\x7b7d', 'k', 'ES256', 'dead', now()) returning 1`)
      const variables = twoConnections(service.url)
      const lines: Array<string> = []
      const counts = [{ nights: 0 }, { nights: 0 }]
      yield* Effect.forEach(counts, (done) => Effect.fork(keeping(variables, lines, done)))
      yield* until(
        Effect.sync(() => counts),
        (all) => all.every((done) => done.nights >= 3),
      )
      expect(yield* nights).toEqual([
        { connection: "one", epoch: 1, ended: true },
        { connection: "two", epoch: 1, ended: true },
      ])
      expect(yield* runs).toEqual([
        { connection: "one", state: "done" },
        { connection: "two", state: "done" },
      ])
      expect(yield* rows("select count(*)::integer as batches from export.batches")).toEqual([{ batches: 2 }])
      expect(lines.filter((line) => line.startsWith("Alert (findings)"))).toHaveLength(1)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("is taken over from a process that is gone, which then exports and alerts nothing", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      held.statement = [credit(1, "5.00", "5.00")]
      held.balance = "5.00"
      let asked = 0
      held.interfere = () => asked++ === 0
      const [first, second]: [Array<string>, Array<string>] = [[], []]
      const done = { nights: 0 }
      const variables = variablesFor(service.url)
      yield* Effect.fork(keeping(variables, first, { nights: 0 }))
      yield* until(
        Effect.sync(() => asked),
        (count) => count > 0,
      )
      yield* Effect.fork(keeping(variables, second, done))
      yield* until(
        Effect.sync(() => second),
        (all) => all.some((line) => line.includes("this one watches")),
      )
      // Its lock on the connection is lost as well: the machine is cut off.
      yield* rows(`
        select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory'
          and database = (select oid from pg_database where datname = current_database())`)
      yield* until(
        Effect.sync(() => done.nights),
        (count) => count > 0,
      )
      expect(yield* nights).toEqual([{ connection: "default", epoch: 2, ended: true }])
      expect((yield* runs).at(-1)).toEqual({ connection: "default", state: "done" })
      expect(second.filter((line) => line.startsWith("Read 1 new entry"))).toHaveLength(1)
      expect(first.filter((line) => line.startsWith("Read"))).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("cannot be taken while it is held, and belongs to the last process that took it", () =>
    Effect.gen(function* () {
      const night: Night = { due: lastDue(), isMissed: false }
      const known = yield* lookAt("default", night)
      const taken = yield* claim("default", night, known)
      const mine = Option.getOrThrow(taken)
      expect(yield* claim("default", night, known).pipe(onOwnDatabase)).toEqual(Option.none())
      expect([mine.isTakeover, yield* mine.holds]).toEqual([false, true])
      const gone = yield* Effect.fork(Effect.flip(mine.lost))
      expect(yield* endHolders("default")).toEqual([{ ended: 1 }])
      yield* Fiber.join(gone)
      // Nobody took it meanwhile.
      expect(yield* mine.holds).toBe(true)
      const theirs = yield* onOwnDatabase(
        Effect.gen(function* () {
          const other = Option.getOrThrow(yield* claim("default", night, yield* lookAt("default", night)))
          expect([other.isTakeover, yield* other.holds, yield* mine.holds]).toEqual([true, true, false])
          yield* mine.end
          expect(yield* nights).toEqual([{ connection: "default", epoch: 2, ended: false }])
          yield* other.end
          return other
        }),
      )
      expect(yield* theirs.holds).toBe(false)
      expect(yield* claim("default", night, yield* lookAt("default", night))).toEqual(Option.none())
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("belongs to who claimed it anew after a failover lost the first claim", () =>
    Effect.gen(function* () {
      const night: Night = { due: lastDue(), isMissed: false }
      const claimed = Effect.flatMap(lookAt("default", night), (known) => claim("default", night, known))
      const mine = Option.getOrThrow(yield* claimed)
      yield* endHolders("default")
      yield* rows("delete from sync.nights returning true as lost")
      yield* onOwnDatabase(
        Effect.gen(function* () {
          const other = Option.getOrThrow(yield* claimed)
          expect([yield* mine.holds, yield* other.holds]).toEqual([false, true])
          yield* mine.end
          expect(yield* nights).toEqual([{ connection: "default", epoch: 1, ended: false }])
        }),
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("is not begun before it is due, by the database's clock", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership()
      yield* Effect.gen(function* () {
        const { now, run } = yield* Nightly
        yield* run({ due: Math.round((yield* now) + 700), isMissed: false })
      }).pipe(Effect.provide(nightlyAt(service.url)))
      expect(
        yield* rows("select claimed_at >= due_at as due, ended_at > claimed_at as ended from sync.nights"),
      ).toEqual([{ due: true, ended: true }])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("is left to the schedule where this machine's clock was ahead and is set right", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership()
      yield* Effect.gen(function* () {
        const { now, run } = yield* Nightly
        const due = Math.round((yield* now) + 10 * 86_400_000)
        const ahead = yield* clockAhead(11 * 86_400_000)
        const night = yield* Effect.fork(Effect.withClock(run({ due, isMissed: false }), ahead.clock))
        yield* Effect.sleep("300 millis")
        expect(Option.isNone(yield* Fiber.poll(night))).toBe(true)
        ahead.setRight()
        yield* Fiber.join(night)
      }).pipe(Effect.provide(nightlyAt(service.url)))
      expect([yield* nights, yield* runs]).toEqual([[], []])
    }).pipe(Logger.withMinimumLogLevel(LogLevel.None), Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("counts no success of a time that is still to come: the clock was ahead then", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership()
      yield* Effect.gen(function* () {
        const { isMissed, run } = yield* Nightly
        const night: Night = { due: lastDue(), isMissed: true }
        yield* run(night)
        expect(yield* isMissed(night.due)).toBe(false)
        yield* evidenceFrom10DaysAhead
        expect(yield* isMissed(night.due)).toBe(true)
        yield* run(night)
        expect(yield* isMissed(night.due)).toBe(false)
      }).pipe(Effect.provide(nightlyAt(service.url)))
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("is made up for at a start where nothing was read since, or nobody ended it", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      held.interfere = (_, response) => {
        response.writeHead(403).end()
        return true
      }
      const night: Night = { due: lastDue(), isMissed: true }
      yield* Effect.gen(function* () {
        const { isMissed, run } = yield* Nightly
        const missed = isMissed(night.due)
        expect(yield* missed).toBe(true)
        yield* run(night)
        // It was tried and failed: the next start tries again, as often as there is one.
        expect([yield* missed, yield* nights]).toEqual([
          true,
          [{ connection: "default", epoch: 1, ended: true }],
        ])
        held.interfere = () => false
        yield* run(night)
        expect([yield* missed, yield* nights]).toEqual([
          false,
          [{ connection: "default", epoch: 2, ended: true }],
        ])
        // A night that was read but never ended: the work after the reading is still to be done.
        yield* rows("update sync.nights set ended_at = null")
        expect(yield* missed).toBe(true)
        yield* run({ ...night, isMissed: false })
        expect([yield* missed, (yield* runs).length]).toEqual([false, 3])
        yield* run({ ...night, isMissed: false })
        expect((yield* runs).length).toBe(3)
      }).pipe(Effect.provide(nightlyAt(service.url)))
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
