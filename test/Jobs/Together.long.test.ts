/** Books that a worker takes together are numbered and proved together; one that it has to give up fails alone. */
import { expect, layer } from "@effect/vitest"
import { Deferred, Duration, Effect, Exit, Fiber, Layer, Logger, Option } from "effect"
import type { Book } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { bookJobs } from "../../src/Jobs/BookJob.ts"
import { readBy } from "../../src/Jobs/Leading.ts"
import { Settings } from "../../src/Settings.ts"
import { BookJobs } from "../../src/Sync/Runs/BookJobs.ts"
import { holdingBooks } from "../../src/Sync/Runs/ConnectionLock.ts"
import { client, clientId, type Lending, lending, move } from "../Sync/Lending.ts"
import { journal, rows, syncWith, variablesFor } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unpaced } from "../support/Unpaced.ts"
import { unruled } from "../support/unruled.ts"
import { journalOfOneProcess, overtaking, syncWithBatch, workerServices } from "./Workers.ts"

const some = [1, 2, 3, 4, 5]
const surfaces = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }

const moved = (held: Lending): void => {
  for (const one of some) {
    move(held, clientId(one), { type: "CREDIT", amount: one * 10 })
    move(held, clientId(one), { type: "DEBIT", amount: one })
  }
}

const begun = Effect.gen(function* () {
  const { held, service } = yield* lending({ clients: some.map((one) => client(one)) })
  moved(held)
  return { held, variables: { ...variablesFor(service.url), ...surfaces } }
})

/** How many transactions have proved the clients' books: each leaves a time of its own. */
const proofs = Effect.map(
  rows(`select count(distinct p.reconciled_at)::integer as n from reconcile.progress p
    join mirror.books b on b.book_id = p.book_id and b.client_id is not null`),
  ([row]) => row?.n,
)

/** As if the book had been read with other settings before. */
const datedInTokyo = (bookId: number) =>
  Effect.flatMap(Database, (database) =>
    database.transaction(
      Effect.zipRight(
        database.execute("Test.rules", (sql) => sql`set local session_replication_role = replica`),
        database.execute(
          "Test.zone",
          (sql) => sql`update ledger.locks set time_zone = 'Asia/Tokyo' where book_id = ${bookId}`,
        ),
      ),
    ),
  )

