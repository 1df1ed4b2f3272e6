/** A month closes on evidence: each stream was read to its end after the month, by the service's clock. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { Database } from "../../src/Database.ts"
import type { SyncOptions } from "../../src/Sync.ts"
import { json } from "../Partner/Service.ts"
import { accountId, partnership } from "../Sync/Partnership.ts"
import { findings, rows, sync, syncWith, variablesFor } from "../Sync/Runs.ts"
import { inOwnDatabase, TestDatabase } from "../support/TestDatabase.ts"
import { closing, movement, reopening } from "./Months.ts"

const runWith = (url: string, options: Partial<SyncOptions>, variables: Record<string, string> = {}) =>
  syncWith({ ...variablesFor(url), ...variables }, options)

/** One deposit in October, read while the service's clock says October. */
const october = Effect.gen(function* () {
  const one = movement(11, "10.00", "10.00", "2026-10-05")
  const { held, service } = yield* partnership({
    balance: "10.00",
    statement: [one.entry],
    deposits: [one.deposit],
  })
  const clock = { now: "2026-10-31T23:59:59Z" }
  held.interfere = (_, response) => {
    response.setHeader("date", new Date(clock.now).toUTCString())
    return false
  }
  return { held, service, clock }
})

const whats = (results: ReadonlyArray<{ readonly blockers: ReadonlyArray<{ readonly what: string }> }>) =>
  results.flatMap(({ blockers }) => blockers.map(({ what }) => what))

/** A read began some milliseconds before its `Date` says. */
const before = (what: string): unknown =>
  expect.stringMatching(
    `^stream-unread: The ${what} was last read to its end on 2026-10-31T23:59:\\d\\dZ, before the month was over \\(2026-11-01T00:00:00Z\\)\\.$`,
  )

const all = [
  before("list of accounts"),
  before("list of deposits"),
  before("list of withdrawals"),
  before(`statement of account ${accountId}`),
]

