/** Conversions in transit when a month is closed: the blocker, its acceptance, and how a person settles it. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { allBooks } from "../../src/Book.ts"
import { close } from "../../src/Close.ts"
import { Explain } from "../../src/Explain.ts"
import { reclassify } from "../../src/Reclassify.ts"
import { openFindings } from "../../src/Reconcile/Summary.ts"
import { reporting, sheet } from "../Report/Reports.ts"
import { type Exchange, exchange, type Move } from "../Sync/Exchange.ts"
import { id } from "../Sync/Partnership.ts"
import { findings, rows, sync } from "../Sync/Runs.ts"
import { servicesWith } from "../support/BookServices.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const closing = (
  period: string,
  accept: ReadonlyArray<{ id: string; reason: string }> = [],
  variables: Record<string, string> = {},
  dryRun = true,
) =>
  Effect.map(
    close({ period, book: Option.none(), dryRun, accept, who: "controller", reason: null }).pipe(
      Effect.provide(servicesWith(variables)),
    ),
    ([book]) => ({
      state: book?.state,
      blockers: book?.blockers.map(
        ({ id: number, what }) => `${number} ${what.replace(/\d+ days/, "N days")}`,
      ),
    }),
  )

const moving = (what: string) =>
  reclassify({ id: what, to: "7990", name: Option.none(), reason: "Lost", who: "controller" }).pipe(
    Effect.provide(servicesWith({})),
  )

/** A conversion of 100 USD into 90 EUR, of which the statements show `moves`. */
const books = (moves: ReadonlyArray<Move>, over: Partial<Exchange> = {}) =>
  Effect.gen(function* () {
    const made = yield* exchange({
      moves: [...moves],
      conversions: { 500: { sell: "usd", sold: "100", buy: "eur", bought: "90", status: "ACTIVE" } },
      ...over,
    })
    const run = sync(made.service.url)
    yield* run
    return { ...made, run }
  })

const sold: Move = { on: "usd", at: "2026-09-05", amount: "-100", of: 500 }
const bought: Move = { on: "eur", at: "2026-09-06", amount: "90", of: 500 }

const balances = rows(`
  select s.line from (
  select a.role || ' ' || a.code || ' ' || trim_scale(sum(b.debit - b.credit))::text || ' ' || a.currency as line
  from ledger.balances b join ledger.accounts a using (book_id, account_id)
  where a.role <> 'cash' group by a.role, a.code, a.currency having sum(b.debit - b.credit) <> 0) s order by s.line collate "C"`).pipe(
  Effect.map((found) => found.map(({ line }) => line)),
)

