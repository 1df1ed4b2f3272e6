/** Backfills in which workers read the clients' books: the same report and the same books, beside syncs and events. */
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Option } from "effect"
import { Database } from "../../src/Database.ts"
import { bookQueue, boss, calling, priorities, runsWorkers } from "../../src/Jobs/Boss.ts"
import { workersElsewhere } from "../../src/Jobs/Leading.ts"
import { prepare } from "../../src/Jobs/Prepare.ts"
import { BookJobs } from "../../src/Sync/Runs/BookJobs.ts"
import { forAMoment } from "../../src/Sync/Runs/ConnectionLock.ts"
import { client, clientId, type Lending, lending, move } from "../Sync/Lending.ts"
import { bothSurfaces } from "../Sync/Partnership.ts"
import { bookIdOf, findings, journal, rows, syncWith, variablesFor } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { backfillWith, type Jobs, october, syncWithWorkers, withWorkers } from "./Workers.ts"

const september = { from: "2026-09-01", to: "2026-09-30" }

const someClients = [1, 2, 3, 4].map((index) => client(index))

/** Four clients with three entries each, of which one sync saw the last two of C2 and another amount of C3. */
const synced = Effect.gen(function* () {
  const { held, service } = yield* lending({ clients: someClients })
  const variables = { ...variablesFor(service.url), ...bothSurfaces }
  for (const one of [1, 2, 3, 4])
    for (const amount of [10, 20, 30]) move(held, clientId(one), { type: "CREDIT", amount: amount + one })
  return { held, service, variables }
})

const statementOf = (held: Lending, index: number) => held.statements[clientId(index)] ?? []

/** Syncs before the service shows everything. */
const before = (held: Lending, variables: Record<string, string>) =>
  Effect.gen(function* () {
    const [second, third] = [statementOf(held, 2), statementOf(held, 3)]
    held.statements[clientId(2)] = second.slice(1)
    held.statements[clientId(3)] = third.map((entry, at) => (at === 0 ? { ...entry, type: "DEBIT" } : entry))
    yield* syncWith(variables)
    held.statements[clientId(2)] = second
    held.statements[clientId(3)] = third
  })

const deadLetters = rows(`
  select message, evidence ->> 'from' as "from", evidence ->> 'to' as "to", closed_at is not null as closed
  from reconcile.findings where check_name = 'dead-letter' order by finding_id`)

/** Acts only once. */
const first = (
  does: (jobs: Jobs, job: { connection: string; bookId: number }) => Effect.Effect<void, never, Database>,
) => {
  let isFirst = true
  return (jobs: Jobs, job: { connection: string; bookId: number }) => {
    if (!isFirst) return Effect.orDie(jobs.read(job))
    isFirst = false
    return does(jobs, job)
  }
}

