import { expect, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { beginRun } from "../../src/Run.ts"
import { connectionRuns } from "../../src/Serve/Overview/Runs.ts"
import { Settings } from "../../src/Settings.ts"
import { forget } from "../../src/Sync/Retention.ts"
import { recordEnd } from "../../src/Sync/Runs/Proving.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { rows } from "./Runs.ts"

const settings = Settings.from({
  variables: {
    TIEOUT_RETENTION_RUNS: "100 days",
    TIEOUT_RETENTION_EVENT_RUNS: "1 day",
    TIEOUT_RETENTION_FINDINGS: "100 days",
    TIEOUT_RETENTION_BOUNDARIES: "100 days",
  },
})

/** A run that ended so many days ago, with its number. */
const ended = (runId: number, command: string, daysAgo: number, state = "done", whole = false) =>
  unruled(`
    insert into sync.runs (run_id, connection, command, state, whole, started_at, ended_at) overriding system value
    values (${runId}, 'default', '${command}', '${state}', ${whole}, now() - interval '${daysAgo} days', now() - interval '${daysAgo} days')`)

const book = unruled(
  "insert into mirror.books (connection, code, name) values ('default', 'ORG', 'Organization')",
)

const runIds = rows("select run_id from sync.runs order by 1").pipe(
  Effect.map((found) => found.map(({ run_id: id }) => id)),
)

layer(TestDatabase.layer, { excludeTestServices: true })("Data that is not part of the books", (it) => {
  it.scoped("is removed in time: runs, except those that something refers to", () =>
    Effect.gen(function* () {
      yield* book
      yield* ended(1, "sync", 500, "done", true)
      yield* ended(2, "sync", 400, "failed")
      yield* ended(3, "sync", 300)
      yield* ended(4, "sync", 250)
      yield* ended(5, "backfill", 240)
      yield* ended(6, "backfill", 230)
      yield* ended(7, "reclassify", 220)
      yield* ended(8, "reclassify", 210)
      yield* ended(9, "events", 3)
      yield* ended(10, "events", 2)
      yield* ended(11, "events", 0)
      yield* ended(12, "sync", 150)
      yield* unruled(`
        insert into sync.stream_reads (book_id, stream, ended_at, run_id) values (1, 'accounts', now(), 3);
        insert into reconcile.progress (book_id, through_run) values (1, 9)`)
      expect((yield* forget()).runs).toBe(3)
      // 1 is the last success; a read and a reconciliation refer to 3 and 9; 12 is the last of its command.
      expect(yield* runIds).toEqual([1, 3, 5, 6, 7, 8, 9, 11, 12])
      expect((yield* forget()).runs).toBe(0)
      const refused = yield* Effect.exit(rows("delete from sync.runs where run_id = 12"))
      expect(Exit.isFailure(refused)).toBe(true)
      expect(yield* runIds).toContain(12)
      // Whatever the settings say, no run of the last month is forgotten.
      yield* ended(13, "sync", 20)
      yield* ended(14, "sync", 10)
      yield* rows("select sync.forget_runs('0', '0', 100)")
      expect(yield* runIds).toEqual([1, 3, 5, 6, 7, 8, 9, 11, 13, 14])
    }).pipe(Effect.provide([settings, TestDatabase.layer])),
  )

  it.scoped("is removed whatever language the server's messages are in", () =>
    Effect.gen(function* () {
      const isUnderWay = (stack: string) =>
        Effect.map(
          rows(
            `select ledger.is_under_way($stack$${stack}$stack$, 'sync[.]forget_boundaries|sync[.]forget_runs')`,
          ),
          (found) => found.some(({ is_under_way: is }) => is === true),
        )
      // As `plpgsql-15.mo` of each language has them: a function, its line and what it does.
      const called = "sync.forget_runs(interval,interval,integer)"
      const trigger = "mirror.refuse_but_forgetting()"
      for (const line of [
        (name: string) => `PL/pgSQL function ${name} line 5 at SQL statement`,
        (name: string) => `PL/pgSQL-Funktion ${name} Zeile 5 bei SQL-Anweisung`,
        (name: string) => `fonction PL/pgSQL ${name}, ligne 5 à instruction SQL`,
        (name: string) => `función PL/pgSQL ${name} en la línea 5 en sentencia SQL`,
        (name: string) => `PL/pgSQL関数${name}の5行目 - SQL文`,
        (name: string) => `PL/pgSQL 함수 "${name}" 의 5번째 SQL 구문`,
        (name: string) => `${name} PL/pgSQL fonksiyonu, 5. satır, SQL komutu içinde`,
        (name: string) => `在SQL语句的第5行的PL/pgSQL函数${name}`,
      ]) {
        const statement = `SQL-Anweisung »delete from sync.runs r where r.run_id = any (old)«`
        const stack = [line(trigger), statement, line(called)].join("\n")
        expect(yield* isUnderWay(stack), stack).toBe(true)
        expect(yield* isUnderWay(line(trigger)), line(trigger)).toBe(false)
      }
      // A function of that name in another schema, and a statement that only names it.
      for (const stack of [
        "PL/pgSQL function other.forget_runs(integer) line 1 at SQL statement",
        "PL/pgSQL function other_sync.forget_runs(integer) line 1 at SQL statement",
        'SQL statement "delete from sync.runs /* sync.forget_runs( */"',
        "SQL-Anweisung »delete from sync.runs /* sync.forget_runs( */«",
        "instruction SQL « delete from sync.runs /* sync.forget_runs( */ »",
      ])
        expect(yield* isUnderWay(stack), stack).toBe(false)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped(
    "is forgotten in time: events, but for those that wait, whether or not anybody listens for more",
    () =>
      Effect.gen(function* () {
        yield* unruled(`
        insert into webhook.inbox (connection, event_id, digest, body, key_id, algorithm, state, received_at)
        select 'default', state || ' ' || age, '', '', 'k', 'a', state, now() - age * interval '1 day'
        from unnest(array['done', 'dead', 'poison', 'waiting']) as s (state), unnest(array[80, 100]) as a (age)`)
        yield* forget()
        const left = yield* rows("select event_id from webhook.inbox order by 1")
        expect(left.map(({ event_id: id }) => id)).toEqual([
          ...["dead 80", "done 80", "poison 80", "waiting 100", "waiting 80"],
        ])
      }).pipe(Effect.provide([settings, TestDatabase.layer])),
  )

  it.scoped("is removed in time: closed findings, except those that were open at a close", () =>
    Effect.gen(function* () {
      yield* book
      yield* unruled(`
        insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_at, seen_at, closed_at)
        select 1, check_name, 'warning', 'account', subject, '', '{}', now() - opened * interval '1 day', now() - opened * interval '1 day',
          now() - closed * interval '1 day'
        from (values ('adjustment', 'old', 300, 299), ('adjustment', 'at the close', 260, 240), ('adjustment', 'new', 300, 50),
          ('adjustment', 'open', 300, null), ('event-conflict', 'conflict', 300, 299)) as t (check_name, subject, opened, closed);
        insert into ledger.closes (book_id, sequence, period, action, hash, entries, who, at, accepted)
        values (1, 1, '2026-01-01', 'close', 'x', 0, 'jo', now() - interval '250 days', '[]')`)
      expect((yield* forget()).findings).toBe(1)
      expect(yield* rows("select reconcile.forget_findings('0', 100) as forgotten")).toEqual([
        { forgotten: 0 },
      ])
      expect(yield* rows("select subject_id from reconcile.findings order by finding_id")).toEqual([
        { subject_id: "at the close" },
        { subject_id: "new" },
        { subject_id: "open" },
        { subject_id: "conflict" },
      ])
    }).pipe(Effect.provide([settings, TestDatabase.layer])),
  )

  it.scoped(
    "is removed in time: closed findings, except those that the close of a client's book accepted",
    () =>
      Effect.gen(function* () {
        yield* book
        yield* unruled(`
        insert into mirror.books (connection, client_id, code, name)
        values ('default', '00000000-0000-4000-8000-000000000001', 'C-1', 'A client');
        insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_at, seen_at, closed_at)
        select 1, 'stream-unread', 'blocking', 'stream', subject, '', '{}', now() - interval '260 days', now() - interval '260 days',
          now() - interval '240 days'
        from (values ('clients'), ('deposits')) as t (subject);
        insert into ledger.closes (book_id, sequence, period, action, hash, entries, who, at, accepted)
        select 2, 1, '2026-01-01', 'close', 'x', 0, 'jo', now() - interval '250 days',
          jsonb_build_array(jsonb_build_object('id', 'F' || f.finding_id, 'what', '', 'reason', 'known'))
        from reconcile.findings f where f.subject_id = 'clients'`)
        expect((yield* forget()).findings).toBe(1)
        expect(yield* rows("select subject_id from reconcile.findings")).toEqual([{ subject_id: "clients" }])
      }).pipe(Effect.provide([settings, TestDatabase.layer])),
  )

  it.scoped("is removed in time: page boundaries, except one a month and the last ten of an account", () =>
    Effect.gen(function* () {
      yield* book
      // Two a month, three hundred days long, in the middle of months.
      yield* unruled(`
        insert into sync.page_boundaries (book_id, account_id, position, cursor, occurred_at)
        select 1, '00000000-0000-4000-8000-000000000001', n,
          'c' || n, date_trunc('month', now(), 'UTC') - interval '12 months' + (n / 2) * interval '1 month' + (n % 2 + 1) * interval '3 days'
        from generate_series(0, 19) n`)
      expect((yield* forget()).boundaries).toBe(5)
      expect(
        yield* rows(
          "select string_agg(position::text, ' ' order by position) as kept from sync.page_boundaries",
        ),
      ).toEqual([{ kept: "0 2 4 6 8 10 11 12 13 14 15 16 17 18 19" }])
    }).pipe(Effect.provide([settings, TestDatabase.layer])),
  )

  it.scoped("does not hide the last success, however many runs follow it", () =>
    Effect.gen(function* () {
      yield* unruled("insert into sync.leases (connection, epoch, run_id) values ('default', 1, 1)")
      yield* ended(1, "sync", 3, "done", true)
      yield* unruled(`
        insert into sync.runs (run_id, connection, command, state, started_at, ended_at) overriding system value
        select n + 1, 'default', case when n % 2 = 0 then 'sync' else 'events' end, case when n % 2 = 0 then 'failed' else 'done' end,
          now(), now() from generate_series(1, 3000) n`)
      const [found] = yield* connectionRuns([])
      expect(Math.round((Date.now() - (found?.lastSuccessAt ?? 0)) / 86_400_000)).toBe(3)
      expect(found?.last?.command).toBe("sync")
      expect(found?.lastDay).toEqual({ failed: 1_000 })
    }).pipe(Effect.provide([settings, TestDatabase.layer])),
  )

  it.scoped("names in a run's summary the accounts with most news, and only so many books", () =>
    Effect.gen(function* () {
      const run = yield* beginRun("default", "sync")
      const newEntries = new Map(Array.from({ length: 15_000 }, (_, index) => [`account ${index}`, index]))
      const failedBooks = Array.from({ length: 1_500 }, (_, index) => `C${index}`)
      yield* recordEnd(run, Exit.void, () => ({ code: 3, newEntries, failedBooks, whole: true }))
      const [kept] = yield* rows(`
        select r.whole, (select count(*)::integer from jsonb_object_keys(r.summary -> 'newEntries')) as accounts,
          r.summary -> 'newEntries' -> 'account 14999' as most, r.summary -> 'newEntries' -> 'account 4999' as less, r.summary -> 'moreAccounts' as others,
          jsonb_array_length(r.summary -> 'failedBooks') as books, r.summary -> 'moreFailedBooks' as more,
          sync.failed_to_read(r.summary, 'C1') as named, sync.failed_to_read(r.summary, 'C1400') as perhaps
        from sync.runs r`)
      expect(kept).toEqual({
        whole: true,
        accounts: 10_000,
        most: 14_999,
        less: null,
        // One of them had none.
        others: 4_999,
        books: 1_000,
        more: 500,
        named: true,
        perhaps: true,
      })
    }).pipe(Effect.provide([settings, TestDatabase.layer])),
  )
})
