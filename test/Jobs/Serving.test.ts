/** `tieout serve --hand-out` beside two `tieout worker`, each a process of its own: a night, an event, waiting books, and the end. */
import { expect, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { runsWorkers } from "../../src/Jobs/Boss.ts"
import { ask } from "../Serve/Asking.ts"
import { rows, variablesFor } from "../Sync/Runs.ts"
import { freePort } from "../support/Loopback.ts"
import { running } from "../support/Program.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const until = <A, E, R>(look: Effect.Effect<A, E, R>, done: (found: A) => boolean) =>
  Effect.repeat(Effect.delay(look, "100 millis"), { until: done })

const runs = rows("select command, state, exit_code from sync.runs order by run_id")

it.scopedLive.skipIf(!runsWorkers(process.versions.node))(
  "workers do the night and the events of serve --hand-out, it shows what waits, and SIGTERM ends all of them with 0",
  () =>
    Effect.gen(function* () {
      const cwd = temporaryFolder()
      const events = yield* freePort
      const sandbox = yield* runningSandbox({
        ...{ accounts: 2, entries: 20, clients: 5, accountsPerClient: 2, clientEntries: 50 },
        webhook: `http://127.0.0.1:${events}/webhooks/default`,
      })
      const { url } = yield* TestDatabase
      const variables = {
        ...variablesFor(sandbox.url),
        DATABASE_URL: url,
        TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}",
        TIEOUT_LOG: "json",
        TIEOUT_STATUS_OPEN: "true",
        TIEOUT_WEBHOOK_PORT: String(events),
      }
      const serve = yield* running(cwd, ["serve", "--hand-out", "--status-port", "0"], variables)
      const port = Effect.sync(() => Number(/http:\/\/127\.0\.0\.1:(\d+)\//.exec(serve.log())?.[1] ?? 0))
      const status = yield* until(port, (found) => found > 0)
      const shown = (path: string) => Effect.map(ask(status, path), ({ body }) => body)

      // No worker runs yet: all of the night's books wait.
      yield* until(shown("/metrics"), (text) =>
        text.includes('tieout_jobs{connection="default",state="waiting"} 5\n'),
      )
      expect(yield* shown("/")).toContain('data-label="Waiting">5<')
      const workers = yield* Effect.all([1, 2].map(() => running(cwd, ["worker", "--jobs", "2"], variables)))
      yield* until(runs, ([night]) => night?.state === "done")
      expect(yield* runs).toEqual([{ command: "sync", state: "done", exit_code: 0 }])
      expect(serve.log()).toContain("The last nightly sync was missed and runs now.")
      expect(yield* rows("select count(*)::integer as n from mirror.statement_entries")).toEqual([{ n: 70 }])
      yield* until(
        shown("/metrics"),
        (text) => !/tieout_jobs\{connection="default",state="(waiting|active)"\} [1-9]/.test(text),
      )

      sandbox.advance(20, 2)
      yield* until(
        rows("select count(*)::integer as n from webhook.inbox where state <> 'done'"),
        ([left]) => left?.n === 0,
      ).pipe(
        Effect.zipRight(rows("select count(*)::integer as n from webhook.inbox")),
        Effect.repeat({ until: ([all]) => Number(all?.n) > 0 }),
      )
      yield* until(runs, (all) => all.length > 1 && all.every(({ state }) => state !== "running"))
      const booked = yield* rows("select count(*)::integer as n from mirror.statement_entries")
      expect(Number(booked[0]?.n)).toBeGreaterThan(70)
      expect((yield* runs).slice(1).map(({ command }) => command)).toContain("events")
      // A worker read them and logs that; the process that received them does not.
      yield* until(
        Effect.sync(() => workers.map(({ log }) => log()).join("")),
        (log) => /events? of book /.test(log),
      )
      expect(serve.log()).not.toMatch(/events? of book /)

      for (const { child } of [serve, ...workers]) child.kill("SIGTERM")
      expect(yield* Effect.all([serve, ...workers].map(({ ended }) => Effect.promise(() => ended)))).toEqual([
        0, 0, 0,
      ])
      expect((yield* runs).filter(({ state }) => state !== "done")).toEqual([])
      expect(yield* rows("select * from sync.book_jobs")).toEqual([])
      expect(
        yield* rows(
          "select pid from pg_stat_activity where application_name like 'tieout%' and pid <> pg_backend_pid() and datname = current_database() and application_name = 'tieout jobs'",
        ),
      ).toEqual([])
    }).pipe(Effect.provide(Layer.fresh(TestDatabase.layer))),
)
