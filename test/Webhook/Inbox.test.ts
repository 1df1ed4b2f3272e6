import { createHash } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Option, Stream } from "effect"
import { Database } from "../../src/Database.ts"
import { forgetEvents } from "../../src/Sync/Retention.ts"
import type { Delivery } from "../../src/Webhook/Delivery.ts"
import { Inbox } from "../../src/Webhook/Inbox.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const delivery = (eventId: string, text = eventId, more: Partial<Delivery> = {}): Delivery => ({
  connection: "default",
  eventId,
  digest: createHash("sha256").update(text).digest("hex"),
  type: "deposit.completed",
  body: Buffer.from(text),
  keyId: "k1",
  algorithm: "ES256",
  poison: null,
  ...more,
})

const empty = Effect.flatMap(Database, (database) =>
  database.transaction(
    Effect.zipRight(
      database.query("Test.empty", (sql) => sql`set local session_replication_role = replica`),
      database.query("Test.empty", (sql) => sql`delete from webhook.inbox`),
    ),
  ),
)
const makeDue = Effect.flatMap(Database, (database) =>
  database.query("Test.due", (sql) => sql`update webhook.inbox set next_try_at = now()`),
)
const all = { connection: Option.none(), state: Option.none(), limit: 100 }
const setup = Effect.zipRight(empty, Inbox)

