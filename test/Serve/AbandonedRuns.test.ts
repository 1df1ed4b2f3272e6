/** A run that was killed has as its end when the next run found it, which says nothing of how long it took. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { lockOf } from "../../src/Book/Moment.ts"
import { Database } from "../../src/Database.ts"
import { lastRuns } from "../../src/Inquiry/LastRuns.ts"
import { vanishedRuns } from "../../src/Run/Vanished.ts"
import { backfillLock, beginRun } from "../../src/Run.ts"
import { metricsText } from "../../src/Serve/Metrics.ts"
import { connectionRuns, recentRuns } from "../../src/Serve/Overview/Runs.ts"
import { statusPage } from "../../src/Serve/StatusPage.ts"
import { verdictOf } from "../../src/Serve/Verdict.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { at, hour, snapshot } from "./Snapshots.ts"

const page = {
  connections: ["default"],
  timeZone: "UTC",
  staleAfter: 26 * hour,
  nextRun: null,
  version: "1",
  downloads: false,
  session: false,
}

layer(TestDatabase.layer, { excludeTestServices: true })("the runs of the status page", (it) => {
  it.scoped("give an abandoned run no duration, and none below zero", () =>
    Effect.gen(function* () {
      yield* unruled(`
        insert into sync.leases (connection, epoch, run_id) values ('default', 1, 1);
        insert into sync.runs (connection, command, state, started_at, ended_at) values
          ('default', 'sync', 'done', timestamptz '2026-10-02 03:30Z', timestamptz '2026-10-02 03:31Z'),
          ('default', 'sync', 'done', timestamptz '2026-11-02 03:30Z', timestamptz '2026-10-02 03:30Z'),
          ('default', 'sync', 'abandoned', timestamptz '2026-10-03 03:30Z', timestamptz '2026-10-06 03:30Z')`)
      const runs = yield* recentRuns([])
      expect(runs.map(({ seconds, state }) => [state, seconds])).toEqual([
        ["abandoned", null],
        ["done", 0],
        ["done", 60],
      ])
      const connections = yield* connectionRuns([])
      expect(connections.map(({ last }) => [last?.state, last?.seconds])).toEqual([["abandoned", null]])
      const found = snapshot({ at, runs, connections })
      const text = statusPage(found, page)
      expect(text).toContain("<span>longest 60.0 s</span>")
      expect(text).toContain("<title>sync default, 2026-10-03 03:30: abandoned</title>")
      expect(text).toContain('<td class="num" data-label="Took"></td>')
      expect(metricsText(found, { connections: ["default"], uptime: 1, counted: [] })).not.toContain(
        "tieout_last_run_duration_seconds{",
      )
    }),
  )

  it.scoped("take no run whose process is gone for one under way", () =>
    Effect.gen(function* () {
      yield* unruled(`
        insert into sync.leases (connection, epoch, run_id) values ('alive', 1, 1), ('gone', 1, 1);
        insert into sync.runs (connection, command, started_at) values
          ('gone', 'sync', now() - interval '3 hours'), ('alive', 'sync', now() - interval '1 hour'),
          ('gone', 'backfill', now() - interval '1 hour'), ('alive', 'backfill', now() - interval '1 hour')`)
      const states = Effect.gen(function* () {
        const vanished = yield* vanishedRuns()
        const recent = yield* recentRuns(vanished)
        const { runs: last } = yield* lastRuns(Option.none(), vanished)
        const connections = yield* connectionRuns(vanished)
        const of = (name: string) => ({
          recent: recent
            .filter(({ connection }) => connection === name)
            .map(({ command, seconds, state }) => `${command} ${state} ${seconds === null ? "?" : "since"}`),
          last: last
            .filter(({ connection }) => connection === name)
            .map(({ command, endedAt, state }) => `${command} ${state} ${endedAt ?? "?"}`),
          lastDay: connections.find(({ connection }) => connection === name)?.lastDay,
        })
        return { alive: of("alive"), gone: of("gone") }
      })
      const database = yield* Database
      const held = yield* states.pipe(
        (read) => database.withSessionLock(lockOf("alive"), read),
        (read) => database.withSessionLock(backfillLock("alive"), read),
      )
      expect(held.alive).toEqual({
        recent: ["backfill running since", "sync running since"],
        last: ["backfill running ?", "sync running ?"],
        lastDay: { running: 2 },
      })
      const lost = {
        recent: ["backfill abandoned ?", "sync abandoned ?"],
        last: ["backfill abandoned ?", "sync abandoned ?"],
        lastDay: { abandoned: 2 },
      }
      expect(held.gone).toEqual(lost)
      expect((yield* states).alive).toEqual(lost)
    }),
  )

  it.scoped("take no run for one under way while a later one has its connection", () =>
    Effect.gen(function* () {
      yield* unruled(`
        insert into sync.runs (connection, command, started_at) values
          ('later', 'sync', now() - interval '5 hours'), ('later', 'backfill', now() - interval '4 hours'),
          ('later', 'reclassify', now() - interval '3 hours')`)
      const database = yield* Database
      const states = Effect.map(Effect.flatMap(vanishedRuns(), recentRuns), (runs) =>
        runs
          .filter(({ connection }) => connection === "later")
          .map(({ command, state }) => `${command} ${state}`),
      )
      const during = Effect.zipRight(beginRun("later", "replay"), states)
      const held = yield* during.pipe(
        (read) => database.withSessionLock(lockOf("later"), read),
        (read) => database.withSessionLock(backfillLock("later"), read),
      )
      expect(held).toEqual(["replay running", "reclassify abandoned", "backfill running", "sync abandoned"])
    }),
  )

  it.scoped("take no success for one that a clock which was ahead has dated in time to come", () =>
    Effect.gen(function* () {
      yield* unruled(`
        insert into sync.leases (connection, epoch, run_id) values ('ahead', 1, 1);
        insert into sync.runs (connection, command, state, whole, started_at, ended_at) values
          ('ahead', 'sync', 'done', true, now() - interval '31 hours', now() - interval '30 hours'),
          ('ahead', 'sync', 'done', true, now() + interval '40 days', now() + interval '40 days')`)
      const connections = yield* connectionRuns([])
      const found = connections.filter((one) => one.connection === "ahead")
      const now = Date.now()
      const { sentence } = verdictOf(snapshot({ at: now, connections: found }), ["ahead"], 26 * hour)
      expect(sentence).toBe(
        "Everything ties out, but the books are not current: they have not been read for 30 hours.",
      )
    }),
  )
})
