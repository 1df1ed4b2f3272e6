/** Events of clients' books that workers process: each once, beside a night, and none lost. */
import { createHash } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect, Exit, Fiber, Layer, Option } from "effect"
import { Database } from "../../src/Database.ts"
import { bookQueue, boss, calling, runsWorkers } from "../../src/Jobs/Boss.ts"
import { workersElsewhere } from "../../src/Jobs/Leading.ts"
import { prepare } from "../../src/Jobs/Prepare.ts"
import * as PartnerHttp from "../../src/Partner/Http.ts"
import { Settings } from "../../src/Settings.ts"
import { EventJobs } from "../../src/Sync/Events/EventJobs.ts"
import { Events } from "../../src/Sync/Events.ts"
import { forAMoment } from "../../src/Sync/Runs/ConnectionLock.ts"
import { Inbox } from "../../src/Webhook/Inbox.ts"
import { accountOf, client, clientId, lending, move } from "../Sync/Lending.ts"
import { id } from "../Sync/Partnership.ts"
import { bookIdOf, findings, inboxStates, journal, rows, syncWith, variablesFor } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unpaced } from "../support/Unpaced.ts"
import { type Jobs, singleJobs, syncWithBatch, syncWithWorkers, workerServices } from "./Workers.ts"

const surfaces = { TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}" }

let counter = 0
const delivery = (index: number | undefined) => {
  counter += 1
  const data = index === undefined ? {} : { clientId: clientId(index), accountId: accountOf(clientId(index)) }
  const event = { id: id(5_000 + counter), timestamp: "2026-10-01T00:00:00Z", type: "account.credited", data }
  const body = Buffer.from(JSON.stringify(event))
  const digest = createHash("sha256").update(body).digest("hex")
  return {
    ...{ connection: "default", eventId: event.id, digest, type: event.type, body },
    ...{ keyId: "k", algorithm: "ES256", poison: null },
  }
}

const arrive = (...clients: ReadonlyArray<number | undefined>) =>
  Effect.flatMap(Inbox, ({ put }) => Effect.orDie(put(clients.map(delivery))))

const eventRuns = rows("select state, exit_code from sync.runs where command = 'events' order by run_id")

/** Acts as a worker and as the process that receives the events; `sent` are the books that were handed out. */
const together = <A, E, R>(
  variables: Record<string, string>,
  use: (jobs: Jobs, round: ReturnType<Events["round"]>, sent: Array<number>) => Effect.Effect<A, E, R>,
) =>
  Effect.gen(function* () {
    const settings = yield* Settings
    const sent: Array<number> = []
    const partner = PartnerHttp.layer({ ...(yield* settings.connection("default")), limits: settings.limits })
    const events = yield* Events
    return yield* Effect.provide(use(yield* singleJobs, events.round("default"), sent), partner).pipe(
      Effect.provideService(
        EventJobs,
        Option.some((_, books) => Effect.sync(() => void sent.push(...books))),
      ),
    )
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.provideMerge(workerServices, Settings.from({ variables }))),
    unpaced,
  )

