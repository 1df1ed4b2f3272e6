/** Clients' books that workers read: the books are the same, whoever reads them and whatever happens to a worker. */
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { Database } from "../../src/Database.ts"
import { beginRun } from "../../src/Run.ts"
import { forAMoment } from "../../src/Sync/Runs/ConnectionLock.ts"
import { client, clientId, type Lending, lending, move } from "../Sync/Lending.ts"
import { at, borrower, loan, tx } from "../Sync/Loaned.ts"
import { bothSurfaces } from "../Sync/Partnership.ts"
import { findings, journal, rows, syncWith, variablesFor } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { syncWithWorkers } from "./Workers.ts"

const someClients = [1, 2, 3, 4, 5].map((index) => client(index))

const moved = (held: Lending): void => {
  for (const one of [1, 2, 3, 4, 5]) {
    move(held, clientId(one), { type: "CREDIT", amount: one * 10 })
    move(held, clientId(one), { type: "DEBIT", amount: one })
  }
}

const syncAlone = (variables: Record<string, string>) => Effect.asVoid(syncWith(variables))

const deadLetters = rows(`
  select severity, message, evidence, closed_at is not null as closed from reconcile.findings
  where check_name = 'dead-letter' order by finding_id`)

const runs = rows("select state, exit_code from sync.runs order by run_id")

