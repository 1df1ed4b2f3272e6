import { join } from "node:path"
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { describe } from "vitest"
import { restore } from "../../src/Backup/Restore.ts"
import { backup } from "../../src/Backup.ts"
import { Explain } from "../../src/Explain.ts"
import { reclassify } from "../../src/Reclassify.ts"
import { Settings } from "../../src/Settings.ts"
import { Backfill } from "../../src/Sync/Backfill.ts"
import { closing } from "../Close/Months.ts"
import { found, proof } from "../Proof/Filled.ts"
import { type Exchanged, exchange, type Move } from "../Sync/Exchange.ts"
import { debit, deposit, id } from "../Sync/Partnership.ts"
import { findings, postings, rows, sync, variablesFor } from "../Sync/Runs.ts"
import { services } from "../support/BookServices.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unpaced } from "../support/Unpaced.ts"
import { answers, archiving, closeAll, closedYears, committed, exported, rates } from "./Years.ts"

const explaining = (what: string) =>
  Effect.flatMap(Explain, ({ explain }) => explain(what)).pipe(Effect.provide(Explain.Default))

const titles = (steps: ReadonlyArray<{ readonly title: string }>) => steps.map(({ title }) => title)

const backfill = (url: string, from: string, to: string) =>
  Effect.flatMap(Backfill, (service) => service.run({ connection: "default", days: { from, to } })).pipe(
    Effect.provide(
      Backfill.Default.pipe(Layer.provideMerge(Settings.from({ variables: variablesFor(url) }))),
    ),
    Effect.scoped,
    unpaced,
  )