layer(TestDatabase.layer, { excludeTestServices: true })("a backfill with workers", (it) => {
  it.scoped("gives the same report and books as one without workers", () =>
    Effect.gen(function* () {
      const { held, variables } = yield* synced
      const own = yield* Effect.gen(function* () {
        yield* before(held, variables)
        const { requests: _, seconds: __, ...report } = yield* backfillWith(variables)
        return { report, lines: yield* journal, open: yield* findings }
      }).pipe(Effect.provide(TestDatabase.layer))
      yield* before(held, variables)
      const {
        requests: _,
        seconds: __,
        ...report
      } = yield* withWorkers(variables, 2)(backfillWith(variables))
      expect(report).toEqual(own.report)
      expect([yield* journal, yield* findings]).toEqual([own.lines, own.open])
      expect(report.accounts.map(({ book, older, proved }) => [book, older, proved])).toEqual([
        ["C1", 0, true],
        ["C2", 1, true],
        ["C3", 0, false],
        ["C4", 0, true],
        ["ORG", 0, true],
      ])
      expect(yield* rows("select command, state, exit_code from sync.runs order by run_id")).toEqual([
        { command: "sync", state: "done", exit_code: 0 },
        { command: "backfill", state: "done", exit_code: 3 },
      ])
      expect(yield* rows("select * from sync.book_jobs")).toEqual([])
    }),
  )

  it.scoped("leaves a book that another process has, and hands it out again", () =>
    Effect.gen(function* () {
      const { variables } = yield* synced
      yield* syncWith(variables)
      const database = yield* Database
      let left = -1
      const report = yield* backfillWith(variables).pipe(
        withWorkers(
          variables,
          1,
          first((jobs, job) =>
            Effect.gen(function* () {
              yield* Effect.orDie(forAMoment(database, "default", Effect.orDie(jobs.read(job))))
              const [row] = yield* rows(
                "select count(*)::integer as n from sync.book_jobs where result is null",
              )
              left = Number(row?.n)
            }),
          ),
        ),
      )
      expect([left, report.clients.read, report.accounts.length]).toEqual([4, 4, 5])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("that gives a book up says so until one of its days has read it", () =>
    Effect.gen(function* () {
      const { variables } = yield* synced
      yield* syncWith(variables)
      const lost = { tries: 6, why: "it was lost" }
      const report = yield* backfillWith(variables).pipe(
        withWorkers(
          variables,
          1,
          first((jobs, job) => Effect.orDie(jobs.giveUp(job, lost))),
        ),
      )
      expect(report.clientFailures).toMatchObject([{ book: "C1", why: "it was lost" }])
      expect(yield* deadLetters).toEqual([
        {
          message:
            "The workers gave up the backfill job (2026-10-01 to 2026-10-31) of the book after 6 tries: it was lost",
          ...october,
          closed: false,
        },
      ])
      yield* syncWith(variables, { full: true })
      yield* backfillWith(variables, september)
      yield* withWorkers(variables, 1)(backfillWith(variables, september))
      expect(yield* deadLetters).toMatchObject([{ closed: false }])
      yield* backfillWith(variables, { from: "2026-09-30", to: "2026-11-01" })
      expect(yield* deadLetters).toMatchObject([{ closed: true }])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("runs beside a sync with workers: one job does both, the sync first", () =>
    Effect.gen(function* () {
      const { held, variables } = yield* synced
      yield* syncWith(variables)
      for (const one of [1, 2, 3, 4]) move(held, clientId(one), { type: "CREDIT", amount: 7 })
      const begun = yield* Deferred.make<void>()
      const enough = yield* Deferred.make<void>()
      const waiting = (jobs: Jobs, job: { connection: string; bookId: number }) =>
        Deferred.succeed(begun, undefined).pipe(
          Effect.zipRight(Deferred.await(enough)),
          Effect.zipRight(Effect.orDie(jobs.read(job))),
        )
      const backfill = yield* Effect.fork(withWorkers(variables, 1, waiting)(backfillWith(variables)))
      yield* Deferred.await(begun)
      const done: Array<number> = []
      const report = yield* syncWithWorkers(variables, 1, {
        around: (jobs, job) =>
          Effect.gen(function* () {
            yield* Effect.orDie(jobs.read(job))
            const [left] = yield* rows(`
              select count(*)::integer as n from sync.book_jobs where book_id = ${job.bookId} and result is null`)
            done.push(Number(left?.n))
          }),
      })
      yield* Deferred.succeed(enough, undefined)
      expect(report.counters.entries).toBe(4)
      expect(new Set(done)).toEqual(new Set([0]))
      const both = yield* Fiber.join(backfill)
      expect([both.clients.read, both.accounts.filter(({ proved }) => proved).length]).toEqual([4, 5])
      const lines = yield* journal
      yield* syncWith(variables, { full: true })
      expect(yield* journal).toEqual(lines)
      expect((yield* findings).filter((line) => line === "adjustment warning")).toHaveLength(16)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("is waited for by a sync in one process", () =>
    Effect.gen(function* () {
      const { held, variables } = yield* synced
      yield* syncWith(variables)
      const ended: Array<string> = []
      yield* backfillWith(variables).pipe(
        withWorkers(
          variables,
          1,
          first((jobs, job) =>
            Effect.gen(function* () {
              let answer: (() => void) | undefined
              held.interfere = (path, response) => {
                if (!path.includes(`${clientId(1)}/accounts`)) return false
                held.interfere = () => false
                answer = () => response.writeHead(404, { "content-type": "application/json" }).end("{}")
                return true
              }
              const working = yield* Effect.fork(Effect.orDie(jobs.read(job)))
              const asked = Effect.sync(() => answer !== undefined)
              yield* Effect.repeat(Effect.delay(asked, "20 millis"), { until: (is) => is })
              // The worker has the book.
              const alone = Effect.provideService(syncWith(variables), BookJobs, Option.none())
              const sync = yield* Effect.fork(alone)
              yield* Effect.sleep("500 millis")
              ended.push((yield* Fiber.poll(sync))._tag)
              answer?.()
              yield* Fiber.join(working)
              ended.push((yield* Fiber.await(sync))._tag)
            }),
          ),
        ),
      )
      expect(ended).toEqual(["None", "Success"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped.skipIf(!runsWorkers(process.versions.node))("comes after nights, and counts tries once", () =>
    Effect.gen(function* () {
      const { variables } = yield* synced
      yield* syncWith(variables)
      const { settings } = yield* Database
      yield* prepare()
      const { books, events } = yield* workersElsewhere
      const queue = yield* boss(settings, false)
      const open = rows(
        "select (data ->> 'bookId')::integer as book, priority, state from jobs.job order by 1",
      )
      const taking = yield* Effect.fork(
        Effect.provideService(backfillWith(variables), BookJobs, Option.some(books)),
      )
      const [one, two, three, four] = [
        yield* bookIdOf("C1"),
        yield* bookIdOf("C2"),
        yield* bookIdOf("C3"),
        yield* bookIdOf("C4"),
      ]
      const found = yield* Effect.repeat(Effect.delay(open, "50 millis"), {
        until: (all) => all.length === 4,
      })
      expect(found.map(({ priority }) => priority)).toEqual([5, 5, 5, 5])
      expect(priorities.backfill).toBeLessThan(priorities.night)
      yield* events("default", [two])
      const [taken] = yield* calling("Test.fetch", () => queue.fetch<{ bookId: number }>(bookQueue))
      expect(taken?.data.bookId).toBe(two)
      yield* calling("Test.fail", () => queue.fail(bookQueue, taken?.id ?? "", { why: "x" }))
      // It waits for its next try; what is left is handed out again meanwhile, and makes no job of a book that has one.
      yield* rows(`delete from jobs.job where (data ->> 'bookId')::integer = ${three}`)
      const later = yield* Effect.repeat(Effect.delay(open, "100 millis"), {
        until: (all) => all.length === 4,
      })
      expect(later.map(({ book, state }) => [book, state])).toEqual([
        [one, "created"],
        [two, "retry"],
        [three, "created"],
        [four, "created"],
      ])
      yield* Fiber.interrupt(taking)
    }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
  )
})
