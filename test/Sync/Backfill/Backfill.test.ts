import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Database } from "../../../src/Database.ts"
import * as Export from "../../../src/Export.ts"
import { Settings } from "../../../src/Settings.ts"
import { Backfill } from "../../../src/Sync/Backfill.ts"
import * as Verify from "../../../src/Verify.ts"
import { json } from "../../Partner/Service.ts"
import { rowsTouched } from "../../support/RowsTouched.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { inOwnDatabase, TestDatabase } from "../../support/TestDatabase.ts"
import { unpaced } from "../../support/Unpaced.ts"
import {
  account,
  accountId,
  credit,
  debit,
  deposit,
  id,
  type Partnership,
  partnership,
} from "../Partnership.ts"
import { findings, journal, postings, rows, sync, variablesFor } from "../Runs.ts"

const october = { from: "2026-10-01", to: "2026-10-31" }

const backfill = (url: string, days = october, variables: Record<string, string> = {}) =>
  Effect.flatMap(Backfill, (service) => service.run({ connection: "default", days })).pipe(
    Effect.provide(
      Backfill.Default.pipe(
        Layer.provideMerge(Settings.from({ variables: { ...variablesFor(url), ...variables } })),
      ),
    ),
    Effect.scoped,
    unpaced,
  )

/** Ten credits of 10 in September and ten in October, two on a page. */
const twoMonths = () => {
  const statement = Array.from({ length: 20 }, (_, index) => ({
    ...credit(index + 100, "10.00", `${(index + 1) * 10}.00`),
    occurredAt: index < 10 ? `2026-09-${index + 10}T10:00:00Z` : `2026-10-${index}T10:00:00Z`,
  }))
  return { statement, balance: "200.00", pageSize: 2 }
}

/** One more credit of 1.00, and the balance with it. */
const move = (held: Partnership, index: number) => {
  const balance = `${200 + held.statement.length - 19}.00`
  held.statement.push({ ...credit(index, "1.00", balance), occurredAt: "2026-10-25T00:00:00Z" })
  held.balance = balance
}