describe("after a year was archived", () => {
  it.scopedLive("its statements are proved again, and explain says where its entries are", () =>
    Effect.gen(function* () {
      const { service } = yield* closedYears
      const file = join(temporaryFolder(), "tieout-2024.gz")
      const done = yield* archiving(2024, { file })
      const again = yield* backfill(service.url, "2024-01-01", "2024-12-31")
      expect(again.accounts).toMatchObject([
        {
          entries: 7,
          opening: "1000.00",
          closing: "1134.00",
          proved: true,
          older: 0,
          missing: [],
          changed: [],
        },
      ])
      expect(yield* rows("select count(*)::integer as n from mirror.missing_resources")).toEqual([{ n: 0 }])
      const number = yield* explaining("ORG-2024-03-000002")
      expect(titles(number.steps)).toEqual(["archive of 2024"])
      expect(number.steps[0]?.facts).toEqual(
        expect.arrayContaining([
          ["file", "tieout-2024.gz"],
          ["SHA-256 of its content", done.dump?.sha256],
        ]),
      )
      expect(titles((yield* explaining(id(11))).steps)).toEqual([
        `statement entry ${id(11)}`,
        "archive of 2024",
      ])
      expect(titles((yield* explaining(id(111))).steps)).toEqual([
        `statement entry ${id(11)}`,
        "archive of 2024",
      ])
      expect(titles((yield* explaining(id(131))).steps)[0]).toBe(`deposit ${id(131)}`)

      // The dump is the whole earlier database: everything in it is proved and explained.
      yield* Effect.gen(function* () {
        yield* restore(file)
        expect(yield* proof).toMatchObject({ wrong: [], closes: 6 })
        expect(titles((yield* explaining("ORG-2024-03-000002")).steps)[0]).toContain("ORG-2024-03-000002")
      }).pipe(Effect.provide(TestDatabase.blankLayer))

      // A backup of the rest works like any other.
      const after = join(temporaryFolder(), "after.gz")
      yield* backup(after)
      yield* Effect.gen(function* () {
        yield* restore(after)
        expect(yield* proof).toMatchObject({ wrong: [], closes: 6 })
        const next = yield* sync(service.url)
        expect([next.counters.entries, next.counters.journalEntries]).toEqual([0, 0])
        expect(yield* found).toEqual([])
      }).pipe(Effect.provide(TestDatabase.blankLayer))
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("the return of an archived movement stands in suspense until a person moves it", () =>
    Effect.gen(function* () {
      const { held, service } = yield* closedYears
      yield* archiving(2024)
      const back = {
        ...debit(71, "100.00", "1026.00"),
        relatedResourceType: "DEPOSIT",
        relatedResourceId: id(111),
      }
      held.statement.push({ ...back, occurredAt: "2026-10-20T12:00:00Z" })
      held.balance = "1026.00"
      yield* sync(service.url)
      expect((yield* postings).at(-1)).toBe("unidentified suspense 100, cash -100")
      const finding = yield* rows(
        "select 'F' || finding_id as number, message from reconcile.open_findings where check_name = 'missing-resource'",
      )
      expect(String(finding[0]?.message)).toContain("it is archived with 2024, in tieout-2024.gz")
      // Reading the whole list again brings nothing else.
      yield* sync(service.url, {}, true)
      expect((yield* postings).at(-1)).toBe("unidentified suspense 100, cash -100")
      expect(yield* proof).toMatchObject({ wrong: [] })
      yield* reclassify({
        id: String(finding[0]?.number),
        to: "1020",
        name: Option.none(),
        reason: "Sent back",
        who: "controller",
      }).pipe(Effect.provide(services))
      yield* sync(service.url)
      expect(yield* findings).not.toContain("missing-resource blocking")
      expect(yield* proof).toMatchObject({ wrong: [] })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("an archived movement with another content is a finding, and nothing of it is booked", () =>
    Effect.gen(function* () {
      const { held, service } = yield* closedYears
      yield* archiving(2024)
      const booked = yield* postings
      held.deposits[0] = deposit(111, "101.00", { createdAt: "2024-03-10T11:00:00Z" })
      yield* sync(service.url, {}, true)
      expect(yield* postings).toEqual(booked)
      expect(yield* findings).toContain("contradiction blocking")
      expect(titles((yield* explaining(id(111))).steps)).toContain("archive of 2024")
      expect(yield* proof).toMatchObject({ wrong: [] })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("months continue to close, and the next year is archived with the rest of the first", () =>
    Effect.gen(function* () {
      const { held, service } = yield* closedYears
      yield* archiving(2024)
      // The deposit of 2024 becomes final only now; the movement that was returned in 2025 is over with that year.
      held.deposits[2] = deposit(132, "20.00", { createdAt: "2024-12-28T11:00:00Z" })
      yield* sync(service.url)
      yield* closeAll(["2026-10"])
      expect(yield* proof).toMatchObject({ wrong: [] })
      const second = yield* archiving(2025)
      expect(second.books).toMatchObject([{ state: "archived" }])
      expect(
        yield* rows(`select to_char(j.period, 'YYYY-MM') || ' ' || j.kind as left_over from ledger.journal_entries j
          where j.period < '2026-01-01' order by 1`),
      ).toEqual([
        { left_over: "2024-03 opening_balance" },
        { left_over: "2024-06 adjustment" },
        // The conversion is under way at the close of February 2026, whose report lists it.
        { left_over: "2024-12 deposit" },
      ])
      expect(yield* proof).toMatchObject({ wrong: [] })
      const full = yield* sync(service.url, {}, true)
      expect([full.counters.entries, full.counters.journalEntries]).toEqual([0, 0])
      expect(yield* proof).toMatchObject({ wrong: [] })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("the base-currency journal continues from the state that its archived months left", () =>
    Effect.gen(function* () {
      const { service } = yield* closedYears
      yield* rates
      yield* committed({ kind: "range", from: "2024-01-01", to: "2026-02-28" }, true)
      const before = yield* exported("2025-01-01", "2026-02-28", true)
      expect(yield* proof).toMatchObject({ wrong: [] })
      const done = yield* archiving(2024, { neverValued: false })
      expect(done.books[0]?.rows["valuation.entries"]).toBeGreaterThan(0n)
      expect(yield* exported("2025-01-01", "2026-02-28", true)).toEqual(before)
      expect(yield* proof).toMatchObject({ wrong: [] })
      // What left is part of each month's turnover, in its own currencies and in the base currency.
      const seen = yield* findings
      yield* sync(service.url, {}, true)
      expect(yield* findings).toEqual(seen)
      yield* committed({ kind: "range", from: "2026-10-01", to: "2026-10-31" }, true)
      expect(yield* proof).toMatchObject({ wrong: [] })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("a book that was never valued can no longer be valued, and says why", () =>
    Effect.gen(function* () {
      yield* closedYears
      yield* rates
      yield* archiving(2024)
      const { message } = yield* Effect.flip(exported("2025-01-01", "2025-01-31", true))
      expect(message).toContain("2024-03 of book ORG is archived, and was not valued in EUR before")
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

const bought = (sold: string, to: string): Exchanged => ({ sell: "usd", sold, buy: "eur", bought: to })

describe("conversions", () => {
  it.scopedLive("leave when both sides were booked in the year, and stay while one is in transit", () =>
    Effect.gen(function* () {
      const moves: Array<Move> = [
        { on: "usd", at: "2024-05-02", amount: "-100.00", of: 301 },
        { on: "eur", at: "2024-05-03", amount: "90.00", of: 301 },
        { on: "usd", at: "2024-12-30", amount: "-200.00", of: 302 },
        { on: "eur", at: "2025-01-02", amount: "180.00", of: 302 },
        { on: "usd", at: "2024-11-05", amount: "-50.00", of: 303 },
        { on: "usd", at: "2025-02-05", amount: "-10.00", of: 304 },
        { on: "eur", at: "2025-02-05", amount: "9.00", of: 304 },
      ]
      const { service } = yield* exchange({
        listed: ["usd", "eur"],
        opening: { usd: "1000.00" },
        moves,
        conversions: {
          301: bought("100.00", "90.00"),
          302: bought("200.00", "180.00"),
          303: bought("50.00", "45.00"),
          304: bought("10.00", "9.00"),
        },
      })
      yield* sync(service.url)
      for (const month of ["2024-05", "2024-11", "2024-12", "2025-01", "2025-02"]) {
        const blocked = yield* rows("select 'F' || finding_id as id from reconcile.open_findings order by 1")
        const accept = blocked.map(({ id: one }) => ({ id: String(one), reason: "known" }))
        const [closed] = yield* closing(month, { accept })
        if (closed?.state !== "closed") expect(yield* closing(month)).toMatchObject([{ state: "closed" }])
      }
      const before = { all: yield* answers, items: yield* rows("select * from ledger.transit order by 2") }
      const done = yield* archiving(2024)
      expect(done.books[0]?.rows).toMatchObject({ "mirror.resources": 1n, "ledger.journal_entries": 3n })
      expect({ all: yield* answers, items: yield* rows("select * from ledger.transit order by 2") }).toEqual(
        before,
      )
      expect(yield* proof).toMatchObject({ wrong: [] })
      const full = yield* sync(service.url, {}, true)
      expect([full.counters.entries, full.counters.journalEntries]).toEqual([0, 0])
      expect(yield* proof).toMatchObject({ wrong: [] })
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
