/**
 * A worker that was overtaken at any point writes nothing more: its next write to any table goes through the fence. The lease is
 * taken from it within its current transaction, so that every later transaction of its own is too late.
 */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { beginRun } from "../../src/Run.ts"
import { client, clientId, lending, move } from "../Sync/Lending.ts"
import { bothSurfaces } from "../Sync/Partnership.ts"
import { findings, journal, rows, syncWith, variablesFor } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { backfillWith, overtaking, syncWithWorkers, withWorkers } from "./Workers.ts"

/**
 * From the next write to a table on, the book of a client belongs to another process. Writes of the same transaction are not too
 * late: its last subtransaction, at its commit, marks which writes were later.
 */
const overtakeAt = (table: string, book: string) =>
  rows(`${overtaking(`insert or update or delete on ${table}`, book)}
    create table sync.overtaken_last (at timestamptz);
    create function sync.note_last() returns trigger language plpgsql as $$ begin
      begin
        insert into sync.overtaken_last values (now());
      exception when division_by_zero then null;
      end;
      return null;
    end $$;
    create constraint trigger last after insert on sync.overtaken deferrable initially deferred
      for each row execute function sync.note_last()`)

const untake = (table: string) =>
  rows(`
    drop trigger overtaking on ${table}; drop table sync.overtaken, sync.overtaken_last;
    drop function sync.overtake(), sync.note_last()`)

/** Tables with rows that were written after the lease was lost. Runs, leases and the pace may be written by anybody. */
const writtenSince = Effect.gen(function* () {
  const [overtaken] = yield* rows("select xmin::text as xid from sync.overtaken_last")
  if (overtaken === undefined) return ["nothing was overtaken"]
  const tables = yield* rows(`
    select table_schema || '.' || table_name as name from information_schema.tables
    where table_schema in ('mirror', 'ledger', 'reconcile', 'sync', 'webhook', 'valuation') and table_type = 'BASE TABLE'
      and table_name not in ('leases', 'runs', 'paces', 'overtaken', 'overtaken_last') order by 1`)
  const found = yield* Effect.forEach(tables, ({ name }) =>
    Effect.map(
      rows(
        `select exists (select from ${String(name)} t where t.xmin::text::bigint > ${String(overtaken.xid)}) as later`,
      ),
      ([row]) => (row?.later === true ? [String(name)] : []),
    ),
  )
  return found.flat()
})

/** In the order in which a job writes to them. */
const stages = [
  "mirror.accounts",
  "sync.stream_reads",
  "mirror.statement_entries",
  "sync.checkpoints",
  "ledger.postings",
  "sync.dead_letters",
  "ledger.journal_numbers",
  "reconcile.progress",
  "reconcile.findings",
]