layer(TestDatabase.layer, { excludeTestServices: true })("A backfill", (it) => {
  it.scoped("stops at a statement with too many unreadable rows, and quarantines none of them", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership(twoMonths())
      yield* sync(service.url)
      const readable = held.statement
      held.statement = readable.map((entry, at) => (at < 8 ? entry : { ...entry, amount: "x" }))
      const failed = yield* Effect.flip(backfill(service.url))
      expect(failed.message).toContain("rows could not be understood ($.amount is not a plain decimal number")
      expect(failed.message).toContain("limits.quarantine says when to stop")
      const waiting = rows("select stream from mirror.open_quarantine")
      expect(yield* waiting).toEqual([])
      // Where more are allowed, they wait in quarantine, and known ones are no flood again.
      const generous = { TIEOUT_LIMITS_QUARANTINE_MAX_ROWS: "100" }
      expect((yield* backfill(service.url, october, generous)).accounts).toMatchObject([{ proved: false }])
      const { length } = yield* waiting
      expect(length).toBeGreaterThan(9)
      expect((yield* backfill(service.url)).accounts).toMatchObject([{ unreadable: length }])
      held.statement = readable
      expect((yield* backfill(service.url)).accounts).toMatchObject([{ proved: true }])
    }).pipe(inOwnDatabase),
  )

  it.scoped("proves a period from its opening to its closing balance, starting near it", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership(twoMonths())
      yield* sync(service.url, { TIEOUT_LIMITS_PAGES_PER_TRANSACTION: "1" })
      const before = yield* journal
      const path = `/accounts/${accountId}/statement`
      const asked = service.count(path)
      const report = yield* backfill(service.url)
      expect(report.accounts).toEqual([
        {
          book: "ORG",
          accountId,
          currency: "USD",
          entries: 10,
          opening: "100.00",
          closing: "200.00",
          proved: true,
          breakAt: null,
          missing: [],
          changed: [],
          gone: [],
          older: 0,
          unreadable: 0,
        },
      ])
      // Five pages of October, and none of September's five.
      expect(service.count(path) - asked).toBe(5)
      expect(yield* journal).toEqual(before)
      const september = yield* backfill(service.url, { from: "2026-09-15", to: "2026-09-30" })
      expect(september.accounts[0]).toMatchObject({
        entries: 5,
        opening: "50.00",
        closing: "100.00",
        proved: true,
      })
    }),
  )

  it.scoped("reads a book that was never synced", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership(twoMonths())
      const report = yield* backfill(service.url)
      expect(report.accounts[0]).toMatchObject({
        entries: 10,
        opening: "100.00",
        closing: "200.00",
        proved: true,
      })
      expect(report.counters.journalEntries).toBe(20)
      expect(report.numbered).toBe(20)
      const booked = yield* journal
      yield* sync(service.url)
      expect(yield* journal).toEqual(booked)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("books entries older than all that were known, and reduces the opening balance by them", () =>
    Effect.gen(function* () {
      const whole = [credit(1, "100.00", "100.00"), debit(2, "30.00", "70.00"), credit(3, "5.00", "75.00")]
      const { held, service } = yield* partnership({ statement: whole.slice(2), balance: "75.00" })
      yield* sync(service.url)
      expect(yield* postings).toEqual([
        "opening_balance cash 70, opening_balance -70",
        "adjustment cash 5, suspense -5",
      ])
      held.statement = whole
      const report = yield* backfill(service.url)
      expect(report.accounts[0]).toMatchObject({ older: 2, proved: true, opening: "0.00", closing: "75.00" })
      expect((yield* postings).toSorted()).toEqual(
        [
          "opening_balance cash 70, opening_balance -70",
          "adjustment cash 100, suspense -100",
          "adjustment suspense 30, cash -30",
          "opening_correction opening_balance 70, cash -70",
          "adjustment cash 5, suspense -5",
        ].toSorted(),
      )
      // The correction stands where the opening balance does, before the entry that was the first.
      expect(
        yield* rows(`select kind, position::text from ledger.journal_entries
          where kind like 'opening%' order by entry_id`),
      ).toEqual([
        { kind: "opening_balance", position: "0" },
        { kind: "opening_correction", position: "0" },
      ])
      expect((yield* findings).filter((finding) => String(finding).includes("blocking"))).toEqual([])
      // A second backfill books nothing more.
      const booked = yield* journal
      expect((yield* backfill(service.url)).accounts[0]).toMatchObject({ older: 0, proved: true })
      expect(yield* journal).toEqual(booked)
      // The entries that were found stand before position 1, and their statement is proved like any other.
      const { batches } = yield* Export.run({
        formats: ["journal"],
        scope: { kind: "all" },
        connection: Option.none(),
        book: Option.none(),
        out: temporaryFolder(),
      })
      expect((yield* Verify.run(batches[0]?.folder ?? "")).problems).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped.each([
    ["its identifier", (entry: object) => ({ ...entry, amount: "1e1" })],
    ["nothing of it", (entry: object) => ({ ...entry, entryId: 7 })],
  ] as const)("does not take a booked entry for gone whose row shows %s", ([, spoilt]) =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership(twoMonths())
      yield* sync(service.url)
      const readable = held.statement
      held.statement = readable.map((entry, at) => (at === 14 || at === 19 ? spoilt(entry) : entry))
      const report = yield* backfill(service.url)
      expect(report.accounts[0]).toMatchObject({ proved: false, gone: [], missing: [], unreadable: 2 })
      held.statement = readable
      expect((yield* backfill(service.url)).accounts[0]).toMatchObject({ proved: true })
      yield* sync(service.url)
      expect((yield* findings).filter((finding) => String(finding).includes("blocking"))).toEqual([])
    }).pipe(inOwnDatabase),
  )

  it.scoped("takes no entry for gone that another reading shows, as where an answer is of an hour ago", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership(twoMonths())
      yield* sync(service.url)
      let isOld = true
      held.interfere = (path, response) => {
        const { pathname, searchParams } = new URL(path, "http://x")
        const from = Number(searchParams.get("after") ?? "0")
        // The last page is asked for, and is as it was before its entries came.
        if (!pathname.endsWith("/statement") || from < 16 || !isOld) return false
        isOld = false
        json(response, { items: [], pageInfo: { hasNextPage: false } })
        return true
      }
      expect((yield* backfill(service.url)).accounts[0]).toMatchObject({ gone: [], proved: true })
      expect(isOld).toBe(false)
      expect((yield* findings).filter((finding) => String(finding).includes("contradiction"))).toEqual([])
    }).pipe(inOwnDatabase),
  )

  it.scoped.each([
    ["takes no entry of the last minute for gone that the statement's end does not show", 30, 1, 0, []],
    ["takes an older entry for gone that the statement's end does not show", 90, 1, 0, [id(121)]],
    ["takes an entry of the last minute for gone that later ones stand behind", 30, 2, 1, [id(121)]],
  ] as const)("%s [%s s old]", ([, seconds, late, shown, gone]) =>
    Effect.gen(function* () {
      const { statement } = twoMonths()
      const occurredAt = new Date(Date.now() - seconds * 1_000).toISOString()
      const end = Array.from({ length: late }, (_, at) => ({
        ...credit(121 + at, "1.00", `${201 + at}.00`),
        occurredAt,
      }))
      const whole = { statement: [...statement, ...end], balance: `${200 + late}.00`, pageSize: 100 }
      const { held, service } = yield* partnership(whole)
      yield* sync(service.url)
      // A replica that is behind, or an entry that has been taken out.
      held.statement = [...statement, ...end.slice(late - shown)]
      const days = { from: "2026-10-01", to: occurredAt.slice(0, 10) }
      expect((yield* backfill(service.url, days)).accounts).toMatchObject([{ proved: false, gone }])
      const contradictions = Effect.map(findings, (all) =>
        all.filter((finding) => String(finding).includes("contradiction")),
      )
      expect(yield* contradictions).toHaveLength(gone.length)
      held.statement = whole.statement
      expect((yield* backfill(service.url, days)).accounts).toMatchObject([{ proved: true, gone: [] }])
      expect(yield* contradictions).toEqual([])
      // Gone once more, until a sync shows it.
      held.statement = [...statement, ...end.slice(late - shown)]
      expect((yield* backfill(service.url, days)).accounts).toMatchObject([{ proved: false, gone }])
      expect(yield* contradictions).toHaveLength(gone.length)
      held.statement = whole.statement
      yield* sync(service.url)
      expect(yield* contradictions).toEqual([])
    }).pipe(inOwnDatabase),
  )

  it.scoped("reports entries that were missing, changed and gone, and overwrites nothing", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership(twoMonths())
      yield* sync(service.url)
      const before = yield* postings
      const [third, fourth] = [held.statement[13], held.statement[14]]
      if (third === undefined || fourth === undefined) throw new Error("there are twenty")
      held.statement = [
        ...held.statement.slice(0, 12),
        // Two entries that cancel out, so that the running balance is the same without them.
        { ...credit(501, "7.00", "127.00"), occurredAt: "2026-10-12T00:00:00Z" },
        { ...debit(502, "7.00", "120.00"), occurredAt: "2026-10-12T00:00:01Z" },
        ...held.statement.slice(12, 13),
        { ...third, occurredAt: "2026-10-13T00:00:01Z" },
        { ...fourth, entryId: id(777) },
        ...held.statement.slice(15),
      ]
      const report = yield* backfill(service.url)
      expect(report.accounts[0]).toMatchObject({
        proved: false,
        breakAt: null,
        missing: [id(501), id(502), id(777)],
        changed: [id(113)],
        gone: [id(114)],
      })
      expect(yield* postings).toEqual(before)
      expect(report.blockingFindings).toBeGreaterThan(0)
      expect(
        yield* rows(
          `select message from reconcile.findings where check_name = 'contradiction' and subject_id = '${id(114)}'`,
        ),
      ).toEqual([
        {
          message:
            "The statement entry at position 15 was missing when its statement was read again. The books keep it.",
        },
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped.each([3, 100])(
    "reads from before a boundary that leads past entries, as the number of a page does that has grown since (%i entries a page)",
    (size) =>
      Effect.gen(function* () {
        const whole = twoMonths().statement
        const { held, service } = yield* partnership({ statement: whole })
        let shown = 0
        held.interfere = (path, response) => {
          if (!path.startsWith(`/accounts/${accountId}/statement`)) return false
          const page = Number(new URL(path, "http://x").searchParams.get("after") ?? "1")
          json(response, {
            items: whole.slice((page - 1) * size, Math.min(page * size, shown)),
            pageInfo: { hasNextPage: page * size < shown, endCursor: String(page + 1) },
          })
          return true
        }
        for (const next of [9, 10, 13, 19, 20]) {
          shown = next
          held.balance = `${next * 10}.00`
          yield* sync(service.url, { TIEOUT_LIMITS_PAGES_PER_TRANSACTION: "1" })
        }
        const proved = { entries: 10, opening: "100.00", closing: "200.00", proved: true, gone: [] }
        expect((yield* backfill(service.url)).accounts[0]).toMatchObject(proved)
        // An entry that the service does not show any more is found as ever.
        whole.splice(10, 1)
        shown = 19
        expect((yield* backfill(service.url)).accounts[0]).toMatchObject({
          proved: false,
          gone: [id(110)],
        })
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("proves nothing by a boundary that leads to nothing", () =>
    Effect.gen(function* () {
      let shown: ReadonlyArray<object> = twoMonths().statement
      const { held, service } = yield* partnership({ balance: "200.00" })
      held.interfere = (path, response) => {
        if (!path.startsWith(`/accounts/${accountId}/statement`)) return false
        const from = Number(new URL(path, "http://x").searchParams.get("after") ?? "0")
        const items = shown.slice(from)
        json(response, {
          items,
          pageInfo: { hasNextPage: false, endCursor: String(from + items.length) },
        })
        return true
      }
      yield* sync(service.url)
      const november = { from: "2026-11-01", to: "2026-11-30" }
      const quiet = { entries: 0, opening: "200.00", closing: "200.00", proved: true }
      expect((yield* backfill(service.url, november)).accounts[0]).toMatchObject(quiet)
      // Another history with the same balance, shorter than the cursor says.
      const other = { ...credit(300, "200.00", "200.00"), occurredAt: "2026-11-05T00:00:00Z" }
      shown = [other]
      expect((yield* backfill(service.url, november)).accounts[0]).toMatchObject({ proved: false })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("takes an entry out of suspense that now names its resource, within the proof of the month", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        statement: [credit(1, "98.00", "98.00"), credit(2, "0.00", "98.00")],
        deposits: [deposit(20, "98.00")],
        balance: "98.00",
      })
      yield* sync(service.url)
      held.statement = [credit(1, "98.00", "98.00", id(20)), credit(2, "0.00", "98.00")]
      const report = yield* backfill(service.url)
      expect(report.accounts[0]).toMatchObject({ proved: true, changed: [], entries: 2 })
      expect(yield* postings).toEqual([
        "adjustment cash 98, suspense -98",
        "reclassification suspense 98, deposits_clearing -98",
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("reads the movements of the period again, including final ones", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        statement: [credit(1, "98.00", "98.00", id(20))],
        deposits: [deposit(20, "98.00")],
        balance: "98.00",
      })
      yield* sync(service.url)
      // The service corrects a completed deposit: its amount included a fee.
      held.deposits = [deposit(20, "100.00", { fee: { amount: "2.00", currency: "USD" } })]
      const report = yield* backfill(service.url)
      expect(report.counters.changedResources).toBe(1)
      expect(yield* postings).toEqual([
        "deposit cash 98, deposits_clearing -98",
        "reclassification fees 2, deposits_clearing -2",
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("asks for the period alone where the profile has filters for it", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({ ...twoMonths(), pageSize: 100 })
      yield* sync(service.url)
      yield* backfill(service.url, october, {
        TIEOUT_INTERFACE_FILTERS_FROM: "since",
        TIEOUT_INTERFACE_FILTERS_TO: "until",
        TIEOUT_ACCOUNTING_TIME_ZONE: "UTC",
      })
      const query = service.calls.map(({ path }) => path).find((path) => path.includes("since="))
      expect(new URL(query ?? "", "http://x").searchParams.get("since")).toBe("2026-10-01T00:00:00.000000Z")
      expect(new URL(query ?? "", "http://x").searchParams.get("until")).toBe("2026-11-01T00:00:00.000000Z")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  const filters = { TIEOUT_INTERFACE_FILTERS_FROM: "since", TIEOUT_INTERFACE_FILTERS_TO: "until" }

  /** How services may read the filters; some leave out entries of the period, or include others. */
  const readings: Record<string, (at: string, since: string, until: string) => boolean> = {
    "instants, the last one not": (at, since, until) => at >= since && at < until,
    "instants, the last one too": (at, since, until) => at >= since && at <= until,
    "days, the last one not": (at, since, until) => at >= since.slice(0, 10) && at < until.slice(0, 10),
    "the day's end for its beginning": (at, since, until) => at > `${since.slice(0, 11)}23:59` && at < until,
    nothing: () => true,
  }

  /** A statement with entries before, in and after October, two of which are not in the order of their times. */
  const threeMonths = () => {
    const times = [
      ...["2026-09-28T10:00:00Z", "2026-09-30T23:59:59Z", "2026-10-01T00:00:00Z", "2026-09-30T23:59:58Z"],
      ...["2026-10-15T10:00:00Z", "2026-10-31T23:59:59Z", "2026-11-01T00:00:00Z", "2026-10-31T20:00:00Z"],
      ...["2026-11-01T03:00:00Z", "2026-11-05T10:00:00Z"],
    ]
    const statement = times.map((occurredAt, index) => ({
      ...credit(index + 100, "10.00", `${(index + 1) * 10}.00`),
      occurredAt,
    }))
    return { statement, balance: "100.00" }
  }

  /** The answers of a service that reads the filters in its own way. */
  const filtering =
    (held: Partnership, passes: (typeof readings)[string]): Partnership["interfere"] =>
    (path, response) => {
      const query = new URL(path, "http://x").searchParams
      const [since, until] = [query.get("since"), query.get("until")]
      if (since === null || until === null) return false
      const items = held.statement.filter(({ occurredAt }) => passes(String(occurredAt), since, until))
      json(response, { items, pageInfo: { hasNextPage: false } })
      return true
    }

  for (const [reading, passes] of Object.entries(readings)) {
    it.scoped(`proves a period however the service reads the filters: ${reading}`, () =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership(threeMonths())
        yield* sync(service.url)
        held.interfere = filtering(held, passes)
        const report = yield* backfill(service.url, october, filters)
        expect(report.accounts[0]).toMatchObject({
          entries: 4,
          opening: "30.00",
          closing: "70.00",
          proved: true,
          gone: [],
          missing: [],
          breakAt: null,
        })
        expect(report.blockingFindings).toBe(0)
      }).pipe(Effect.provide(TestDatabase.layer)),
    )
  }

  it.scoped(
    "asks a filtered statement once where it proves the period, and a period without entries is proved",
    () =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership({ ...twoMonths(), pageSize: 100 })
        yield* sync(service.url)
        held.interfere = filtering(held, (at, since, until) => at >= since && at < until)
        const path = `/accounts/${accountId}/statement`
        for (const [days, expected] of [
          [
            { from: "2026-09-01", to: "2026-09-30" },
            { entries: 10, opening: "0.00", closing: "100.00" },
          ],
          [
            { from: "2026-09-20", to: "2026-09-25" },
            { entries: 0, opening: "100.00", closing: "100.00" },
          ],
        ] as const) {
          const asked = service.count(path)
          const report = yield* backfill(service.url, days, filters)
          expect(report.accounts[0]).toMatchObject({ ...expected, proved: true })
          expect(service.count(path) - asked).toBe(1)
        }
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("reads without the filters where the service refuses them", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({ ...twoMonths(), pageSize: 100 })
      yield* sync(service.url)
      held.interfere = (path, response) => {
        if (!path.includes("since=")) return false
        json(response, { code: "invalid_date" }, 422)
        return true
      }
      const report = yield* backfill(service.url, october, filters)
      expect(report.accounts[0]).toMatchObject({ entries: 10, opening: "100.00", proved: true })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  for (const [how, variables] of [
    ["from the beginning", {}],
    ["by filters", filters],
  ] as const) {
    it.scoped(`finds entries that are gone at the edges of a period, read ${how}`, () =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership({ ...twoMonths(), pageSize: 100 })
        yield* sync(service.url)
        const whole = held.statement
        held.interfere = filtering(held, (at, since, until) => at >= since && at < until)
        const gone = (days: typeof october) =>
          Effect.map(backfill(service.url, days, variables), ({ accounts: [account] }) => [
            account?.proved,
            account?.gone,
          ])
        const september = { from: "2026-09-01", to: "2026-09-30" }
        // The service keeps no history before October: October is proved, September is not.
        held.statement = whole.slice(10)
        expect(yield* gone(october)).toEqual([true, []])
        expect(yield* gone(september)).toEqual([false, whole.slice(0, 10).map(({ entryId }) => entryId)])
        held.statement = []
        expect(yield* gone(october)).toEqual([false, whole.slice(10).map(({ entryId }) => entryId)])
      }).pipe(Effect.provide(TestDatabase.layer)),
    )
  }

  it.scoped("does not compare today's balance with a statement that was last read before it", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership(twoMonths())
      yield* sync(service.url)
      move(held, 900)
      // The sync has read all of September, so that nothing needs more pages.
      const september = { from: "2026-09-01", to: "2026-09-30" }
      const report = yield* backfill(service.url, september)
      expect(report.blockingFindings).toBe(0)
      expect(report.accounts[0]).toMatchObject({ proved: true, entries: 10, closing: "100.00" })
      expect(report.newEntries).toEqual(new Map([[accountId, 1]]))
      expect(yield* findings).not.toContain("cash-balance blocking")
      // Where nothing has moved, it asks only for the pages that the window needs: six of ten.
      const asked = service.count(`/accounts/${accountId}/statement`)
      yield* backfill(service.url, september)
      expect(service.count(`/accounts/${accountId}/statement`) - asked).toBe(6)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("looks each of many accounts up by itself", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      let count = 20
      held.interfere = (path, response) => {
        const [route = ""] = path.split("?")
        const items = Array.from({ length: count }, (_, at) => ({
          ...account,
          accountId: id(at + 1_000),
          balance: "0.00",
          status: "ACTIVE",
        }))
        const isList = route === "/accounts"
        if (isList || route.endsWith("/statement"))
          json(response, { items: isList ? items : [], pageInfo: { hasNextPage: false } })
        return isList || route.endsWith("/statement")
      }
      const touched = rowsTouched(backfill(service.url), "Mirror.Accounts.read")
      const few = yield* touched
      count = 80
      expect((yield* touched) / few).toBeLessThan(6)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("reads the tail and the balance again where the account moves meanwhile", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({ ...twoMonths(), pageSize: 100 })
      let moves = 0
      // The account moves after the list of accounts was read, and after the statement was first read.
      held.interfere = (path) => {
        if (path.includes("/statement") && moves < 2) move(held, 900 + moves++)
        return false
      }
      const report = yield* backfill(service.url)
      expect(moves).toBe(2)
      expect(report.blockingFindings).toBe(0)
      expect(report.newEntries).toEqual(new Map([[accountId, 22]]))
      expect(report.numbered).toBe(22)
      expect(yield* findings).not.toContain("cash-balance blocking")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("asks for the balance right before the tail, whatever moves while the tail is booked", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership()
      const more = () => {
        const count = held.statement.length + 1
        held.balance = `${count}.00`
        held.statement.push(credit(count, "1.00", held.balance, id(500 + count)))
      }
      more()
      let listed = false
      held.interfere = (path) => {
        if (path.includes("/statement") && !listed) {
          listed = true
          more()
        }
        // Each movement that is read by its identifier makes the next one appear.
        if (path.includes("/deposits/") && held.statement.length < 50) more()
        return false
      }
      yield* backfill(service.url)
      expect(held.statement.length).toBeGreaterThan(2)
      expect(yield* findings).not.toContain("cash-balance blocking")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("finds a balance that the statement never reaches, as a sync does", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership(twoMonths())
      yield* sync(service.url)
      held.balance = "199.00"
      expect((yield* backfill(service.url)).blockingFindings).toBe(1)
      expect(yield* findings).toContain("cash-balance blocking")
      held.balance = "200.00"
      expect((yield* backfill(service.url)).blockingFindings).toBe(0)
      held.balance = "199.00"
      expect((yield* sync(service.url)).blockingFindings).toBe(1)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("and a sync at the same time wait for each other", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership(twoMonths())
      yield* sync(service.url)
      held.statement.push({ ...credit(900, "1.00", "201.00"), occurredAt: "2026-10-25T00:00:00Z" })
      held.balance = "201.00"
      const [synced, filled] = yield* Effect.all([sync(service.url), backfill(service.url)], {
        concurrency: 2,
      })
      expect(synced.counters.entries + filled.counters.entries).toBe(1)
      expect(filled.accounts[0]?.proved).toBe(true)
      expect(yield* rows("select command, state from sync.runs order by run_id")).toContainEqual({
        command: "backfill",
        state: "done",
      })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("waits while a sync holds the connection, and a second backfill does not", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership(twoMonths())
      yield* sync(service.url)
      const database = yield* Database
      const waiting = yield* Effect.scoped(
        Effect.gen(function* () {
          yield* database.tryLock("sync:default")
          const fiber = yield* Effect.forkDaemon(backfill(service.url))
          // Waits until that one holds its own lock, too.
          yield* Effect.repeat(
            rows(`select 1 from pg_locks where locktype = 'advisory' and granted
              and database = (select oid from pg_database where datname = current_database())`),
            { until: (locks) => locks.length >= 2 },
          )
          const second = yield* Effect.flip(backfill(service.url))
          expect(second.message).toContain("Another backfill of connection default is running")
          return fiber
        }),
      )
      expect((yield* waiting.await)._tag).toBe("Success")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