layer(TestDatabase.layer, { excludeTestServices: true })("a conversion in transit at a close", (it) => {
  it.scoped("blocks its month and later ones, until it is accepted by its number or completed", () =>
    Effect.gen(function* () {
      const { held, run } = yield* books([sold])
      const message =
        "F1 conversion-in-transit: The conversion has stood in transit since 2026-09-05 (N days, active): 100.00 USD."
      expect(yield* findings).toEqual(["conversion-in-transit warning"])
      // The list of what is to be done has its own day and amount, and its age since then.
      const [open] = yield* openFindings(yield* allBooks(Option.none()), Option.none())
      const [age] = yield* rows("select current_date - '2026-09-05'::date as days")
      expect([open?.date, open?.amount, open?.days]).toEqual(["2026-09-05", "100.00 USD", age?.days])
      // It belongs to no month before its own, and to every later one.
      const listed = (month: string) =>
        Effect.flatMap(allBooks(Option.none()), (all) => openFindings(all, Option.some(month)))
      expect(yield* listed("2026-08")).toEqual([])
      expect(yield* listed("2026-09")).toHaveLength(1)
      expect(yield* listed("2026-10")).toHaveLength(1)
      expect(yield* closing("2026-08")).toEqual({ state: "closable", blockers: [] })
      expect(yield* closing("2026-09")).toEqual({ state: "blocked", blockers: [message] })
      expect((yield* closing("2026-09", [{ id: "f1", reason: "on its way" }])).state).toBe("closable")
      held.moves.push({ ...bought, at: "2026-10-06" })
      yield* run
      expect(yield* closing("2026-09")).toEqual({ state: "closable", blockers: [] })
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("what is young or small", (it) => {
  it.scoped("is a warning and blocks nothing", () =>
    Effect.gen(function* () {
      // Of the month before last, whenever the test runs: the days that a conversion may take are bounded.
      const [at] = yield* rows(`
        select m.first::text as first, to_char(m.first, 'YYYY-MM') as month, to_char(m.first - 1, 'YYYY-MM') as before, m.today - m.first as days
        from (
          select ledger.day_of(now(), 'UTC') as today, (date_trunc('month', ledger.day_of(now(), 'UTC')) - interval '2 months')::date as first
        ) m`)
      yield* books([{ ...sold, at: String(at?.first) }])
      const state = (variables: Record<string, string>) =>
        Effect.map(closing(String(at?.month), [], variables), (found) => found.state)
      // It stands there since the first of its month, which is no day of the month before.
      expect((yield* closing(String(at?.before))).state).toBe("closable")
      expect(yield* state({ TIEOUT_RECONCILE_TRANSIT_DAYS: "366" })).toBe("closable")
      // On the last of the days that it may take, it is not late.
      expect(yield* state({ TIEOUT_RECONCILE_TRANSIT_DAYS: String(at?.days) })).toBe("closable")
      expect(yield* state({ TIEOUT_RECONCILE_TRANSIT_DAYS: String(Number(at?.days) - 1) })).toBe("blocked")
      expect(yield* state({ TIEOUT_RECONCILE_MATERIALITY: '{USD: "100.00"}' })).toBe("closable")
      expect(yield* state({ TIEOUT_RECONCILE_MATERIALITY: '{USD: "99.99", EUR: "200"}' })).toBe("blocked")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a leg that comes for a closed month", (it) => {
  it.scoped(
    "is late, and so is the entry of the whole conversion; both are the first of the open month",
    () =>
      Effect.gen(function* () {
        const { held, run } = yield* books([sold])
        const closed = yield* closing("2026-09", [{ id: "F1", reason: "on its way" }], {}, false)
        expect(closed.state).toBe("closed")
        held.moves.push(bought, { ...sold, at: "2026-10-07", amount: "3" })
        yield* run
        expect(
          yield* rows(`
          select e.kind || ' ' || n.number || ' ' || e.effective_date || coalesce(' late for ' || e.late_for, '') as line
          from ledger.journal_entries e join ledger.journal_numbers n using (book_id, entry_id)
          order by n.period, n.number`),
        ).toEqual([
          { line: "conversion 1 2026-09-05" },
          { line: "conversion 1 2026-10-01 late for 2026-09-01" },
          { line: "conversion_whole 2 2026-10-01 late for 2026-09-01" },
          { line: "conversion_return 3 2026-10-07" },
        ])
      }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a leg in transit", (it) => {
  it.scoped("is settled by hand, and stays on its new account when its other leg comes after all", () =>
    Effect.gen(function* () {
      const { held, run } = yield* books([sold])
      const moved = yield* moving("F1")
      expect([moved.number, moved.amount, moved.from.code, moved.to.code]).toEqual([
        "ORG-2026-09-000002",
        "100.00 USD",
        "1060",
        "7990",
      ])
      expect(yield* balances).toEqual(["other 7990 100 USD"])
      expect(yield* findings).toEqual([])
      // The resource changes and is planned again: nothing moves back into transit.
      held.conversions[500] = { sell: "usd", sold: "100", buy: "eur", bought: "90" }
      held.moves.push(bought)
      yield* run
      // A leg of the side that was moved away is not a gain: it stays in transit until a person moves it, too.
      expect(yield* balances).toEqual(["conversions_in_transit 1060 -90 EUR", "other 7990 100 USD"])
      expect(yield* findings).toEqual(["conversion-in-transit warning"])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a leg that names its conversion only later",
  (it) => {
    it.scoped(
      "is listed under its conversion in the report, and leaves transit when it is moved by hand",
      () =>
        Effect.gen(function* () {
          const { of: _, ...nameless } = sold
          const { held, service } = yield* books([nameless])
          held.moves = [sold]
          yield* sync(service.url, {}, true)
          expect(yield* balances).toEqual(["conversions_in_transit 1060 100 USD"])
          const { folder } = yield* reporting("2026-09", temporaryFolder())
          expect(
            sheet(folder, "conversions.csv").map((row) => [row.sold_currency, row.sold, row.remark]),
          ).toEqual([["USD", "100.00", "the bought leg has not come yet"]])
          yield* moving(id(10_000))
          expect(yield* balances).toEqual(["other 7990 100 USD"])
          expect(yield* rows("select * from ledger.transit")).toEqual([])
        }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a leg that the whole conversion has taken",
  (it) => {
    it.scoped("cannot be moved, and what came after it can", () =>
      Effect.gen(function* () {
        const extra: Move = { ...bought, at: "2026-09-08", amount: "9" }
        yield* books([sold, bought, extra])
        expect(
          yield* rows("select currency, trim_scale(amount)::text as amount from ledger.transit"),
        ).toEqual([{ currency: "EUR", amount: "-9" }])
        expect(
          yield* rows(
            `select currency, first_date::text, last_date::text, status from reconcile.conversions_in_transit`,
          ),
        ).toEqual([{ currency: "EUR", first_date: "2026-09-08", last_date: "2026-09-08", status: "ACTIVE" }])
        const refusal = (what: string) => Effect.map(Effect.flip(moving(what)), ({ message }) => message)
        expect(yield* refusal(id(10_001))).toContain("in suspense, in a clearing account or in transit")
        expect(yield* refusal("F1")).toContain("F1 is about 2 statement entries")
        yield* moving(id(10_002))
        expect(yield* balances).toEqual(["other 7990 -9 EUR", "trading 3020 -90 EUR", "trading 3020 100 USD"])
        expect(yield* rows("select * from reconcile.conversions_in_transit")).toEqual([])
      }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("items in transit", (it) => {
  it.scoped("add up to the balance of their role, which only postings change", () =>
    Effect.gen(function* () {
      yield* books([sold, { ...sold, of: 501, amount: "-7" }, bought, { ...bought, of: 502, amount: "3" }], {
        conversions: {
          500: { sell: "usd", sold: "100", buy: "eur", bought: "91" },
          501: { sell: "usd", sold: "7", buy: "eur", bought: "6" },
          502: { sell: "usd", sold: "4", buy: "eur", bought: "3" },
        },
      })
      const sums = rows(`
        select currency, trim_scale(sum(amount))::text as amount from reconcile.conversions_in_transit group by 1 order by 1`)
      expect(yield* sums).toEqual(
        yield* rows(`
          select a.currency, trim_scale(sum(b.debit - b.credit))::text as amount
          from ledger.balances b join ledger.accounts a using (book_id, account_id)
          where a.role = 'conversions_in_transit' group by 1 order by 1`),
      )
      expect(yield* sums).toEqual([
        { currency: "EUR", amount: "-93" },
        { currency: "USD", amount: "107" },
      ])
      for (const statement of [
        "delete from ledger.transit",
        "update ledger.transit set amount = 1",
        "truncate ledger.transit",
      ]) {
        expect(String(yield* Effect.sandbox(rows(statement)).pipe(Effect.flip))).toContain("refused")
      }
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("explain", (it) => {
  it.scoped("shows the entry of the whole conversion with its legs, and finds it by its own number", () =>
    Effect.gen(function* () {
      yield* books([sold, bought])
      const titles = (what: string) =>
        Effect.flatMap(Explain, (explain) => explain.explain(what)).pipe(
          Effect.provide(Explain.Default),
          Effect.map(({ steps }) =>
            steps.map(({ facts, title }) => `${title.replace(/ [0-9a-f-]{36}/, "")} ${facts[1]?.[1] ?? ""}`),
          ),
        )
      const whole = "journal entry ORG-2026-09-000003 conversion_whole"
      expect(yield* titles(id(500))).toContain(whole)
      expect(yield* titles(id(10_000))).toContain(whole)
      const own = yield* titles("ORG-2026-09-000003")
      expect(own[0]).toBe(whole)
      expect(own.filter((title) => title.startsWith("journal entry"))).toHaveLength(3)
      expect(own.filter((title) => title.startsWith("conversion"))).toHaveLength(1)
    }),
  )
})
