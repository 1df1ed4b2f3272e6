import { spawn } from "node:child_process"
import { expect, layer } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { databaseError } from "../../src/Database/DatabaseError.ts"
import { Database } from "../../src/Database.ts"
import { type Commits, makeCommits } from "../../src/Webhook/Commits.ts"
import type { Delivery } from "../../src/Webhook/Delivery.ts"
import { serve, uuid } from "../Partner/Service.ts"
import { aside } from "../support/aside.ts"
import { compiled } from "../support/Compiled.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { pairOf, recordOf } from "./Keys.ts"
import { database, deliver, eventOf, keysFrom, listening, send } from "./Listening.ts"

const pair = pairOf("EdDSA")
const withKey = keysFrom(() => [recordOf(pair)])

const delivery = (eventId: string): Delivery => ({
  connection: "default",
  eventId,
  digest: "00".repeat(32),
  type: "x",
  body: Buffer.from(eventId),
  keyId: "k",
  algorithm: "EdDSA",
  poison: null,
})

const startProcess = (env: Record<string, string>) =>
  Effect.acquireRelease(
    Effect.async<{ readonly port: number; readonly kill: () => void }>((resume) => {
      const child = spawn(process.execPath, [compiled("test/support/webhookProcess.mjs")], {
        env: { ...process.env, ...env },
        stdio: ["ignore", "pipe", "inherit"],
      })
      child.stdout.on("data", (text: Buffer) => {
        const [, port] = /^port (\d+)/m.exec(text.toString()) ?? []
        if (port !== undefined)
          resume(Effect.succeed({ port: Number(port), kill: () => child.kill("SIGKILL") }))
      })
    }),
    ({ kill }) => Effect.sync(kill),
  )

layer(database, { excludeTestServices: true })("durability", (it) => {
  it.scoped("[W8] kill -9 in the middle of a burst: every 200 has its row", () =>
    Effect.gen(function* () {
      const service = yield* serve(withKey)
      const { url } = yield* TestDatabase
      const { kill, port } = yield* startProcess({
        DATABASE_URL: url,
        TIEOUT_BASE_URL: service.url,
        TIEOUT_CLIENT_ID: "client",
        TIEOUT_CLIENT_SECRET: "secret",
        TIEOUT_SCOPE: "webhooks",
      })
      let accepted = 0
      const statuses = yield* Effect.forEach(
        Array.from({ length: 3_000 }, (_, index) => index),
        (index) =>
          Effect.map(deliver(port, pair, eventOf(10_000 + index)), ({ status }) => {
            if (status === 200 && ++accepted === 700) kill()
            return [uuid(10_000 + index), status] as const
          }),
        { concurrency: 64 },
      )
      const confirmed = statuses.filter(([, status]) => status === 200).map(([id]) => id)
      expect(confirmed.length).toBeGreaterThanOrEqual(700)
      expect(confirmed.length).toBeLessThan(3_000)
      const { query } = yield* Database
      const rows = yield* query(
        "Test.rows",
        (sql) => sql<Array<{ event_id: string }>>`select event_id from webhook.inbox`,
      )
      const kept = new Set(rows.map(({ event_id }) => event_id))
      expect(confirmed.filter((id) => !kept.has(id))).toEqual([])
    }),
  )

  it.scoped("[W8] the table cannot be written: 503 with Retry-After, never 200; then 200 again", () =>
    Effect.gen(function* () {
      const { port } = yield* listening(withKey)
      const { query } = yield* Database
      expect((yield* deliver(port, pair, eventOf(1))).status).toBe(200)
      yield* query("Test.break", (sql) => sql`alter table webhook.inbox rename to away`)
      const reply = yield* deliver(port, pair, eventOf(2))
      yield* query("Test.mend", (sql) => sql`alter table webhook.away rename to inbox`)
      expect([reply.status, reply.headers["retry-after"]]).toEqual([503, "5"])
      expect((yield* deliver(port, pair, eventOf(2))).status).toBe(200)
    }),
  )

  it.scoped(
    "[W8] the database's disk is full: 503 with Retry-After and no row; then 200, once there is room",
    () =>
      Effect.gen(function* () {
        const { port } = yield* listening(withKey)
        const { query } = yield* Database
        const kept = Effect.map(
          query(
            "Test.rows",
            (sql) => sql<Array<{ event_id: string }>>`
            select event_id from webhook.inbox where event_id in (${uuid(30_001)}, ${uuid(30_002)}) order by 1`,
          ),
          (rows) => rows.map(({ event_id }) => event_id),
        )
        // The server's answer when it cannot extend a file; the test fills no disk.
        yield* query(
          "Test.fill",
          (sql) => sql`
          create function webhook.no_space() returns trigger language plpgsql as $$
          begin
            raise exception using errcode = '53100',
              message = 'could not extend file "base/16384/16411": No space left on device';
          end $$`,
        )
        yield* query(
          "Test.fill",
          (sql) => sql`
          create trigger no_space before insert on webhook.inbox for each row execute function webhook.no_space()`,
        )
        const replies = yield* Effect.forEach(
          [30_001, 30_002],
          (index) => deliver(port, pair, eventOf(index)),
          {
            concurrency: 2,
          },
        )
        for (const { body, headers, status } of replies) {
          expect([status, headers["retry-after"], body]).toEqual([503, "5", '{"error":"try again later"}'])
        }
        expect(yield* kept).toEqual([])
        yield* query("Test.free", (sql) => sql`drop trigger no_space on webhook.inbox`)
        expect((yield* deliver(port, pair, eventOf(30_001))).status).toBe(200)
        expect(yield* kept).toEqual([uuid(30_001)])
      }),
  )

  it.scoped("[W8] the sessions are cut in the middle: 503 or 200 with a row, and it goes on", () =>
    Effect.gen(function* () {
      const { port } = yield* listening(withKey)
      const { query } = yield* Database
      const burst = yield* Effect.fork(
        Effect.forEach(
          Array.from({ length: 600 }, (_, index) => index),
          (index) => deliver(port, pair, eventOf(20_000 + index)),
          {
            concurrency: 32,
          },
        ),
      )
      for (let cut = 0; cut < 4; cut++) {
        yield* Effect.sleep("60 millis")
        yield* aside(
          (sql) => sql`
            select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()`,
        )
      }
      const replies = yield* Effect.flatten(burst.await)
      expect(replies.every(({ status }) => status === 200 || status === 503)).toBe(true)
      // The next use of a session that was just cut fails once.
      const rows = yield* Effect.retry(
        query("Test.rows", (sql) => sql<Array<{ event_id: string }>>`select event_id from webhook.inbox`),
        { times: 4 },
      )
      const kept = new Set(rows.map(({ event_id }) => event_id))
      expect(
        replies.filter(({ status }, index) => status === 200 && !kept.has(uuid(20_000 + index))),
      ).toEqual([])
      expect((yield* deliver(port, pair, eventOf(20_999))).status).toBe(200)
      expect((yield* send(port, "", {}, { method: "GET", path: "/healthz" })).status).toBe(200)
    }),
  )
})