layer(Layer.provideMerge(Inbox.Default, TestDatabase.layer))("the inbox", (it) => {
  it.effect(
    "[W10] keeps one delivery once, and the same event with another body beside it, both flagged",
    () =>
      Effect.gen(function* () {
        const inbox = yield* setup
        const same = Array.from({ length: 5 }, () => delivery("a"))
        expect(yield* inbox.put([...same, delivery("b")])).toEqual(Array.from({ length: 6 }, () => "stored"))
        expect(yield* inbox.put(same)).toEqual(Array.from({ length: 5 }, () => "known"))
        expect(yield* inbox.put([delivery("a", "other"), delivery("c")])).toEqual(["conflict", "stored"])
        expect(yield* inbox.put([delivery("d", "one"), delivery("d", "two")])).toEqual([
          "conflict",
          "conflict",
        ])
        const rows = yield* inbox.list(all)
        expect(rows.map(({ conflict, eventId }) => [eventId, conflict]).sort()).toEqual([
          ["a", true],
          ["a", true],
          ["b", false],
          ["c", false],
          ["d", true],
          ["d", true],
        ])
        expect(yield* inbox.counts()).toMatchObject([{ state: "waiting", events: 6, conflicts: 4 }])
      }),
  )

  it.effect("[W10] takes an event of another connection for another event, whatever its identifier", () =>
    Effect.gen(function* () {
      const inbox = yield* setup
      const acme = { connection: "acme" }
      expect(yield* inbox.put([delivery("a"), delivery("a", "other", acme)])).toEqual(["stored", "stored"])
      expect(yield* inbox.put([delivery("b", "b", acme)])).toEqual(["stored"])
      expect(yield* inbox.put([delivery("b", "other"), delivery("a", "third")])).toEqual([
        "stored",
        "conflict",
      ])
      const rows = yield* inbox.list(all)
      expect(rows.map((row) => `${row.connection} ${row.eventId} ${row.conflict}`).sort()).toEqual([
        ...["acme a false", "acme b false"],
        ...["default a true", "default a true", "default b false"],
      ])
    }),
  )

  it.effect("returns every byte, and each due event once within a lease", () =>
    Effect.gen(function* () {
      const inbox = yield* setup
      const bytes = Uint8Array.from({ length: 256 }, (_, index) => index)
      yield* inbox.put([delivery(`quote " back \\ {curly}`, "x", { body: bytes })])
      const [taken, ...none] = yield* inbox.take("default", 10)
      expect(none).toEqual([])
      expect(taken?.eventId).toBe(`quote " back \\ {curly}`)
      expect(taken?.tries).toBe(1)
      expect(Buffer.compare(taken?.body ?? Buffer.alloc(0), bytes)).toBe(0)
      expect(yield* inbox.take("default", 10)).toEqual([])
      expect(yield* inbox.take("other", 10)).toEqual([])
      expect(yield* inbox.release("default")).toBe(1)
      const [again] = yield* inbox.take("default", 10, Duration.millis(1))
      expect(again?.tries).toBe(2)
      yield* Effect.promise(() => new Promise((done) => setTimeout(done, 20)))
      expect(yield* inbox.take("default", 10)).toHaveLength(1)
      yield* inbox.finish(again === undefined ? [] : [again])
      yield* makeDue
      expect(yield* inbox.take("default", 10)).toEqual([])
    }),
  )

  it.effect("[W14] gives up after N tries, and tries again when it is told to", () =>
    Effect.gen(function* () {
      const inbox = yield* setup
      yield* inbox.put([
        delivery("bad"),
        delivery("good"),
        delivery("poison:1", "p", { type: null, poison: "no id" }),
      ])
      for (let tries = 1; tries <= 3; tries++) {
        const taken = yield* inbox.take("default", 10)
        expect(taken.map(({ eventId }) => eventId).sort()).toEqual(tries === 1 ? ["bad", "good"] : ["bad"])
        yield* inbox.finish(taken.filter(({ eventId }) => eventId === "good"))
        yield* inbox.fail(
          taken.filter(({ eventId }) => eventId === "bad"),
          "boom \u0000 \ud800",
          3,
        )
        expect(yield* inbox.take("default", 10)).toEqual([])
        yield* makeDue
      }
      expect(yield* inbox.take("default", 10)).toEqual([])
      expect(yield* inbox.list({ ...all, state: Option.some("dead") })).toMatchObject([
        { eventId: "bad", tries: 3, error: "boom � �" },
      ])
      expect(yield* inbox.replay(["poison:1", "nothing"])).toEqual([])
      expect(yield* inbox.replay("dead")).toEqual([{ connection: "default", eventId: "bad" }])
      expect(yield* inbox.replay(["good"])).toEqual([{ connection: "default", eventId: "good" }])
      expect((yield* inbox.take("default", 10)).map(({ tries }) => tries)).toEqual([1, 1])
    }),
  )

  it.effect(
    "[W14] waits twice as long after each failed try, at most ten minutes, whoever starts meanwhile",
    () =>
      Effect.gen(function* () {
        const inbox = yield* setup
        const { query, transaction } = yield* Database
        const tried = [1, 2, 3, 10, 11, 1_000]
        yield* inbox.put(tried.map((tries) => delivery(`tried ${tries}`)))
        // In one transaction, so that it is the same now for both.
        const waits = yield* transaction(
          Effect.zipRight(
            Effect.forEach(tried, (tries) => inbox.fail([{ ...delivery(`tried ${tries}`), tries }], "no")),
            query(
              "Test.waits",
              (sql) => sql<Array<{ wait: number }>>`
              select extract(epoch from next_try_at - now())::float8 as wait from webhook.inbox
              order by split_part(event_id, ' ', 2)::integer`,
            ),
          ),
        )
        expect(waits.map(({ wait }) => wait)).toEqual([1, 2, 4, 512, 600, 600])
        expect(yield* inbox.release("default")).toBe(0)
      }),
  )

  it.effect("leaves what is done as it is, whatever a process says that was overtaken", () =>
    Effect.gen(function* () {
      const inbox = yield* setup
      yield* inbox.put([delivery("a")])
      expect(yield* inbox.finish([{ ...delivery("a"), note: "odd" }])).toHaveLength(1)
      expect(yield* inbox.finish([delivery("a")])).toEqual([])
      yield* inbox.fail([{ ...delivery("a"), tries: 1 }], "too late")
      expect(yield* inbox.list(all)).toMatchObject([{ state: "done", error: null, note: "odd" }])
    }),
  )

  it.effect("notifies listeners of a new event", () =>
    Effect.gen(function* () {
      const inbox = yield* setup
      const heard = yield* Effect.fork(Stream.runCollect(Stream.take(inbox.arrivals, 1)))
      yield* Effect.yieldNow()
      yield* Effect.promise(() => new Promise((done) => setTimeout(done, 20)))
      yield* inbox.put([delivery("x", "x", { connection: "acme" })])
      expect([...(yield* heard)]).toEqual(["acme"])
    }),
  )

  it.effect("removes events that were done or given up long ago, and none that wait", () =>
    Effect.gen(function* () {
      const inbox = yield* setup
      yield* inbox.put([delivery("old"), delivery("open"), delivery("dead"), delivery("failed")])
      yield* inbox.put([delivery("poison:1", "x", { type: null, poison: "The body is not JSON." })])
      yield* inbox.finish([delivery("old")])
      yield* inbox.fail([{ ...delivery("dead"), tries: 8 }], "no", 0)
      yield* inbox.fail([{ ...delivery("failed"), tries: 1 }], "not yet")
      expect(yield* forgetEvents(Duration.days(1))).toBe(0)
      const { query } = yield* Database
      yield* query(
        "Test.age",
        (sql) => sql`
          insert into webhook.inbox (connection, event_id, digest, body, key_id, algorithm, state, received_at)
          select 'default', state || ' long ago', '', '', 'k', 'a', state, now() - interval '40 days'
          from unnest(array['dead', 'poison']) as t (state)`,
      )
      expect(yield* forgetEvents(Duration.zero)).toBe(3)
      const left = yield* inbox.list({ connection: Option.none(), state: Option.none(), limit: 10 })
      expect(left.map(({ eventId }) => eventId).sort()).toEqual(["dead", "failed", "open", "poison:1"])
    }),
  )

  it.effect("gives no more at once than a small machine has room for, but a large one in any case", () =>
    Effect.gen(function* () {
      const inbox = yield* setup
      const large = (count: number, bytes: number, name: string) =>
        inbox.put(
          Array.from({ length: count }, (_, at) =>
            delivery(`${name}${at}`, `${name}${at}`, { body: Buffer.alloc(bytes, "x") }),
          ),
        )
      yield* large(1, 17 * 1024 * 1024, "alone")
      const taken = () => Effect.map(inbox.take("default", 5_000), (events) => events.length)
      expect(yield* taken()).toBe(1)
      yield* large(300, 65_536, "large")
      expect([yield* taken(), yield* taken(), yield* taken()]).toEqual([256, 44, 0])
    }),
  )
})
