import { createServer } from "node:http"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Logger, LogLevel, TestClock } from "effect"
import { describe } from "vitest"
import { Alerts } from "../../src/Serve/Alerts.ts"
import { watchStaleness } from "../../src/Serve/Staleness.ts"
import { Settings } from "../../src/Settings.ts"
import { rows } from "../Sync/Runs.ts"
import { listenOn } from "../support/Loopback.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

/** Where alerts are posted to; refuses so many requests first. */
const receiver = Effect.suspend(() => receiverAfter(0))

const receiverAfter = (refusals: number) => {
  let left = refusals
  const alerts: Array<{ kind: string; connection: string; text: string }> = []
  const server = createServer((request, response) => {
    let body = ""
    request.setEncoding("utf8").on("data", (text: string) => {
      body += text
    })
    request.on("end", () => {
      left -= 1
      if (left < 0) alerts.push(JSON.parse(body))
      response.writeHead(left < 0 ? 204 : 503).end()
    })
  })
  return Effect.map(listenOn(server), (port) => ({ url: `http://127.0.0.1:${port}/`, alerts }))
}

/** A sync that ended well so many hours ago. */
const syncedAgo = (hours: number) =>
  rows(`
    insert into sync.runs (connection, command, state, exit_code, whole, started_at, ended_at)
    values ('default', 'sync', 'done', 0, true, now() - interval '${hours} hours', now() - interval '${hours} hours')
    returning run_id`)

/** A book of which two lists were read 30 hours ago. */
const staleBook = Effect.zipRight(
  rows(`
    insert into mirror.books (connection, code, name) values ('default', 'ORG', 'Organization') returning 1`),
  rows(`
    insert into sync.stream_reads (book_id, stream, ended_at, run_id)
    select 1, s, now() - case s when 'accounts' then interval '1 hour' else interval '30 hours' end, 1
    from unnest('{accounts,deposits,withdrawals}'::text[]) s returning 1`),
)

