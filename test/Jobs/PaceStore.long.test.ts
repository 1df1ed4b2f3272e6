/** The pace of a connection, shared in the database by processes that do not know of each other. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option, Schedule } from "effect"
import { float8 } from "../../src/Database/Columns.ts"
import { Database } from "../../src/Database.ts"
import { remembering, reserving, sharing } from "../../src/Jobs/PaceStore.ts"
import { Partner } from "../../src/Partner.ts"
import { connectionAt, json, serve, uuid } from "../Partner/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const asked = { wanted: 5, accepted: 0, refused: [], hold: 0 }

layer(TestDatabase.layer, { excludeTestServices: true })("a pace in the database", (it) => {
  it.effect("gives each permit to one process, and pauses all when one is told to wait", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const [one, two] = [reserving(database, "default", 10), reserving(database, "default", 10)]
      const ask = (reserve: typeof one, over: Partial<Parameters<typeof one>[0]> = {}) =>
        Effect.promise(() => reserve({ ...asked, ...over }))
      const [first, second] = yield* Effect.all([ask(one), ask(two)], { concurrency: "unbounded" })
      const times = [first, second].flatMap(({ now, permits }) => permits.map((after) => now + after)).sort()
      expect(times.length).toBeGreaterThanOrEqual(2)
      // A tenth of a second apart, whoever has them.
      times.slice(1).forEach((at, index) => {
        expect(at - (times[index] ?? 0)).toBeGreaterThan(99)
      })
      const refused = yield* ask(one, { refused: [first.now] })
      expect([refused.permits, refused.rate < 10]).toEqual([[], true])
      const held = yield* ask(two, { hold: 60_000 })
      expect(held.hold).toBeGreaterThan(50_000)
      expect((yield* ask(one)).hold).toBeGreaterThan(50_000)
      // Another connection has its own pace, and a later process starts with the learned one.
      expect((yield* ask(reserving(database, "other", 10))).hold).toBe(0)
      expect((yield* ask(reserving(database, "default", 500))).rate).toBe(held.rate)
    }),
  )

  it.effect(
    "goes on from what an earlier version kept, and from another limit once the service has told one",
    () =>
      Effect.gen(function* () {
        const database = yield* Database
        const kept = {
          ...{ rate: 40, bad: 50, nextAt: 0, heldUntil: 0, cutAt: 1, successes: 3, betweenProbes: 300 },
          ...{ sent: 2, sentAt: 1, isLimiting: true },
        }
        yield* database.execute(
          "test",
          (sql) =>
            sql`insert into sync.paces (connection, state) values ('earlier', ${JSON.stringify(kept)}::text::jsonb)`,
        )
        const ask = (told: number | null) =>
          Effect.promise(() => reserving(database, "earlier", 20, told)({ ...asked, wanted: 1 }))
        expect((yield* ask(null)).rate).toBe(40)
        expect((yield* ask(10)).rate).toBeLessThan(10)
        expect((yield* ask(10)).rate).toBeGreaterThan(9.5)
      }),
  )

  it.scoped("that cannot be kept, as on a full disk, lets no request wait silently: each says why", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const service = yield* serve((_, response) =>
        json(response, {
          ...{ accountId: uuid(1), currency: "EUR", paymentRails: "SEPA" },
          ...{ balance: "0.00", status: "ACTIVE" },
        }),
      )
      const during = (statement: string) => database.execute("test", (sql) => sql`${sql.unsafe(statement)}`)
      yield* during(`create function sync.disk_is_full() returns trigger language plpgsql as $$
        begin raise exception 'could not extend file: No space left on device' using errcode = '53100'; end $$`)
      yield* during(
        "create trigger disk_is_full before insert or update on sync.paces for each statement execute function sync.disk_is_full()",
      )
      yield* Effect.gen(function* () {
        const { account } = yield* Partner
        for (let time = 0; time < 2; time++) {
          const [one, other] = yield* Effect.all([account(uuid(1)), account(uuid(1))].map(Effect.flip), {
            concurrency: "unbounded",
          })
          expect([one?.reason, other?.reason, service.count("/accounts")]).toEqual([
            "Unavailable",
            "Unavailable",
            0,
          ])
          expect(one?.message).toContain("not asked, since the pace that all processes share cannot be kept")
          expect(one?.message).toContain("No space left on device")
        }
        yield* during("drop trigger disk_is_full on sync.paces")
        yield* Effect.retry(account(uuid(1)), {
          schedule: Schedule.spaced("50 millis"),
          while: ({ reason }) => reason === "Unavailable",
        })
      }).pipe(
        Effect.provide(sharing(database, Option.none())({ ...connectionAt(service.url), name: "full" })),
      )
    }),
  )

  it.scoped("[C7] is remembered from one process that asks alone to the next, once a limit is known", () =>
    Effect.gen(function* () {
      const database = yield* Database
      let refusing = false
      const service = yield* serve((_, response, index) =>
        refusing && index === 20
          ? json(response, {}, 429)
          : json(response, {
              ...{ accountId: uuid(1), currency: "EUR", paymentRails: "SEPA" },
              ...{ balance: "0.00", status: "ACTIVE" },
            }),
      )
      const asking = (times: number) =>
        Effect.provide(
          Effect.flatMap(Partner, ({ account }) => Effect.repeatN(account(uuid(1)), times - 1)),
          remembering(database)({ ...connectionAt(service.url), name: "alone" }),
        )
      const kept = () =>
        database.rows(
          "test",
          { bad: float8, rate: float8, successes: float8 },
          (sql) => sql`
            select (state ->> 'bad')::float8 as bad, (state ->> 'rate')::float8 as rate,
              (state ->> 'successes')::float8 as successes
            from sync.paces where connection = 'alone'`,
        )
      yield* asking(3)
      expect(yield* kept()).toEqual([])
      refusing = true
      // So many that the rate has come close to the limit again.
      yield* asking(60)
      const [first] = yield* kept()
      expect(first?.bad).toBeGreaterThan(0)
      // It goes on from there: one that knew nothing would not have learned a limit, and have kept nothing.
      yield* asking(2)
      const [second] = yield* kept()
      expect(second?.bad).toBe(first?.bad)
      expect([second?.rate, second?.successes]).not.toEqual([first?.rate, first?.successes])
    }),
  )
})