layer(TestDatabase.layer, { excludeTestServices: true })("a worker that was overtaken", (it) => {
  it.scoped.each(stages)("at %s writes nothing more", (table) =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1)] })
      const variables = { ...variablesFor(service.url), ...bothSurfaces }
      move(held, clientId(1), { type: "CREDIT", amount: 10 })
      yield* syncWith(variables)
      move(held, clientId(1), { type: "CREDIT", amount: 20 })
      move(held, clientId(1), { type: "DEBIT", amount: 3 })
      const seen: Array<unknown> = []
      const report = yield* syncWithWorkers(variables, 1, {
        around: (jobs, job) =>
          Effect.gen(function* () {
            yield* overtakeAt(table, "C1")
            const lost = yield* Effect.match(jobs.read(job), {
              onSuccess: () => "written",
              onFailure: (error) => (error._tag === "LeaseLost" ? error._tag : error.message),
            })
            seen.push(lost, yield* writtenSince)
            yield* untake(table)
            // Another try succeeds.
            yield* Effect.orDie(jobs.read(job))
          }),
      })
      expect(seen).toEqual(["LeaseLost", []])
      expect(report.clients.read).toBe(1)
      const [lines, open] = [yield* journal, yield* findings]
      yield* syncWith(variables, { full: true })
      expect([yield* journal, yield* findings]).toEqual([lines, open])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped.each(["mirror.statement_entries", "ledger.journal_numbers", "reconcile.progress"])(
    "at %s of an event's job leaves the event to whoever has the book",
    (table) =>
      Effect.gen(function* () {
        const { held, service } = yield* lending({ clients: [client(1)] })
        const variables = { ...variablesFor(service.url), ...bothSurfaces }
        yield* syncWith(variables)
        const seen: Array<unknown> = []
        yield* syncWithWorkers(variables, 1, {
          around: (jobs, job) =>
            Effect.gen(function* () {
              move(held, clientId(1), { type: "CREDIT", amount: 10 })
              yield* rows(`
                insert into webhook.inbox (connection, event_id, digest, type, body, key_id, algorithm, state)
                values ('default', 'a', '\\x00', 'account.credited', '{"data": {"clientId": "${clientId(1)}"}}', 'k', 'ES256', 'waiting');
                insert into sync.book_events (connection, event_id, digest, book_id)
                select connection, event_id, digest, ${job.bookId} from webhook.inbox`)
              yield* overtakeAt(table, "C1")
              // The night's part of the job is hidden, so that only the event is processed.
              yield* rows(
                "alter table sync.book_jobs rename to hidden; create table sync.book_jobs (like sync.hidden)",
              )
              yield* Effect.orDie(jobs.read(job))
              yield* rows("drop table sync.book_jobs; alter table sync.hidden rename to book_jobs")
              seen.push(
                yield* writtenSince,
                yield* rows("select state, tries, error from webhook.inbox"),
                yield* rows("select state from sync.runs where command = 'events'"),
              )
              yield* untake(table)
              yield* rows("update webhook.inbox set next_try_at = now()")
              yield* Effect.orDie(jobs.read(job))
            }),
        })
        expect(seen).toEqual([[], [{ state: "waiting", tries: 1, error: null }], [{ state: "running" }]])
        expect(yield* rows("select state from webhook.inbox")).toEqual([{ state: "done" }])
        expect(yield* rows("select state from sync.runs where command = 'events' order by run_id")).toEqual([
          { state: "abandoned" },
          { state: "done" },
        ])
        const lines = yield* journal
        yield* syncWith(variables, { full: true })
        expect(yield* journal).toEqual(lines)
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped.each([
    "mirror.accounts",
    "mirror.statement_entries",
    "ledger.postings",
    "ledger.journal_numbers",
    "reconcile.progress",
  ])("at %s of a backfill's job writes nothing more", (table) =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1)] })
      const variables = { ...variablesFor(service.url), ...bothSurfaces }
      for (const amount of [10, 20, 30]) move(held, clientId(1), { type: "CREDIT", amount })
      const whole = held.statements[clientId(1)] ?? []
      held.statements[clientId(1)] = whole.slice(1)
      yield* syncWith(variables)
      held.statements[clientId(1)] = whole
      const seen: Array<unknown> = []
      const report = yield* withWorkers(variables, 1, (jobs, job) =>
        Effect.gen(function* () {
          yield* overtakeAt(table, "C1")
          const lost = yield* Effect.match(jobs.read(job), {
            onSuccess: () => "written",
            onFailure: (error) => (error._tag === "LeaseLost" ? error._tag : error.message),
          })
          seen.push(lost, yield* writtenSince)
          yield* untake(table)
          yield* Effect.orDie(jobs.read(job))
        }),
      )(backfillWith(variables))
      expect(seen).toEqual(["LeaseLost", []])
      expect(report.accounts.map(({ book, proved }) => [book, proved])).toEqual([
        ["C1", true],
        ["ORG", true],
      ])
      const [lines, open] = [yield* journal, yield* findings]
      expect(lines).toHaveLength(10)
      yield* syncWith(variables, { full: true })
      expect([yield* journal, yield* findings]).toEqual([lines, open])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("cannot record the end of another process's run", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1)] })
      const variables = { ...variablesFor(service.url), ...bothSurfaces }
      move(held, clientId(1), { type: "CREDIT", amount: 10 })
      const report = yield* syncWithWorkers(variables, 1, {
        around: (jobs, job) =>
          Effect.gen(function* () {
            yield* Effect.orDie(jobs.read(job))
            yield* Effect.orDie(beginRun("default", "replay"))
          }),
      }).pipe(Effect.either)
      expect(report).toMatchObject({ left: { _tag: "LeaseLost" } })
      expect(yield* rows("select command, state, exit_code, whole from sync.runs order by run_id")).toEqual([
        { command: "sync", state: "abandoned", exit_code: null, whole: false },
        { command: "replay", state: "running", exit_code: null, whole: false },
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
