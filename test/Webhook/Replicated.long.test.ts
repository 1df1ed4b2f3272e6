/** With synchronous replication an acknowledged event is on the standby, too, also one whose row was there before. */
import { createHash } from "node:crypto"
import { expect, it } from "@effect/vitest"
import { Effect, Fiber, Layer } from "effect"
import { migrate } from "../../src/Database/Migrate.ts"
import { Database } from "../../src/Database.ts"
import { Inbox } from "../../src/Webhook/Inbox.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { replicated } from "../support/Standby.ts"

const delivery = {
  connection: "default",
  eventId: "a",
  digest: createHash("sha256").update("a").digest("hex"),
  type: "x",
  body: Buffer.from("a"),
  keyId: "k",
  algorithm: "ES256",
  poison: null,
} as const

const waitingForStandby = Effect.flatMap(Database, (database) =>
  database.query(
    "Test.waiting",
    (sql) => sql<{ pid: number }[]>`select pid from pg_stat_activity where wait_event = 'SyncRep'`,
  ),
)

/** Waits until a session waits for the standby. */
const waiting = waitingForStandby.pipe(
  Effect.delay("20 millis"),
  Effect.repeat({ until: (found) => found.length > 0 }),
)

/** Writes until a write waits: the server takes a changed setting some time after it was told to. */
const untilWritesWait = Effect.flatMap(Database, (database) =>
  Effect.gen(function* () {
    const write = yield* Effect.fork(
      database.query("Test.write", (sql) => sql`comment on table webhook.inbox is 'probe'`),
    )
    const found = yield* waitingForStandby.pipe(
      Effect.delay("20 millis"),
      Effect.repeat({
        until: (pids) => pids.length > 0 || write.unsafePoll() !== null,
      }),
    )
    for (const { pid } of found)
      yield* database.query("Test.cancel", (sql) => sql`select pg_cancel_backend(${pid})`)
    yield* Fiber.await(write)
    return found.length > 0
  }).pipe(Effect.repeat({ until: (waits) => waits })),
)

const setStandby = (name: string) =>
  Effect.flatMap(Database, (database) =>
    Effect.zipRight(
      database.query("Test.standby", (sql) =>
        sql.unsafe(`alter system set synchronous_standby_names = '${name}'`),
      ),
      database.query("Test.standby", (sql) => sql`select pg_reload_conf()`),
    ),
  )

it.scopedLive("[W8] an event that came before is acknowledged only once the synchronous standby has it", () =>
  Effect.gen(function* () {
    const { primary } = yield* replicated
    yield* Effect.gen(function* () {
      yield* migrate()
      yield* setStandby("away")
      yield* untilWritesWait
      const inbox = yield* Inbox
      const first = yield* Effect.fork(inbox.put([delivery]))
      yield* waiting
      // Whoever wrote it waits no longer, as a process that is stopped: the row is there, and on no standby.
      yield* Fiber.interrupt(first)
      expect(yield* inbox.counts()).toMatchObject([{ events: 1 }])
      const again = yield* Effect.fork(inbox.put([delivery]))
      yield* waiting
      expect(yield* Fiber.status(again)).not.toMatchObject({ _tag: "Done" })
      yield* setStandby("")
      expect(yield* Fiber.join(again)).toEqual(["known"])
    }).pipe(Effect.provide(Layer.provideMerge(Inbox.Default, Database.layer(settingsFor(primary)))))
  }),
)
