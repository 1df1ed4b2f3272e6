/** Workers that take their jobs from pg-boss. Where Node is too old for it, only the refusal is tested. */
import { describe, expect, it, layer, vi } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Database } from "../../src/Database.ts"
import { bookQueue, boss, calling, deadQueue, migrateJobs, runsWorkers } from "../../src/Jobs/Boss.ts"
import { activeIn, readElsewhere } from "../../src/Jobs/Leading.ts"
import { prepare } from "../../src/Jobs/Prepare.ts"
import { work } from "../../src/Jobs/Worker.ts"
import { Settings } from "../../src/Settings.ts"
import { BookSync } from "../../src/Sync/BookSync.ts"
import { BookJobs } from "../../src/Sync/Runs/BookJobs.ts"
import { client, clientId, lending, move } from "../Sync/Lending.ts"
import { journal, rows, syncWith, variablesFor } from "../Sync/Runs.ts"
import { as, roles } from "../support/Roles.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unpaced } from "../support/Unpaced.ts"
import { creditedClients, hasWorkers, journalOfOneProcess } from "./Workers.ts"

describe("the version of Node that workers need", () => {
  it.each([
    ["20.20.2", false],
    ["22.11.0", false],
    ["22.12.0", true],
    ["24.1.0", true],
    ["23.0.0", true],
  ])("%s: %s", (version, runs) => {
    expect(runsWorkers(version)).toBe(runs)
  })
})

