/** [S3] The database goes away in the middle of a sync: the run says so, and the next one ends with the same journal. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { Database } from "../../src/Database.ts"
import { Tool } from "../support/Program.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { journal, rows, sync, variablesFor } from "./Runs.ts"

const entries = 600

/** Ends every session of the sync's process. */
const cut = Effect.flatMap(Database, ({ query }) =>
  query(
    "Test.cut",
    (sql) => sql`
      select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and pid <> pg_backend_pid()`,
  ),
)

layer(Layer.merge(TestDatabase.layer, Tool.layer), {
  excludeTestServices: true,
})("a sync whose sessions are ended by the server", (it) => {
  it.scoped(
    "fails with a sentence and 75, or goes on, and in the end has the journal of an undisturbed one [S3]",
    () =>
      Effect.gen(function* () {
        const sandbox = yield* runningSandbox({ entries, seed: 5 })
        const { url } = yield* TestDatabase
        const { start } = yield* Tool
        const syncing = start(["sync"], { ...variablesFor(sandbox.url), DATABASE_URL: url })
        const committed = rows("select count(*)::integer as n from mirror.statement_entries").pipe(
          Effect.map(([row]) => Number(row?.n)),
          Effect.retry({ times: 5 }),
        )
        const codes: Array<number | null> = []
        for (const after of [0, 150, 300]) {
          const before = yield* committed
          const running = yield* Effect.fork(syncing)
          // A run counts as being in the middle once it has committed something of its own.
          yield* committed.pipe(
            Effect.delay("5 millis"),
            Effect.repeat({ until: (count) => count > before && count >= after }),
            Effect.zipRight(cut),
            Effect.raceFirst(Effect.exit(running)),
          )
          const { code, error } = yield* running
          codes.push(code)
          if (code !== 0) {
            expect(error).toMatch(/database.*(?:cannot be reached|was lost)/)
            expect(error).toContain("nothing half-done was kept, run the command again")
            expect(error).not.toContain("Something went wrong inside Tieout")
          }
        }
        expect(codes.every((code) => code === 0 || code === 75)).toBe(true)
        expect(codes).toContain(75)

        const last = yield* syncing
        expect([last.code, last.error]).toEqual([0, expect.not.stringContaining("cannot be reached")])
        const cutShort = yield* journal
        const whole = yield* Effect.zipRight(sync(sandbox.url), journal).pipe(
          Effect.provide(TestDatabase.layer),
        )
        expect(cutShort.length).toBeGreaterThan(entries)
        expect(cutShort).toEqual(whole)
      }),
  )
})
