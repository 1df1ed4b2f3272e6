/** The books that wait for workers, in the metrics, on the status page and in `tieout status`. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Database } from "../../src/Database.ts"
import { bookQueue, boss, calling, runsWorkers } from "../../src/Jobs/Boss.ts"
import { prepare } from "../../src/Jobs/Prepare.ts"
import { jobQueues } from "../../src/Run/JobQueue.ts"
import { metricsText } from "../../src/Serve/Metrics.ts"
import { jobsSection } from "../../src/Serve/Page/Activity.ts"
import { snapshot } from "../Serve/Snapshots.ts"
import { rows } from "../Sync/Runs.ts"
import { as, roles } from "../support/Roles.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const aDeadLetter = rows(`
  insert into mirror.books (connection, client_id, code, name) values ('other', null, 'ORG2', 'Other');
  insert into sync.dead_letters (book_id, kind, run_id, tries, why)
    select book_id, 'sync', 1, 6, 'x' from mirror.books where connection = 'other'`)

layer(TestDatabase.layer, { excludeTestServices: true })("the depth of the queue", (it) => {
  it.effect("is empty where there never was a worker, except for books that were given up", () =>
    Effect.gen(function* () {
      expect(yield* jobQueues()).toEqual([])
      expect(jobsSection(snapshot()).text).toBe("")
      yield* aDeadLetter
      expect(yield* jobQueues()).toEqual([
        { connection: "other", waiting: 0, active: 0, dead: 1, oldest: null },
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped.skipIf(!runsWorkers(process.versions.node))(
    "is by state and connection, for whoever may read",
    () =>
      Effect.gen(function* () {
        const { settings } = yield* Database
        yield* prepare()
        const { auditor } = yield* roles
        const queue = yield* boss(settings, false)
        const send = (bookId: number) =>
          calling("Test.send", () =>
            queue.send(bookQueue, { connection: "default", bookId }, { singletonKey: `default/${bookId}` }),
          )
        for (const bookId of [1, 2, 3]) yield* send(bookId)
        yield* calling("Test.fetch", () => queue.fetch(bookQueue))
        yield* rows(
          "update jobs.job set created_on = created_on - interval '2 hours' where state = 'created'",
        )
        yield* aDeadLetter
        const jobs = yield* as(auditor)(jobQueues())
        expect(
          jobs.map(({ oldest, ...counts }) => ({ ...counts, hours: Math.floor((oldest ?? 0) / 3_600) })),
        ).toEqual([
          { connection: "default", waiting: 2, active: 1, dead: 0, hours: 2 },
          { connection: "other", waiting: 0, active: 0, dead: 1, hours: 0 },
        ])
        const text = metricsText(snapshot({ jobs }), { connections: ["default"], counted: [], uptime: 1 })
        expect(text).toContain('tieout_jobs{connection="default",state="waiting"} 2\n')
        expect(text).toContain('tieout_jobs{connection="other",state="dead"} 1\n')
        expect(text).toMatch(/tieout_jobs_oldest_seconds\{connection="default"\} 72\d\d/)
        const page = jobsSection(snapshot({ jobs })).text
        expect(page).toContain('data-label="Waiting">2<')
        expect(page).toContain('<span class="bad">1</span>')
        expect(page).toContain("2 h")
      }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer)),
  )
})
