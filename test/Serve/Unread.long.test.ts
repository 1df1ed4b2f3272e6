import { expect, it } from "@effect/vitest"
import { Effect, Layer, Logger } from "effect"
import { describe } from "vitest"
import { Alerts } from "../../src/Serve/Alerts.ts"
import { metricsText } from "../../src/Serve/Metrics.ts"
import { Nightly } from "../../src/Serve/Nightly.ts"
import { Overview } from "../../src/Serve/Overview.ts"
import { statusPage } from "../../src/Serve/StatusPage.ts"
import { verdictOf } from "../../src/Serve/Verdict.ts"
import { Settings } from "../../src/Settings.ts"
import { Sync } from "../../src/Sync.ts"
import { accountOf, client, clientId, lending, move } from "../Sync/Lending.ts"
import { rows, variablesFor } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { hasted } from "./Hasted.ts"
import { thisNight } from "./ThisNight.ts"

const day = 86_400_000

/** Nights of a service with an organization and clients: the log, and the status page after each. */
const nights = (url: string, surfaces = "[organization, client]") => {
  const lines: Array<string> = []
  const logger = Logger.make(({ message }) => void lines.push(String(message)))
  const services = Layer.mergeAll(Nightly.Default, Overview.Default).pipe(
    Layer.provide(Layer.merge(Alerts.Default, Sync.Default)),
    Layer.provideMerge(
      Settings.from({
        variables: {
          ...variablesFor(url),
          TIEOUT_CONNECTIONS: `{default: {surfaces: ${surfaces}}}`,
          TIEOUT_LIMITS_TRIES: "1",
          TIEOUT_SCHEDULE_EXPORT: "[journal]",
          TIEOUT_SCHEDULE_OUT: temporaryFolder(),
        },
      }),
    ),
    Layer.provideMerge(Logger.replace(Logger.defaultLogger, logger)),
  )
  const night = Effect.gen(function* () {
    lines.length = 0
    yield* hasted(thisNight((yield* Nightly).run), [])
    return [...lines]
  }).pipe(Effect.provide(services))
  const shown = Effect.gen(function* () {
    const snapshot = yield* Effect.flatten(Effect.flatMap(Overview, ({ read }) => read))
    const page = statusPage(snapshot, {
      connections: ["default"],
      timeZone: "UTC",
      staleAfter: 26 * 3_600_000,
      nextRun: null,
      version: "1",
      downloads: true,
      session: false,
    })
    return {
      verdict: verdictOf(snapshot, ["default"], day),
      page,
      metrics: metricsText(snapshot, { connections: ["default"], uptime: 1, counted: [] }),
    }
  }).pipe(Effect.provide(services))
  return { night, shown }
}

const exported = rows(
  "select b.code from export.batches e join mirror.books b on b.book_id = e.book_id order by 1",
).pipe(Effect.map((found) => found.map(({ code }) => code)))

const refuse =
  (start: string) => (path: string, response: { writeHead: (status: number) => { end: () => void } }) => {
    if (!path.startsWith(start)) return false
    response.writeHead(500).end()
    return true
  }

describe("a client that cannot be read", () => {
  it.scopedLive(
    "is in the log, the alert, the verdict, the page and the metrics, with the time since when",
    () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending({ clients: [client(1), client(2)] })
        const { night, shown } = nights(service.url)
        yield* night
        expect((yield* shown).verdict).toEqual({
          tone: "good",
          sentence: "The books are current. Everything ties out.",
        })

        held.interfere = refuse(`/clients/${clientId(1)}/accounts/${accountOf(clientId(1))}/statement`)
        yield* night
        yield* unruled(`update sync.stream_reads set failing_since = failing_since - interval '7 days',
        ended_at = ended_at - interval '7 days' where trouble is not null`)
        const [since] = yield* rows(`
        select to_char(failing_since at time zone 'UTC', 'YYYY-MM-DD HH24:MI') as text,
          extract(epoch from failing_since)::float8 as seconds from sync.stream_reads where trouble is not null`)
        const said = yield* night
        expect(said).toContain(`Book C1: a statement answers 500, since ${since?.text}.`)
        expect(said).toContain(
          "Alert (failure): The sync of connection default could not read everything (run 3): 1 book has a list or statement that cannot be read, the first for 7 days. What was read stays; the log and the status page say more.",
        )
        const { metrics, page, verdict } = yield* shown
        expect(verdict).toEqual({
          tone: "late",
          sentence:
            "Everything ties out, but the books are not current: book C1 has not been read whole for 7 days.",
        })
        expect(page).toContain(`a statement answers 500</td><td data-label="Since">${since?.text}</td>`)
        expect(page).toContain("what was read ties out")
        expect(metrics).toContain('tieout_books_unread{connection="default"} 1\n')
        expect(metrics).toContain('tieout_streams_unread{connection="default"} 1\n')
        expect(metrics).toContain(
          `tieout_book_unread_since_timestamp_seconds{connection="default",book="C1"} ${String(since?.seconds).slice(0, 14)}`,
        )

        held.interfere = () => false
        expect((yield* night).filter((line) => line.startsWith("Alert"))).toEqual([])
        const healed = yield* shown
        expect(healed.verdict.tone).toBe("good")
        expect(healed.page).not.toContain("Not readable")
        expect(healed.metrics).toContain('tieout_books_unread{connection="default"} 0\n')
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("is named even if it was never readable", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2)] })
      const { night, shown } = nights(service.url)
      held.interfere = refuse(`/clients/${clientId(2)}/accounts`)
      yield* night
      const { page, verdict } = yield* shown
      expect(verdict.sentence).toMatch(
        /^Everything ties out, but .* book C2 has not been read whole for \d+ seconds?\.$/,
      )
      expect(page).toContain("the list of accounts answers 500")
      expect(page).toContain("never whole")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

describe("an organization that cannot be read", () => {
  it.scopedLive("does not stop its clients: they are read, numbered and exported as complete", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1)] })
      const { night, shown } = nights(service.url)
      move(held, "", { type: "CREDIT", amount: 5 })
      move(held, clientId(1), { type: "CREDIT", amount: 1 })
      held.interfere = refuse("/accounts")
      const said = yield* night
      expect(said.some((line) => /^Not read: accounts: .*GET \/accounts/.test(line))).toBe(true)
      expect(said.filter((line) => line.startsWith("Alert (failure)"))).toHaveLength(1)
      expect(yield* exported).toEqual(["C1"])
      expect(yield* rows("select manifest -> 'complete' as complete from export.batches")).toEqual([
        { complete: true },
      ])
      expect((yield* shown).verdict.sentence).toContain("book ORG has not been read whole for")
      held.interfere = () => false
      yield* night
      expect(yield* exported).toEqual(["C1", "ORG"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

describe("a surface that the settings no longer have", () => {
  it.scopedLive("is named by the page as by tieout status, and nothing is called current", () =>
    Effect.gen(function* () {
      const { service } = yield* lending({ clients: [client(1)] })
      yield* nights(service.url).night
      const { night, shown } = nights(service.url, "[organization]")
      yield* night
      const { verdict } = yield* shown
      expect(verdict).toEqual({
        tone: "late",
        sentence:
          "What was read ties out; left out by the settings (surfaces): 1 statement, the list of accounts, the list of clients.",
      })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