layer(TestDatabase.layer, { excludeTestServices: true })("events that workers take", (it) => {
  it.scoped("are those of clients' books; the others stay with the process that received them", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2)] })
      const variables = { ...variablesFor(service.url), ...surfaces }
      yield* syncWith(variables)
      for (const one of [1, 2]) move(held, clientId(one), { type: "CREDIT", amount: one * 10 })
      yield* together(variables, (jobs, round, sent) =>
        Effect.gen(function* () {
          const [first, second] = [yield* bookIdOf("C1"), yield* bookIdOf("C2")]
          yield* arrive(1, 1, 2, undefined)
          yield* round
          expect([sent.splice(0), yield* inboxStates]).toEqual([
            [first, second],
            ["done 1", "waiting 3"],
          ])
          yield* jobs.read({ connection: "default", bookId: first })
          expect(yield* inboxStates).toEqual(["done 3", "waiting 1"])
          // An event that comes during a job, or that a worker left, is handed out again.
          yield* arrive(1)
          yield* round
          expect(sent.splice(0)).toEqual([first, second])
          for (const bookId of [second, first, first]) yield* jobs.read({ connection: "default", bookId })
          yield* round
          expect([sent, yield* inboxStates]).toEqual([[], ["done 5"]])
          expect(yield* rows("select * from sync.book_events")).toEqual([])
        }),
      )
      expect(yield* eventRuns).toEqual([1, 2, 3, 4].map(() => ({ state: "done", exit_code: 0 })))
      const lines = yield* journal
      expect(lines).toHaveLength(4)
      yield* syncWith(variables, { full: true })
      expect(yield* journal).toEqual(lines)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("wait, and do not fail, while another process has the connection", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1)] })
      const variables = { ...variablesFor(service.url), ...surfaces }
      yield* syncWith(variables)
      move(held, clientId(1), { type: "CREDIT", amount: 10 })
      yield* together(variables, (jobs, round, sent) =>
        Effect.gen(function* () {
          const job = { connection: "default", bookId: yield* bookIdOf("C1") }
          yield* arrive(1)
          yield* round
          const database = yield* Database
          yield* forAMoment(database, "default", jobs.read(job))
          expect(yield* rows("select state, tries from webhook.inbox")).toEqual([
            { state: "waiting", tries: 0 },
          ])
          yield* round
          expect(sent).toEqual([job.bookId, job.bookId])
          yield* jobs.read(job)
          expect(yield* inboxStates).toEqual(["done 1"])
        }),
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("make a sync in one process wait for them", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1)] })
      const variables = { ...variablesFor(service.url), ...surfaces }
      yield* syncWith(variables)
      move(held, clientId(1), { type: "CREDIT", amount: 10 })
      yield* together(variables, (jobs, round) =>
        Effect.gen(function* () {
          const job = { connection: "default", bookId: yield* bookIdOf("C1") }
          yield* arrive(1)
          yield* round
          let answer: (() => void) | undefined
          held.interfere = (path, response) => {
            if (answer !== undefined || !path.includes(clientId(1))) return false
            answer = () => response.writeHead(503).end()
            return true
          }
          const working = yield* Effect.fork(jobs.read(job))
          const asked = Effect.sync(() => answer !== undefined)
          yield* Effect.repeat(Effect.delay(asked, "20 millis"), { until: (is) => is })
          const sync = yield* Effect.fork(syncWith(variables))
          yield* Effect.sleep("500 millis")
          expect((yield* Fiber.poll(sync))._tag).toBe("None")
          answer?.()
          yield* Fiber.join(working)
          expect((yield* Fiber.join(sync)).clients.read).toBe(1)
        }),
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("that come during a night leave nothing of it unproved", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1)] })
      const variables = { ...variablesFor(service.url), ...surfaces }
      yield* syncWith(variables)
      yield* syncWithWorkers(variables, 1, {
        around: (jobs, job) =>
          Effect.gen(function* () {
            move(held, clientId(1), { type: "CREDIT", amount: 10 })
            yield* arrive(1)
            yield* rows(`
              insert into sync.book_events (connection, event_id, digest, book_id)
              select connection, event_id, digest, ${job.bookId} from webhook.inbox`)
            // The worker lost the night's part of this job: the events have a later run than the night, and are proved before it.
            yield* rows(
              "alter table sync.book_jobs rename to hidden; create table sync.book_jobs (like sync.hidden)",
            )
            yield* Effect.orDie(jobs.read(job))
            yield* rows("drop table sync.book_jobs; alter table sync.hidden rename to book_jobs")
            move(held, clientId(1), { type: "CREDIT", amount: 20 })
            yield* Effect.orDie(jobs.read(job))
          }),
      })
      expect(yield* rows("select run_id, command from sync.runs order by 1")).toEqual([
        { run_id: 1, command: "sync" },
        { run_id: 2, command: "sync" },
        { run_id: 3, command: "events" },
      ])
      expect((yield* findings).filter((line) => line === "adjustment warning")).toHaveLength(2)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("whose connection a worker does not know leave it the books of others", () =>
    Effect.gen(function* () {
      const { service } = yield* lending({ clients: [client(1)] })
      const variables = { ...variablesFor(service.url), ...surfaces }
      const tried: Array<boolean> = []
      const report = yield* syncWithBatch(variables, (jobs, batch) =>
        Effect.gen(function* () {
          yield* rows(`
            with book as (
              insert into mirror.books (connection, code, name) values ('unknown', 'OWN', 'Own') returning book_id
            ), event as (
              insert into webhook.inbox (connection, event_id, digest, type, body, key_id, algorithm, state)
              values ('unknown', 'e', '\\x01', 'account.credited', '', 'k', 'ES256', 'waiting')
              returning connection, event_id, digest
            )
            insert into sync.book_events (connection, event_id, digest, book_id)
            select connection, event_id, digest, book_id from event, book`)
          const [other] = yield* rows("select book_id as id from mirror.books where connection = 'unknown'")
          const all = yield* jobs.read([{ connection: "unknown", bookId: Number(other?.id) }, ...batch])
          tried.push(...all.map(Exit.isSuccess))
        }).pipe(Effect.orDie),
      )
      expect(tried).toEqual([false, true])
      expect(report.clients.read).toBe(1)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped.skipIf(!runsWorkers(process.versions.node))(
    "come before a night, and make no second job of a book",
    () =>
      Effect.gen(function* () {
        const database = yield* Database
        yield* prepare()
        const { events } = yield* workersElsewhere
        const queue = yield* boss(database.settings, false)
        for (const bookId of [1, 2, 3])
          yield* calling("Test.send", () =>
            queue.send(
              bookQueue,
              { connection: "default", bookId },
              { priority: 10, singletonKey: `default/${bookId}` },
            ),
          )
        yield* events("default", [3, 4])
        const fetched = yield* calling("Test.fetch", () =>
          queue.fetch<{ bookId: number }>(bookQueue, { batchSize: 2 }),
        )
        expect(fetched.map(({ data }) => data.bookId).sort()).toEqual([3, 4])
        expect(
          yield* rows("select count(*)::integer as waiting from jobs.job where state = 'created'"),
        ).toEqual([{ waiting: 2 }])
      }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
  )
})