const storing = (commits: Commits) => (one: Delivery) =>
  Effect.flatten(Effect.promise(() => commits.store(one)))

layer(Layer.empty, { excludeTestServices: true })("group commit", (it) => {
  it.scoped("writes all deliveries that gathered during the last statement, in their order", () =>
    Effect.gen(function* () {
      const sizes: Array<number> = []
      const commits = yield* makeCommits((batch) =>
        Effect.sync(() => sizes.push(batch.length)).pipe(
          Effect.zipLeft(Effect.yieldNow()),
          Effect.as(batch.map(() => "stored" as const)),
        ),
      )
      yield* Effect.forEach(
        Array.from({ length: 1_200 }, (_, index) => delivery(String(index))),
        storing(commits),
        {
          concurrency: "unbounded",
        },
      )
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBe(1_200)
      expect(Math.max(...sizes)).toBe(500)
      expect(sizes.length).toBeLessThan(10)
    }),
  )

  it.scoped("a row that the database refuses does not affect the others", () =>
    Effect.gen(function* () {
      const commits = yield* makeCommits((batch) =>
        batch.some(({ eventId }) => eventId === "bad")
          ? Effect.fail(databaseError("Refused", "Test.put", "no"))
          : Effect.succeed(batch.map(() => "stored" as const)),
      )
      const exits = yield* Effect.forEach(
        ["a", "bad", "b"],
        (id) => Effect.exit(storing(commits)(delivery(id))),
        {
          concurrency: "unbounded",
        },
      )
      expect(exits.map(Exit.isSuccess)).toEqual([true, false, true])
    }),
  )

  it.scoped("a few deliveries wait for the statement before them, but not for one whose session hangs", () =>
    Effect.gen(function* () {
      const batches: Array<ReadonlyArray<string>> = []
      const commits = yield* makeCommits((batch) => {
        batches.push(batch.map(({ eventId }) => eventId))
        return batches.length === 1 ? Effect.never : Effect.succeed(batch.map(() => "stored" as const))
      })
      const store = (id: string) => storing(commits)(delivery(id))
      yield* Effect.fork(Effect.ignore(store("hangs")))
      yield* Effect.repeat(Effect.sleep("5 millis"), { until: () => batches.length === 1 })
      expect(yield* Effect.forEach(["a", "b"], store, { concurrency: "unbounded" })).toEqual([
        "stored",
        "stored",
      ])
      expect(batches).toEqual([["hangs"], ["a", "b"]])
    }),
  )

  it.scoped("keeps a bounded number waiting", () =>
    Effect.gen(function* () {
      const bounds = {
        patience: 50,
        statementsAtOnce: 1,
        leastBeside: 1,
        usual: 50,
        rowsPerStatement: 1,
        bytesPerStatement: 10,
        waitingRows: 3,
        waitingBytes: 1_000,
      }
      const commits = yield* makeCommits(() => Effect.never, bounds)
      const store = (id: string) => storing(commits)(delivery(id))
      const exits = yield* Effect.forEach(["1", "2", "3", "4", "5"], (id) => Effect.flip(store(id)), {
        concurrency: "unbounded",
      })
      expect(exits.map(({ _tag }) => _tag)).toContain("CommitsFull")
    }),
  )
})