layer(TestDatabase.layer, { excludeTestServices: true })("a close", (it) => {
  it.scoped("accepts no reading of a statement that did not come to the last booked entry", () =>
    Effect.gen(function* () {
      const { clock, held, service } = yield* october
      yield* sync(service.url)
      clock.now = "2026-11-03T06:00:00Z"
      // The service shows nothing for a time, with the balance that it had; whatever came since is not shown either.
      const whole = held.statement.splice(0)
      yield* sync(service.url)
      yield* sync(service.url, {}, true)
      expect(whats(yield* closing("2026-10"))).toEqual([before(`statement of account ${accountId}`)])
      held.statement.push(...whole)
      yield* sync(service.url)
      expect((yield* closing("2026-10"))[0]?.state).toBe("closed")
    }).pipe(inOwnDatabase),
  )

  it.scoped("accepts no read as evidence that began before the month's end, whatever our clock says", () =>
    Effect.gen(function* () {
      const { clock, service } = yield* october
      yield* sync(service.url)
      expect(whats(yield* closing("2026-10")).sort()).toEqual(all)
      // The missing evidence keeps its number until the stream is read.
      const first = yield* closing("2026-10", { dryRun: true })
      expect((yield* closing("2026-10", { dryRun: true }))[0]?.blockers).toEqual(first[0]?.blockers)
      clock.now = "2026-11-01T00:01:00Z"
      yield* sync(service.url)
      // What was proved stays proved, though the service's clock goes back.
      clock.now = "2026-10-31T23:59:59Z"
      yield* sync(service.url)
      expect(yield* findings).toEqual([])
      expect((yield* closing("2026-10"))[0]?.state).toBe("closed")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "an answer that takes its time over the month's end",
  (it) => {
    it.scoped("began when it was asked for", () =>
      Effect.gen(function* () {
        const { clock, held, service } = yield* october
        clock.now = "2026-11-02T00:00:00Z"
        const dated = held.interfere
        held.interfere = (path, response) => {
          dated(path, response)
          if (!path.startsWith("/deposits?")) return false
          // What it shows is of the moment at which it was asked, what it says of its time is of the moment at which it answers.
          const shown = { items: [...held.deposits], pageInfo: { hasNextPage: false } }
          response.setHeader("date", "Sun, 01 Nov 2026 00:00:01 GMT")
          setTimeout(() => json(response, shown), 1100)
          return true
        }
        yield* sync(service.url)
        expect(whats(yield* closing("2026-10"))).toEqual([before("list of deposits")])
        held.interfere = dated
        yield* sync(service.url)
        expect((yield* closing("2026-10"))[0]?.state).toBe("closed")
        yield* reopening("2026-10")
      }).pipe(inOwnDatabase),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("a service whose clock is ahead", (it) => {
  it.scoped("proves nothing of months that are not over by our clock", () =>
    Effect.gen(function* () {
      const { clock, service } = yield* october
      clock.now = "2199-01-01T00:00:00Z"
      yield* sync(service.url)
      const ahead = rows("select stream from sync.stream_reads where began_at > now() order by 1")
      expect(yield* ahead).toEqual([])
    }).pipe(inOwnDatabase),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a quick sync", (it) => {
  it.scoped("is evidence of what it read, and of nothing else", () =>
    Effect.gen(function* () {
      const { clock, held, service } = yield* october
      yield* sync(service.url)
      clock.now = "2026-11-02T00:00:00Z"
      yield* sync(service.url, {}, false, true)
      expect(whats(yield* closing("2026-10")).sort()).toEqual(all.slice(1))
      const late = movement(12, "5.00", "15.00", "2026-10-31")
      held.statement.push(late.entry)
      held.deposits.push(late.deposit)
      held.balance = "15.00"
      yield* sync(service.url, {}, false, true)
      expect(whats(yield* closing("2026-10")).sort()).toEqual(all.slice(1, 3))
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("one surface alone", (it) => {
  it.scoped("is no evidence of the others", () =>
    Effect.gen(function* () {
      const { clock, held, service } = yield* october
      const dated = held.interfere
      held.interfere = (path, response) => {
        dated(path, response)
        if (!/^\/(receivables|credit-accounts|clients|settings)/.test(path)) return false
        json(response, { items: [], pageInfo: { hasNextPage: false } })
        return true
      }
      const credit = { TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, credit]}}" }
      yield* runWith(service.url, {}, credit)
      clock.now = "2026-11-02T00:00:00Z"
      yield* runWith(service.url, { surface: Option.some("credit") }, credit)
      expect(whats(yield* closing("2026-10")).sort()).toEqual(all)
      yield* runWith(service.url, { surface: Option.some("organization") }, credit)
      expect((yield* closing("2026-10"))[0]?.state).toBe("closed")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("an answer without a date", (it) => {
  it.scoped("proves nothing; a person may accept it", () =>
    Effect.gen(function* () {
      const { held, service } = yield* october
      held.interfere = (path, response) => {
        if (path.startsWith("/deposits?")) response.sendDate = false
        return false
      }
      yield* sync(service.url)
      const [blocked] = yield* closing("2026-10")
      expect(blocked?.blockers).toEqual([
        {
          id: expect.stringMatching(/^F\d+$/),
          check: "stream-unread",
          what: expect.stringMatching(
            /^stream-unread: The list of deposits was read to its end by run \d+, but the service did not say when \(no Date header\)\.$/,
          ),
          hint: expect.stringMatching(/^tieout explain F\d+$/),
        },
      ])
      const accept = [{ id: blocked?.blockers[0]?.id ?? "", reason: "The proxy strips it" }]
      expect((yield* closing("2026-10", { accept }))[0]?.state).toBe("closed")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a list that is refused", (it) => {
  it.scoped("blocks, and the run says so by its findings", () =>
    Effect.gen(function* () {
      const { clock, held, service } = yield* october
      clock.now = "2026-11-02T00:00:00Z"
      const dated = held.interfere
      let refused = true
      held.interfere = (path, response) => {
        dated(path, response)
        if (!/^\/(receivables|credit-accounts|clients|settings)/.test(path)) return false
        if (refused && path.startsWith("/receivables")) json(response, { code: "forbidden" }, 403)
        else json(response, { items: [], pageInfo: { hasNextPage: false } })
        return true
      }
      const credit = { TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, credit]}}" }
      const report = yield* runWith(service.url, {}, credit)
      expect(report.blockingFindings).toBe(1)
      const [blocked] = yield* closing("2026-10", { variables: credit })
      expect(whats(blocked === undefined ? [] : [blocked])).toEqual([
        expect.stringMatching(
          /^stream-unread: The list of receivables answers 403 since .*; it has never been read to its end\.$/,
        ),
      ])
      refused = false
      expect((yield* runWith(service.url, {}, credit)).blockingFindings).toBe(0)
      // The settings leave the list out now.
      yield* runWith(service.url, {}, { ...credit, TIEOUT_INTERFACE_PATHS_RECEIVABLES: "null" })
      expect(whats(yield* closing("2026-10", { variables: credit }))).toEqual([
        expect.stringMatching(/^stream-unread: The list of receivables is left out by the settings/),
      ])
      yield* runWith(service.url, {}, credit)
      expect((yield* closing("2026-10", { variables: credit }))[0]?.state).toBe("closed")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a movement that is not final", (it) => {
  it.scoped("must have been read since the month's end, though no list shows it", () =>
    Effect.gen(function* () {
      const { clock, held, service } = yield* october
      clock.now = "2026-11-02T00:00:00Z"
      const pending = movement(12, "5.00", "15.00", "2026-10-20")
      held.deposits.push({ ...pending.deposit, status: "PENDING" })
      yield* sync(service.url)
      yield* rows("update mirror.resources set read_at = '2026-10-31T00:00:00Z' where not final")
      expect(whats(yield* closing("2026-10"))).toEqual([
        "stream-unread: 1 movement that is not final has not been read since the month was over (2026-11-01T00:00:00Z).",
      ])
      yield* sync(service.url)
      expect((yield* closing("2026-10"))[0]?.state).toBe("closed")
      yield* reopening("2026-10")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a close without a backfill", (it) => {
  it.scoped("says so until one has read all days of the month in this book, after its end", () =>
    Effect.gen(function* () {
      const { clock, service } = yield* october
      clock.now = "2026-11-01T00:01:00Z"
      yield* sync(service.url)
      const database = yield* Database
      const backfilled = (over: Partial<Record<"state" | "started" | "from" | "to" | "failed", string>>) => {
        const days = { from: over.from ?? "2026-10-01", to: over.to ?? "2026-10-31" }
        const summary = { days, ...(over.failed === undefined ? {} : { failedBooks: [over.failed] }) }
        return database.query(
          "Test.backfilled",
          (sql) => sql`
            insert into sync.runs (connection, command, state, started_at, ended_at, summary)
            select r.connection, 'backfill', ${over.state ?? "done"}, ${over.started ?? "2026-11-01T00:00:00Z"}, now(),
              ${JSON.stringify(summary)}::text::jsonb
            from sync.runs r limit 1`,
        )
      }
      const notes = Effect.map(closing("2026-10", { dryRun: true }), ([found]) => found?.notes)
      yield* backfilled({ state: "failed" })
      yield* backfilled({ started: "2026-10-31T23:59:59Z" })
      yield* backfilled({ from: "2026-10-02" })
      yield* backfilled({ to: "2026-10-30" })
      yield* backfilled({ failed: "ORG" })
      expect(yield* notes).toEqual([
        "No backfill has read all of 2026-10 again since it ended: tieout backfill --period 2026-10",
      ])
      yield* backfilled({ failed: "OTHER" })
      expect(yield* notes).toEqual([])
    }),
  )
})