layer(TestDatabase.layer, { excludeTestServices: true })("the queue", (it) => {
  it.effect.skipIf(hasWorkers)("is refused by name where Node is too old", () =>
    Effect.gen(function* () {
      const { settings } = yield* Database
      const refused = yield* Effect.flip(migrateJobs(settings))
      expect(refused.message).toContain(`Workers need Node 22.12 or newer; this is ${process.versions.node}.`)
    }),
  )

  it.scoped.skipIf(!hasWorkers)("is made once by several processes that start at the same time", () =>
    Effect.gen(function* () {
      yield* Effect.all([prepare(), prepare(), prepare(), prepare()], { concurrency: "unbounded" })
      const made = yield* rows("select name from jobs.queue where name like 'books%' order by 1")
      expect(made).toEqual([{ name: "books" }, { name: "books-dead" }])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped.skipIf(!hasWorkers)("keeps one job of a book waiting beside the one that is under way", () =>
    Effect.gen(function* () {
      const { settings } = yield* Database
      yield* prepare()
      yield* prepare()
      const queue = yield* boss(settings, false)
      const send = calling("Test.send", () =>
        queue.send(bookQueue, { connection: "default", bookId: 1 }, { singletonKey: "default/1" }),
      )
      const first = yield* send
      expect([first === null, yield* send]).toEqual([false, null])
      const [taken] = yield* calling("Test.fetch", () => queue.fetch(bookQueue))
      expect(taken?.id).toBe(first)
      // What comes while it is under way is not lost.
      expect([(yield* send) === null, yield* send]).toEqual([false, null])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped.skipIf(!hasWorkers)("hands the books to workers, and the journal is that of one process", () =>
    Effect.gen(function* () {
      const { service, variables } = yield* creditedClients(12)
      const own = yield* journalOfOneProcess(variables)
      yield* prepare()
      // The runtime role owns neither the tables nor the queue.
      const { runtime } = yield* roles
      const services = Layer.provideMerge(BookSync.Default, Settings.from({ variables }))
      const report = yield* Effect.gen(function* () {
        yield* work(4)
        yield* work(4)
        const read = yield* readElsewhere
        return yield* Effect.provideService(syncWith(variables), BookJobs, Option.some(read))
      }).pipe(Effect.scoped, Effect.provide(services), unpaced, as(runtime))
      expect(report.clients.read).toBe(12)
      expect(yield* journal).toEqual(own)
      expect(service.count(`/clients/${clientId(3)}/accounts`)).toBeGreaterThan(0)
      expect(yield* rows("select state from sync.runs")).toEqual([{ state: "done" }])
    }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
  )

  it.scoped.skipIf(!hasWorkers)("gives up a book that keeps failing, with a finding", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2)] })
      move(held, clientId(1), { type: "CREDIT", amount: 10 })
      move(held, clientId(2), { type: "CREDIT", amount: 10 })
      const surfaces = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }
      const variables = { ...variablesFor(service.url), ...surfaces }
      yield* prepare()
      const database = yield* Database
      // A book whose statement entries cannot be written.
      yield* rows(`
        create function sync.refuse() returns trigger language plpgsql as $$ begin
          if (select code from mirror.books b where b.book_id = new.book_id) = 'C2' then raise exception 'refused'; end if;
          return new;
        end $$;
        create trigger refused before insert on mirror.statement_entries for each row execute function sync.refuse()`)
      const services = Layer.provideMerge(BookSync.Default, Settings.from({ variables }))
      const report = yield* Effect.gen(function* () {
        const queue = yield* boss(database.settings, false)
        yield* calling("Test.hurry", () => queue.updateQueue(bookQueue, { retryLimit: 1, retryDelay: 0 }))
        yield* calling("Test.hurry", () => queue.updateQueue(deadQueue, { retryDelay: 0 }))
        yield* work(2)
        const read = yield* readElsewhere
        return yield* Effect.provideService(syncWith(variables), BookJobs, Option.some(read))
      }).pipe(Effect.scoped, Effect.provide(services), unpaced)
      expect(report.clientFailures).toMatchObject([{ book: "C2", why: expect.stringContaining("refused") }])
      expect(
        yield* rows(
          "select severity, evidence ->> 'tries' as tries from reconcile.findings where check_name = 'dead-letter'",
        ),
      ).toEqual([{ severity: "blocking", tries: "2" }])
    }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
  )

  it.scoped.skipIf(!hasWorkers)("leaves the books to others where a worker's own settings do not fit", () =>
    Effect.gen(function* () {
      const { variables } = yield* creditedClients(3)
      yield* prepare()
      const database = yield* Database
      const servicesWith = (more: Record<string, string>) =>
        Layer.provideMerge(BookSync.Default, Settings.from({ variables: { ...variables, ...more } }))
      const report = yield* Effect.gen(function* () {
        const queue = yield* boss(database.settings, false)
        yield* calling("Test.hurry", () => queue.updateQueue(bookQueue, { retryLimit: 2, retryDelay: 0 }))
        yield* Effect.provide(work(2), servicesWith({ TIEOUT_ACCOUNTING_TIME_ZONE: "Asia/Tokyo" }))
        yield* Effect.forkScoped(Effect.delay(work(2), "3 seconds"))
        const read = yield* readElsewhere
        return yield* Effect.provideService(syncWith(variables), BookJobs, Option.some(read))
      }).pipe(Effect.scoped, Effect.provide(servicesWith({})), unpaced)
      expect([report.clients.read, report.clientFailures]).toEqual([3, []])
    }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
  )

  it.scoped.skipIf(!hasWorkers)(
    "takes what comes and what a lost worker left while the clock is set back",
    () =>
      Effect.gen(function* () {
        const { settings } = yield* Database
        yield* prepare()
        yield* Effect.acquireRelease(
          Effect.sync(() => {
            let now = Date.now()
            return vi.spyOn(Date, "now").mockImplementation(() => {
              now -= 3_600_000
              return now
            })
          }),
          (spied) => Effect.sync(() => spied.mockRestore()),
        )
        const queue = yield* boss(settings, true)
        yield* calling("Test.send", () => queue.send(bookQueue, { connection: "default", bookId: 1 }))
        yield* calling("Test.fetch", () => queue.fetch(bookQueue))
        yield* rows("update jobs.job set heartbeat_on = now() - interval '1 hour'")
        const given: Array<string> = []
        const taken = new Promise<ReadonlyArray<string>>((resolve) => {
          void queue.work(deadQueue, { pollingIntervalSeconds: 0.5 }, async (jobs) => {
            given.push(...jobs.map(({ id }) => id))
            if (given.length < 2) await queue.send(deadQueue, {})
            else resolve(given)
          })
        })
        yield* calling("Test.send", () => queue.send(deadQueue, {}))
        expect(yield* Effect.promise(() => taken)).toHaveLength(2)
        const left = rows("select state::text from jobs.job where name = 'books'")
        yield* Effect.repeat(Effect.delay(left, "200 millis"), { until: ([job]) => job?.state === "retry" })
      }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
  )

  it.scoped.skipIf(!hasWorkers)(
    "knows of no worker at work where the last one is not heard of any more",
    () =>
      Effect.gen(function* () {
        const database = yield* Database
        yield* prepare()
        const queue = yield* boss(database.settings, false)
        const isActive = activeIn(database)("default")
        yield* calling("Test.send", () => queue.send(bookQueue, { connection: "default", bookId: 1 }))
        const before = yield* isActive
        yield* calling("Test.fetch", () => queue.fetch(bookQueue))
        const during = yield* isActive
        yield* rows("update jobs.job set heartbeat_on = now() - interval '1 minute'")
        expect([before, during, yield* isActive]).toEqual([false, true, false])
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped.skipIf(!hasWorkers)("takes what was handed out while the database's clock was ahead", () =>
    Effect.gen(function* () {
      const { variables } = yield* creditedClients(2)
      yield* prepare()
      const { settings } = yield* Database
      yield* syncWith(variables)
      const books = yield* rows("select book_id from mirror.books where client_id is not null order by 1")
      const queue = yield* boss(settings, false)
      for (const { book_id: bookId } of books)
        yield* calling("Test.send", () =>
          queue.send(bookQueue, { connection: "default", bookId }, { singletonKey: `default/${bookId}` }),
        )
      yield* rows("update jobs.job set start_after = now() + interval '1 day'")
      const report = yield* Effect.gen(function* () {
        yield* work(2)
        const read = yield* readElsewhere
        return yield* Effect.provideService(syncWith(variables), BookJobs, Option.some(read))
      }).pipe(
        Effect.scoped,
        Effect.provide(Layer.provideMerge(BookSync.Default, Settings.from({ variables }))),
        unpaced,
      )
      expect(report.clients.read).toBe(2)
    }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
  )
})