describe("staleness", () => {
  it.scopedLive("is alerted once, and again after the books were current in between", () =>
    Effect.gen(function* () {
      const { alerts, url } = yield* receiver
      const settings = Settings.from({
        variables: { TIEOUT_ALERTS_WEBHOOK: url, TIEOUT_ALERTS_STALE_AFTER: "26 hours" },
      })
      const looks = rows("select 1").pipe(Effect.delay("30 millis"), Effect.repeatN(9))
      const until = (count: number) =>
        Effect.repeat(Effect.sleep("20 millis"), { until: () => alerts.length >= count })
      yield* Effect.gen(function* () {
        yield* rows(
          "insert into sync.leases (connection, epoch, run_id) values ('default', 1, 1) returning 1",
        )
        yield* syncedAgo(1)
        yield* watchStaleness("20 millis")
        yield* looks
        expect(alerts).toEqual([])

        yield* unruled("update sync.runs set ended_at = now() - interval '30 hours'")
        yield* until(1)
        yield* looks
        expect(alerts.length).toBe(1)
        expect(alerts[0]).toMatchObject({ kind: "staleness", connection: "default" })
        expect(alerts[0]?.text).toMatch(/^Connection default has not been read for 30 hours\. /)

        yield* syncedAgo(0)
        yield* looks
        yield* unruled("update sync.runs set ended_at = now() - interval '27 hours'")
        yield* until(2)
        yield* looks
        expect(alerts.map(({ kind }) => kind)).toEqual(["staleness", "staleness"])
      }).pipe(Effect.provide(Layer.provideMerge(Alerts.Default, settings)))
    }).pipe(Effect.provide(TestDatabase.layer), Logger.withMinimumLogLevel(LogLevel.None)),
  )

  it.scoped.each(["connection", "book"])(
    "is alerted again where the alert was not delivered: of a %s",
    (what) =>
      Effect.gen(function* () {
        yield* TestClock.setTime(Date.now())
        // More than an alert is tried.
        const { alerts, url } = yield* receiverAfter(6)
        yield* Effect.gen(function* () {
          yield* rows(
            "insert into sync.leases (connection, epoch, run_id) values ('default', 1, 1) returning 1",
          )
          yield* syncedAgo(what === "connection" ? 30 : 1)
          if (what === "book") yield* staleBook
          yield* watchStaleness("1 minute")
          yield* Effect.repeat(
            Effect.zipRight(
              TestClock.adjust("5 seconds"),
              Effect.promise(() => new Promise((resolve) => setTimeout(resolve, 20))),
            ),
            { until: () => alerts.length > 0 },
          )
          expect(alerts).toMatchObject([{ kind: "staleness", connection: "default" }])
        }).pipe(
          Effect.provide(
            Layer.provideMerge(
              Alerts.Default,
              Settings.from({
                variables: { TIEOUT_ALERTS_WEBHOOK: url, TIEOUT_ALERTS_STALE_AFTER: "26 hours" },
              }),
            ),
          ),
        )
      }).pipe(Effect.provide(TestDatabase.layer), Logger.withMinimumLogLevel(LogLevel.None)),
  )

  it.scopedLive("is looked for again after something unforeseen, as while a table is another one", () =>
    Effect.gen(function* () {
      const said: Array<string> = []
      const log = Logger.make(({ message }) => void said.push(String(message)))
      yield* syncedAgo(30)
      yield* rows("alter table sync.runs alter column exit_code type bigint")
      yield* watchStaleness("20 millis").pipe(Effect.provide(Logger.replace(Logger.defaultLogger, log)))
      yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => said.length >= 2 })
      for (const text of said.slice(0, 2))
        expect(text).toContain("It is unknown whether the books are stale: ")
    }).pipe(
      Effect.provide(
        Layer.merge(TestDatabase.layer, Layer.provideMerge(Alerts.Default, Settings.from({ variables: {} }))),
      ),
    ),
  )

  it.scopedLive("is alerted once for a book whose connection is current", () =>
    Effect.gen(function* () {
      const { alerts, url } = yield* receiver
      yield* Effect.gen(function* () {
        yield* rows(
          "insert into sync.leases (connection, epoch, run_id) values ('default', 1, 1) returning 1",
        )
        yield* syncedAgo(1)
        yield* staleBook
        yield* watchStaleness("20 millis")
        yield* Effect.repeat(Effect.sleep("20 millis"), { until: () => alerts.length > 0 })
        yield* rows("select 1").pipe(Effect.delay("30 millis"), Effect.repeatN(9))
        expect(alerts).toMatchObject([
          {
            kind: "staleness",
            connection: "default",
            text: "1 book of connection default has not been read whole for up to 30 hours. See the status page, or the log of the last runs.",
            counts: { books: 1 },
          },
        ])
      }).pipe(
        Effect.provide(
          Layer.provideMerge(Alerts.Default, Settings.from({ variables: { TIEOUT_ALERTS_WEBHOOK: url } })),
        ),
      )
    }).pipe(Effect.provide(TestDatabase.layer), Logger.withMinimumLogLevel(LogLevel.None)),
  )

  it.scopedLive("is checked once at each start, whatever was alerted before", () =>
    Effect.gen(function* () {
      const { alerts, url } = yield* receiver
      yield* Effect.gen(function* () {
        yield* rows(
          "insert into sync.leases (connection, epoch, run_id) values ('default', 1, 1) returning 1",
        )
        yield* syncedAgo(30)
        for (const starts of [1, 2]) {
          yield* Effect.scoped(
            Effect.zipRight(
              watchStaleness("1 hour"),
              Effect.repeat(Effect.sleep("20 millis"), { until: () => alerts.length >= starts }),
            ),
          )
        }
        expect(alerts.map(({ kind }) => kind)).toEqual(["staleness", "staleness"])
      }).pipe(
        Effect.provide(
          Layer.provideMerge(Alerts.Default, Settings.from({ variables: { TIEOUT_ALERTS_WEBHOOK: url } })),
        ),
      )
    }).pipe(Effect.provide(TestDatabase.layer), Logger.withMinimumLogLevel(LogLevel.None)),
  )
})