const theBook = (code: string) =>
  Effect.map(
    rows(`select book_id, name from mirror.books where code = '${code}'`),
    ([row]): Book => ({
      ...{ bookId: Number(row?.book_id), connection: "default", code, name: String(row?.name) },
      clientId: Option.some(clientId(3)),
    }),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("books that a worker takes at once", (it) => {
  it.scoped(
    "are proved by fewer transactions than there are books, and the journal is that of one process",
    () =>
      Effect.gen(function* () {
        const { held, variables } = yield* begun
        const own = yield* journalOfOneProcess(variables)
        const report = yield* syncWithBatch(variables, (jobs, batch) => Effect.orDie(jobs.read(batch)))
        expect([report.clients.read, report.numbered, report.clientFailures]).toEqual([5, own.length / 2, []])
        expect(yield* journal).toEqual(own)
        // Books that take long to read are proved later.
        expect(Number(yield* proofs)).toBeLessThan(some.length)
        move(held, clientId(2), { type: "CREDIT", amount: 7 })
        const again = yield* syncWithBatch(variables, (jobs, batch) => Effect.orDie(jobs.read(batch)))
        expect([again.counters.entries, again.numbered]).toEqual([1, 1])
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("do not fail when another process takes one of them meanwhile", () =>
    Effect.gen(function* () {
      const { variables } = yield* begun
      // One lease is lost by the transaction before the books are numbered.
      yield* rows(overtaking("delete on sync.dead_letters", "C3"))
      const tags: Array<unknown> = []
      const report = yield* syncWithBatch(variables, (jobs, batch) =>
        Effect.gen(function* () {
          const tried = yield* jobs.read(batch)
          tags.push(...tried.map(Exit.isSuccess))
          yield* jobs.read(batch.filter((_, at) => tags[at] === false))
        }).pipe(Effect.orDie),
      )
      expect(tags.filter((isDone) => isDone === false)).toHaveLength(1)
      expect(report.clients.read).toBe(5)
      const lines = yield* journal
      yield* syncWith(variables, { full: true })
      expect(yield* journal).toEqual(lines)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("are read but for one that is dated in another time zone", () =>
    Effect.gen(function* () {
      const { variables } = yield* begun
      const found: Array<unknown> = []
      const report = yield* syncWithBatch(variables, (jobs, batch) =>
        Effect.gen(function* () {
          const { bookId } = yield* theBook("C3")
          yield* datedInTokyo(bookId)
          const tried = yield* jobs.read(batch)
          found.push(...tried.map(Exit.isSuccess))
          const left = batch.filter((_, at) => found[at] === false)
          yield* Effect.forEach(left, (job) => jobs.giveUp(job, { tries: 3, why: "its time zone" }))
        }).pipe(Effect.orDie),
      )
      expect([report.clients.read, report.numbered]).toEqual([4, 8])
      expect(report.clientFailures.map(({ book }) => book)).toEqual(["C3"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped(
    "are dated in the time zone of who hands them out, and refused by a worker with another one",
    () =>
      Effect.gen(function* () {
        const { variables } = yield* begun
        const tokyo = { ...variables, TIEOUT_ACCOUNTING_TIME_ZONE: "Asia/Tokyo" }
        const refused: Array<string> = []
        const report = yield* syncWithBatch(variables, (jobs, batch) =>
          Effect.gen(function* () {
            const tried = yield* (yield* bookJobs(4)).read(batch)
            refused.push(...tried.map(String))
            yield* jobs.read(batch)
          }).pipe(
            Effect.scoped,
            Effect.provide(Layer.provideMerge(workerServices, Settings.from({ variables: tokyo }))),
            Effect.orDie,
          ),
        )
        expect(refused).toHaveLength(5)
        for (const why of refused) expect(why).toContain("accounting.timeZone: is Asia/Tokyo")
        expect(report.clients.read).toBe(5)
        expect(
          yield* rows("select distinct time_zone as zone from ledger.locks where time_zone is not null"),
        ).toEqual([{ zone: "UTC" }])
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("are taken without one that another process has", () =>
    Effect.gen(function* () {
      const { variables } = yield* begun
      yield* syncWith(variables)
      const database = yield* Database
      const taken = yield* theBook("C3")
      const tags: Array<unknown> = []
      const report = yield* syncWithBatch(variables, (jobs, batch) =>
        Effect.gen(function* () {
          const tried = yield* holdingBooks(database, "default", [taken], jobs.read(batch))
          tags.push(...tried.map((exit) => (Exit.isSuccess(exit) ? "done" : "failed")))
          yield* jobs.read(batch)
        }).pipe(Effect.orDie),
      )
      expect([...tags].sort()).toEqual(["done", "done", "done", "done", "failed"])
      expect(report.clients.read).toBe(5)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("release all their locks when the worker is stopped, and leave nothing half-written", () =>
    Effect.gen(function* () {
      const { held, variables } = yield* begun
      const hanging = yield* Deferred.make<void>()
      held.interfere = (path) => {
        if (!path.includes(clientId(4)) || !path.includes("/statement")) return false
        Deferred.unsafeDone(hanging, Effect.void)
        return true
      }
      const report = yield* syncWithBatch(variables, (jobs, batch) =>
        Effect.gen(function* () {
          const first = yield* Effect.fork(jobs.read(batch))
          yield* Deferred.await(hanging)
          yield* Fiber.interrupt(first)
          held.interfere = () => false
          const again = yield* jobs.read(batch)
          expect(again.every(Exit.isSuccess)).toBe(true)
        }).pipe(Effect.orDie),
      )
      expect([report.clients.read, report.clientFailures]).toEqual([5, []])
      const lines = yield* journal
      yield* syncWith(variables, { full: true })
      expect(yield* journal).toEqual(lines)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("wait only for a bounded time for one that takes long to read", () =>
    Effect.gen(function* () {
      const { held, variables } = yield* begun
      const others = yield* Deferred.make<void>()
      let release: (() => void) | undefined
      held.interfere = (path, response) => {
        if (release !== undefined || !path.includes(clientId(4)) || !path.includes("/statement")) return false
        release = () => response.writeHead(503, { "retry-after": "0" }).end()
        return true
      }
      const known: Array<unknown> = []
      const report = yield* syncWithBatch(variables, (jobs, batch) =>
        Effect.gen(function* () {
          const reading = yield* Effect.fork(jobs.read(batch))
          const results = rows("select count(*)::integer as n from sync.book_jobs where result is not null")
          yield* Effect.repeat(Effect.delay(results, "100 millis"), {
            until: ([row]) => Number(row?.n) === some.length - 1,
          })
          known.push("the others are done")
          yield* Deferred.succeed(others, undefined)
          release?.()
          yield* Fiber.join(reading)
        }).pipe(Effect.orDie),
      )
      expect(known).toEqual(["the others are done"])
      expect(report.clients.read).toBe(5)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("have not failed where the run that handed them out has ended meanwhile", () =>
    Effect.gen(function* () {
      const { held, variables } = yield* begun
      yield* syncWith(variables)
      const asked = yield* Deferred.make<void>()
      let release: (() => void) | undefined
      held.interfere = (path, response) => {
        if (release !== undefined || !path.includes(clientId(4)) || !path.includes("/statement")) return false
        release = () => response.writeHead(503, { "retry-after": "0" }).end()
        Deferred.unsafeDone(asked, Effect.void)
        return true
      }
      const tried: Array<string> = []
      const report = yield* syncWithBatch(variables, (jobs, batch) =>
        Effect.gen(function* () {
          const reading = yield* Effect.fork(jobs.read(batch))
          yield* Deferred.await(asked)
          yield* unruled(
            "update sync.runs set state = 'abandoned', ended_at = now() where state = 'running' and command = 'sync'",
          )
          release?.()
          tried.push(...(yield* Fiber.join(reading)).map(String))
          yield* unruled("update sync.runs set state = 'running', ended_at = null where state = 'abandoned'")
          yield* jobs.read(batch)
        }).pipe(Effect.orDie),
      )
      expect(tried).toEqual(some.map(() => String(Exit.void)))
      expect(report.clients.read).toBe(5)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("are read beside a job that names no book", () =>
    Effect.gen(function* () {
      const { variables } = yield* begun
      const tried: Array<boolean> = []
      yield* syncWithBatch(variables, (jobs, batch) =>
        Effect.map(
          jobs.read([{ odd: true }, ...batch]),
          (all) => void tried.push(...all.map(Exit.isSuccess)),
        ).pipe(Effect.orDie),
      )
      expect(tried).toEqual([false, true, true, true, true, true])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("books that wait for workers", (it) => {
  it.scoped("are named in the log where no worker is at work", () =>
    Effect.gen(function* () {
      const { variables } = yield* begun
      const database = yield* Database
      const lines: Array<string> = []
      const logger = Logger.make(({ message }) => void lines.push(String(message)))
      const report = yield* Effect.gen(function* () {
        const jobs = yield* bookJobs(4)
        const send = (connection: string, books: ReadonlyArray<number>) =>
          jobs
            .read(books.map((bookId) => ({ connection, bookId })))
            .pipe(
              Effect.orDie,
              Effect.delay("1 second"),
              Effect.provideService(Database, database),
              Effect.forkDaemon,
              Effect.asVoid,
            )
        const queue = { send, idle: () => Effect.succeed([]), isActive: () => Effect.succeed(false) }
        const read = readBy(database, queue, Duration.millis(300))
        return yield* Effect.provideService(syncWith(variables), BookJobs, Option.some(read))
      }).pipe(
        Effect.scoped,
        Effect.provide(
          Layer.provideMerge(workerServices, Settings.from({ variables })).pipe(
            Layer.merge(Logger.replace(Logger.defaultLogger, logger)),
          ),
        ),
        unpaced,
      )
      expect(report.clients.read).toBe(5)
      expect(lines.filter((line) => line.includes("workers"))).toEqual([
        "5 books wait for workers, and none is at work: does tieout worker run, with this database, and what does its log say?",
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
