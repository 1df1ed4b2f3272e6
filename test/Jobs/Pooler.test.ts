/** The queue connects like everything else: by the same address, with or without TLS, and through a pooler. */
import { randomBytes } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Database } from "../../src/Database.ts"
import { bossDatabase } from "../../src/Jobs/BossDatabase.ts"
import { readElsewhere } from "../../src/Jobs/Leading.ts"
import { prepare } from "../../src/Jobs/Prepare.ts"
import { work } from "../../src/Jobs/Worker.ts"
import { Settings } from "../../src/Settings.ts"
import { BookSync } from "../../src/Sync/BookSync.ts"
import { BookJobs } from "../../src/Sync/Runs/BookJobs.ts"
import { journal, rows, syncWith, variablesFor } from "../Sync/Runs.ts"
import { settingsFor } from "../support/DatabaseAddress.ts"
import { hasPgbouncer, pgbouncer } from "../support/Pgbouncer.ts"
import { program } from "../support/Program.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unpaced } from "../support/Unpaced.ts"
import { creditedClients, hasWorkers, journalOfOneProcess } from "./Workers.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("the queue's statements", (it) => {
  it.effect("get what the address asks for, and read as pg-boss expects", () =>
    Effect.gen(function* () {
      const { settings } = yield* Database
      const { close, db } = bossDatabase({ ...settings, parameters: { work_mem: "5MB" } })
      const said = yield* Effect.promise(() =>
        db.executeSql(
          `select current_setting('work_mem') as memory, now() as now, 5::bigint as big, '{"a": 1}'::jsonb as json,
            $1::text[] as list, $2::text::json as given`,
          [["x", "y,z"], JSON.stringify({ b: 2 })],
        ),
      )
      expect(said.rows).toEqual([
        {
          memory: "5MB",
          now: expect.any(Date),
          big: "5",
          json: { a: 1 },
          list: ["x", "y,z"],
          given: { b: 2 },
        },
      ])
      const script = yield* Effect.promise(() => db.executeSql("begin; select 1 as one; commit;"))
      expect(script.rows).toEqual([{ one: 1 }])
      // A script that fails leaves no open transaction to the next.
      const scripts = Array.from({ length: 4 }, () =>
        Effect.promise(() =>
          db.executeSql("begin; select 1 / 0; commit;").catch((error: unknown) => String(error)),
        ),
      )
      expect(yield* Effect.all(scripts, { concurrency: "unbounded" })).toEqual(
        scripts.map(() => expect.stringContaining("division by zero")),
      )
      const after = yield* Effect.promise(() => db.executeSql("select 2 as two"))
      expect(after.rows).toEqual([{ two: 2 }])
      yield* Effect.promise(close)
    }),
  )

  it.scoped.skipIf(!hasWorkers || !hasPgbouncer)(
    "go through pgbouncer in mode transaction, without TLS where that is only preferred",
    () =>
      Effect.gen(function* () {
        const { variables } = yield* creditedClients(6)
        const own = yield* journalOfOneProcess(variables)
        const { name } = yield* TestDatabase
        const url = yield* pgbouncer(name, "transaction")
        const services = Layer.provideMerge(BookSync.Default, Settings.from({ variables }))
        for (const mode of ["prefer", "allow"]) {
          yield* Effect.gen(function* () {
            expect((yield* Database).settings.pooled).toBe(true)
            // The owner also makes the queue's tables through the pooler.
            yield* prepare()
            yield* work(2)
            yield* work(2)
            const read = yield* readElsewhere
            const report = yield* Effect.provideService(syncWith(variables), BookJobs, Option.some(read))
            expect(report.clients.read).toBe(6)
          }).pipe(
            Effect.scoped,
            Effect.provide(services),
            unpaced,
            Effect.provide(Database.layer(settingsFor(`${url}?sslmode=${mode}`))),
          )
        }
        expect(yield* journal).toEqual(own)
        expect(yield* rows("select state from sync.runs")).toEqual([{ state: "done" }, { state: "done" }])
      }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
  )

  it.scoped.skipIf(!hasWorkers || !hasPgbouncer)(
    "of whole processes do as well: a sync and a backfill with workers and a shared token",
    () =>
      Effect.gen(function* () {
        const sandbox = yield* runningSandbox({
          ...{ accounts: 2, entries: 20, clients: 5, accountsPerClient: 2, clientEntries: 50 },
        })
        const { start } = yield* program
        const { name } = yield* TestDatabase
        const variables = {
          ...variablesFor(sandbox.url),
          DATABASE_URL: yield* pgbouncer(name, "transaction"),
          TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}",
          TIEOUT_TOKEN_KEY: randomBytes(32).toString("base64"),
        }
        const sync = yield* start(["sync", "--workers", "2"], variables)
        expect([sync.code, sync.error]).toEqual([0, expect.any(String)])
        expect(sync.out).toContain("5 clients read.")
        expect(yield* rows("select count(*)::integer as n from mirror.statement_entries")).toEqual([
          { n: 70 },
        ])
        expect(yield* rows("select count(*)::integer as n from sync.tokens")).toEqual([{ n: 1 }])
        const month = ["backfill", "--period", "2026-10", "--workers", "2"]
        const backfill = yield* start(month, variables)
        expect([backfill.code, backfill.out]).toEqual([0, expect.stringContaining("Every running balance")])
        expect(yield* rows("select command, state from sync.runs order by run_id")).toEqual([
          { command: "sync", state: "done" },
          { command: "backfill", state: "done" },
        ])
      }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
  )
})