layer(TestDatabase.layer, { excludeTestServices: true })("a sync with workers", (it) => {
  it.scoped("gives the same journal and summary as one without workers", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({
        clients: [...someClients, client(6, { status: "DISABLED" })],
      })
      moved(held)
      const variables = { ...variablesFor(service.url), ...bothSurfaces }
      const [alone, own] = yield* Effect.all([syncWith(variables), journal]).pipe(
        Effect.provide(TestDatabase.layer),
      )
      const together = yield* syncWithWorkers(variables, 2)
      expect(yield* journal).toEqual(own)
      const { requests: asked, runId, seconds, ...said } = together
      expect(said).toMatchObject({
        counters: alone.counters,
        newEntries: alone.newEntries,
        numbered: alone.numbered,
        clients: { read: 5, skipped: ["C6 (DISABLED)"] },
        clientFailures: [],
        blockingFindings: alone.blockingFindings,
      })
      expect(asked.statement).toBe(alone.requests.statement)
      expect([runId, seconds > 0]).toEqual([1, true])
      expect(yield* runs).toEqual([{ state: "done", exit_code: 0 }])
      expect(yield* rows("select * from sync.book_jobs")).toEqual([])
      // Each continues where the other stopped.
      move(held, clientId(2), { type: "CREDIT", amount: 7 })
      const again = yield* syncWith(variables)
      expect(again.counters.entries).toBe(1)
    }),
  )

  it.scoped("names a book that no worker could read, and completes the others", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: someClients })
      moved(held)
      const variables = { ...variablesFor(service.url), ...bothSurfaces }
      let tried = 0
      const report = yield* syncWithWorkers(variables, 2, {
        around: (jobs, job) => {
          tried += 1
          return Effect.orDie(
            tried === 2 ? jobs.giveUp(job, { tries: 6, why: "the worker's machine burned" }) : jobs.read(job),
          )
        },
      })
      expect(report.clients.read).toBe(4)
      expect(report.clientFailures).toMatchObject([
        { why: "the worker's machine burned", unread: { kind: "book" } },
      ])
      expect(yield* runs).toEqual([{ state: "done", exit_code: 3 }])
      expect(report).toMatchObject({ blockingFindings: 1, findingsOpened: 9 })
      expect(yield* deadLetters).toEqual([
        {
          severity: "blocking",
          message: "The workers gave up the sync job of the book after 6 tries: the worker's machine burned",
          evidence: {
            kind: "sync",
            run: 1,
            tries: 6,
            reason: "the worker's machine burned",
            givenUpAt: expect.any(String),
          },
          closed: false,
        },
      ])
      // Neither a check of everything nor a quick sync settles it.
      yield* syncWith(variables, { quick: true })
      expect(yield* deadLetters).toMatchObject([{ closed: false }])
      expect((yield* syncWith(variables)).counters.entries).toBe(0)
      expect(yield* deadLetters).toMatchObject([{ closed: true }])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("counts a book that was given up as unread, until its next job settles that", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: someClients })
      moved(held)
      const variables = { ...variablesFor(service.url), ...bothSurfaces }
      let tried = 0
      yield* syncWithWorkers(variables, 1, {
        around: (jobs, job) =>
          Effect.gen(function* () {
            tried += 1
            if (tried === 1) yield* Effect.orDie(jobs.giveUp(job, { tries: 1, why: "it was lost" }))
            // The worker that was thought lost comes back.
            yield* Effect.orDie(jobs.read(job))
          }),
      })
      expect(yield* rows("select count(*)::integer as entries from mirror.statement_entries")).toEqual([
        { entries: 8 },
      ])
      expect(yield* deadLetters).toMatchObject([{ closed: false }])
      yield* syncWithWorkers(variables, 1)
      expect(yield* deadLetters).toMatchObject([{ closed: true }])
      expect(yield* rows("select * from sync.dead_letters")).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("settles what was given up of a client that is no longer read, as one process does", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: someClients })
      moved(held)
      const variables = { ...variablesFor(service.url), ...bothSurfaces }
      yield* syncWithWorkers(variables, 1)
      yield* syncWithWorkers(variables, 1, {
        around: (jobs, job) => Effect.orDie(jobs.giveUp(job, { tries: 1, why: "it was lost" })),
      }).pipe(Effect.exit)
      expect(yield* rows("select count(*)::integer as letters from sync.dead_letters")).toEqual([
        { letters: 5 },
      ])
      held.clients = [client(1, { status: "DISABLED" }), ...someClients.slice(1)]
      yield* Effect.exit(syncWithWorkers(variables, 1))
      expect(yield* rows("select * from sync.dead_letters")).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("reports a client that the service does not serve as one process does", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: someClients })
      moved(held)
      const variables = { ...variablesFor(service.url), ...bothSurfaces }
      yield* syncWithWorkers(variables, 2)
      held.interfere = (path, response) => {
        if (!path.includes(clientId(3))) return false
        response.writeHead(403, { "content-type": "application/json" }).end("{}")
        return true
      }
      held.clients = held.clients.map((one) =>
        one.clientId === clientId(4) ? { ...one, status: "DISABLED" } : one,
      )
      const report = yield* syncWithWorkers(variables, 2)
      expect(report.clientFailures.map(({ book }) => book)).toEqual(["C3"])
      const told = yield* findings
      expect(told.filter((line) => !String(line).startsWith("adjustment"))).not.toEqual([])
      yield* syncWith(variables)
      expect(yield* findings).toEqual(told)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  // Of its own command, the later run takes the earlier one for abandoned at once.
  it.scoped.each(["replay", "sync"] as const)(
    "leaves nothing to a worker whose book was taken from it by a %s, nor to who comes when the run is over",
    (later) =>
      Effect.gen(function* () {
        const { held, service } = yield* lending({ clients: someClients })
        moved(held)
        const variables = { ...variablesFor(service.url), ...bothSurfaces }
        const late: Array<string> = []
        const report = yield* syncWithWorkers(variables, 1, {
          around: (jobs, job) =>
            Effect.gen(function* () {
              if (late.length > 0) return yield* Effect.orDie(jobs.read(job))
              // Somebody else takes the connection while this one reads: it stops, and is tried again.
              held.interfere = (path) => {
                if (!path.includes("/statement")) return false
                held.interfere = () => false
                return false
              }
              const stolen = yield* Effect.orDie(beginRun("default", later))
              const [open] = yield* rows(
                "select count(*)::integer as waiting from sync.book_jobs where result is null",
              )
              late.push(String(open?.waiting), String(stolen.runId))
              yield* Effect.orDie(jobs.read(job))
            }),
        }).pipe(Effect.either)
        // The leading process was overtaken as well: it says so, and leaves nothing half-written.
        expect(report).toMatchObject({ _tag: "Left", left: { _tag: "LeaseLost" } })
        expect(late).toEqual(["5", "2"])
        expect(yield* rows("select * from sync.book_jobs")).toEqual([])
        const whole = yield* syncWith(variables)
        expect(whole.clients.read).toBe(5)
        expect(yield* rows("select count(*)::integer as entries from mirror.statement_entries")).toEqual([
          { entries: 10 },
        ])
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("keeps another sync away, and is kept away by one", () =>
    Effect.gen(function* () {
      const { service } = yield* lending({ clients: someClients })
      const variables = { ...variablesFor(service.url), ...bothSurfaces }
      const refused: Array<string> = []
      yield* syncWithWorkers(variables, 1, {
        around: (jobs, job) =>
          Effect.gen(function* () {
            for (const other of [syncWith(variables), syncWithWorkers(variables, 1)])
              if (refused.length < 2)
                yield* Effect.match(other, {
                  onSuccess: () => refused.push("done"),
                  onFailure: ({ _tag }) => refused.push(_tag),
                })
            yield* Effect.orDie(jobs.read(job))
          }),
      })
      expect(refused).toEqual(["SyncBusy", "SyncBusy"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("waits for a process that has the connection only for a moment", () =>
    Effect.gen(function* () {
      const { service } = yield* lending({ clients: someClients })
      const variables = { ...variablesFor(service.url), ...bothSurfaces }
      const database = yield* Database
      const begun = yield* Deferred.make<void>()
      const enough = yield* Deferred.make<void>()
      const moment = Effect.zipRight(Deferred.succeed(begun, undefined), Deferred.await(enough))
      yield* Effect.fork(forAMoment(database, "default", moment))
      yield* Deferred.await(begun)
      const waiting = yield* Effect.fork(syncWithWorkers(variables, 1))
      yield* Effect.sleep("300 millis")
      expect(yield* rows("select run_id from sync.runs")).toEqual([])
      yield* Deferred.succeed(enough, undefined)
      expect((yield* Fiber.join(waiting)).clients.read).toBe(5)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("checks what a second try read, where the first was lost after it had proved the book", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: someClients })
      moved(held)
      const variables = { ...variablesFor(service.url), ...bothSurfaces }
      let isFirst = true
      const report = yield* syncWithWorkers(variables, 1, {
        around: (jobs, job) =>
          Effect.gen(function* () {
            if (!isFirst) return yield* Effect.orDie(jobs.read(job))
            isFirst = false
            // Its last transaction fails, as after a kill right before it.
            yield* rows(`create function sync.lose() returns trigger language plpgsql as $$ begin raise exception 'lost'; end $$;
              create trigger lost before update on sync.book_jobs for each row execute function sync.lose()`)
            yield* Effect.flip(jobs.read(job)).pipe(Effect.orDie)
            yield* rows("drop trigger lost on sync.book_jobs; drop function sync.lose()")
            for (const one of [1, 2, 3, 4, 5]) move(held, clientId(one), { type: "CREDIT", amount: 77 })
            return yield* Effect.orDie(jobs.read(job))
          }),
      })
      expect(yield* rows("select count(*)::integer as entries from mirror.statement_entries")).toEqual([
        { entries: 15 },
      ])
      expect((yield* findings).filter((line) => line === "adjustment warning")).toHaveLength(15)
      // What the first try read and booked counts as well.
      expect(report.counters).toMatchObject({ entries: 15, journalEntries: 15, reclassifications: 0 })
      expect([...report.newEntries.values()].sort()).toEqual([0, 3, 3, 3, 3, 3])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("updates the loans of a client that is no longer read", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2)] })
      const variables = { ...variablesFor(service.url), ...borrower }
      const first = move(held, clientId(1), { type: "CREDIT", amount: 1000, on: at(2) })
      held.receivables = [loan({ disbursedTransaction: tx(first, 2) })]
      const later = () => {
        held.clients = [client(1, { status: "DISABLED" }), client(2)]
        held.clock = at(21)
        held.receivables = [loan({ disbursedTransaction: tx(first, 2), repaymentAmount: "1040.00" })]
      }
      const before = { clients: held.clients, clock: held.clock, receivables: held.receivables }
      const both = (one: typeof syncAlone) =>
        Effect.gen(function* () {
          Object.assign(held, before)
          yield* one(variables)
          later()
          yield* one(variables)
          return yield* journal
        })
      const own = yield* Effect.provide(both(syncAlone), TestDatabase.layer)
      expect(yield* both((of) => Effect.asVoid(syncWithWorkers(of, 2)))).toEqual(own)
      expect(own.filter((line) => String(line).includes("1040") || String(line).includes("|15"))).not.toEqual(
        [],
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
