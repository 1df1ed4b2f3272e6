/** Conversions in transit, from the service to the books: whole, late, split, returned, never. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestDatabase } from "../support/TestDatabase.ts"
import { type Exchange, exchange, type Move } from "./Exchange.ts"
import { findings, rows, sync } from "./Runs.ts"

/** A conversion of 100 USD into 90 EUR, unless a test changes it. */
const dollarsForEuros = { sell: "usd", sold: "100", buy: "eur", bought: "90" } as const

/** Date, kind and lines of the entries of whole conversions, in the order of the journal. */
const wholes = rows(`
  select n.number || ' ' || e.effective_date || ' ' || e.kind || coalesce(' of ' || v.number, '')
    || coalesce(' late for ' || e.late_for, '') || ': '
    || string_agg(a.role || ' ' || trim_scale(p.amount)::text || ' ' || p.currency, ', ' order by p.line_number) as line
  from ledger.journal_entries e
  join ledger.postings p using (book_id, entry_id)
  join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
  join ledger.journal_numbers n on n.book_id = e.book_id and n.entry_id = e.entry_id
  left join ledger.journal_numbers v on v.book_id = e.book_id and v.entry_id = e.reverses
  where e.source_type = 'resource_version'
  group by n.period, n.number, v.number, e.effective_date, e.kind, e.late_for order by n.period, n.number`).pipe(
  Effect.map((found) =>
    found.map(({ line }) => String(line).replaceAll("conversions_in_transit", "transit")),
  ),
)

/** The balances of all roles but cash, by role and currency. */
const standing = rows(`
  select s.line from (
  select a.role || ' ' || trim_scale(sum(b.debit - b.credit))::text || ' ' || a.currency as line
  from ledger.balances b join ledger.accounts a using (book_id, account_id)
  where a.role <> 'cash' group by a.role, a.currency having sum(b.debit - b.credit) <> 0) s order by s.line collate "C"`).pipe(
  Effect.map((found) => found.map(({ line }) => line)),
)

/** One run over the moves. */
const books = (
  moves: ReadonlyArray<Move>,
  conversion: Exchange["conversions"][number] = dollarsForEuros,
  over: Partial<Exchange> = {},
) =>
  Effect.gen(function* () {
    const made = yield* exchange({ moves: [...moves], conversions: { 500: conversion }, ...over })
    const run = sync(made.service.url)
    yield* run
    return { ...made, run }
  })

const sold: Move = { on: "usd", at: "2026-09-05", amount: "-100", of: 500 }
const bought: Move = { on: "eur", at: "2026-09-06", amount: "90", of: 500 }
const whole =
  "2026-09-06 conversion_whole: trading 100 USD, transit -100 USD, transit 90 EUR, trading -90 EUR"

layer(TestDatabase.layer, { excludeTestServices: true })("a conversion whose legs come together", (it) => {
  it.scoped("is booked whole, after the cash of the day that completed it", () =>
    Effect.gen(function* () {
      yield* books([sold, bought, { on: "usd", at: "2026-09-06", amount: "7" }])
      expect(yield* wholes).toEqual([`4 ${whole}`])
      expect(yield* standing).toEqual(["suspense -7 USD", "trading -90 EUR", "trading 100 USD"])
      expect(yield* rows("select * from ledger.transit")).toEqual([])
      expect(yield* rows("select * from ledger.touched_conversions")).toEqual([])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a run's count of journal entries", (it) => {
  it.scoped("has those of the conversions that it made whole", () =>
    Effect.gen(function* () {
      const { service } = yield* exchange({ moves: [sold, bought], conversions: { 500: dollarsForEuros } })
      const { counters, numbered } = yield* sync(service.url)
      expect([counters.entries, counters.journalEntries, numbered]).toEqual([2, 3, 3])
      expect(yield* rows("select count(*)::integer as n from ledger.journal_entries")).toEqual([{ n: 3 }])
      const again = yield* sync(service.url)
      expect([again.counters.journalEntries, again.numbered]).toEqual([0, 0])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a leg that comes in a later month", (it) => {
  it.scoped("leaves the other leg in transit until then, whichever leg it is", () =>
    Effect.gen(function* () {
      const { held, run } = yield* books([{ ...sold, on: "eur", amount: "90" }])
      expect(yield* wholes).toEqual([])
      expect(yield* standing).toEqual(["conversions_in_transit -90 EUR"])
      expect(yield* findings).toContain("conversion-in-transit warning")
      held.moves.push({ ...sold, at: "2026-10-07" })
      yield* run
      expect(yield* wholes).toEqual([`2 ${whole.replace("09-06", "10-07")}`])
      expect(yield* standing).toEqual(["trading -90 EUR", "trading 100 USD"])
      expect(yield* findings).toEqual([])
      const entries = rows("select count(*)::integer as n from ledger.journal_entries")
      const before = yield* entries
      yield* run
      expect(yield* entries).toEqual(before)
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a side with several entries", (it) => {
  it.scoped("is complete with the last of them", () =>
    Effect.gen(function* () {
      const split = (at: string): Move => ({ ...bought, at, amount: "45" })
      const { held, run } = yield* books([sold, split("2026-09-05")])
      expect(yield* wholes).toEqual([])
      expect(yield* standing).toEqual(["conversions_in_transit -45 EUR", "conversions_in_transit 100 USD"])
      held.moves.push(split("2026-09-06"))
      yield* run
      expect(yield* wholes).toEqual([`4 ${whole}`])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("an over-credit that is pulled back", (it) => {
  it.scoped("is not part of the whole conversion, which waits for the entry that pulls it back", () =>
    Effect.gen(function* () {
      const { held, run } = yield* books([sold, { ...bought, at: "2026-09-05", amount: "99" }])
      expect(yield* wholes).toEqual([])
      held.moves.push({ ...bought, amount: "-9" })
      yield* run
      expect(yield* wholes).toEqual([`4 ${whole}`])
      expect(yield* standing).toEqual(["trading -90 EUR", "trading 100 USD"])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("an entry after the conversion is whole", (it) => {
  it.scoped("stands in transit again until it goes back", () =>
    Effect.gen(function* () {
      const { held, run } = yield* books([sold, bought, { ...bought, at: "2026-09-07", amount: "9" }])
      expect(yield* wholes).toEqual([`3 ${whole}`])
      expect(yield* standing).toEqual(["conversions_in_transit -9 EUR", "trading -90 EUR", "trading 100 USD"])
      held.moves.push({ ...bought, at: "2026-09-08", amount: "-9" })
      yield* run
      expect(yield* wholes).toEqual([`3 ${whole}`])
      expect(yield* standing).toEqual(["trading -90 EUR", "trading 100 USD"])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a conversion that was cancelled after one leg",
  (it) => {
    it.scoped("leaves nothing in transit where the conversion was never whole and came back", () =>
      Effect.gen(function* () {
        const { held, run } = yield* books([sold], { ...dollarsForEuros, bought: "0.00", status: "CANCELED" })
        expect(yield* standing).toEqual(["conversions_in_transit 100 USD"])
        expect(yield* findings).toContain("conversion-in-transit warning")
        held.moves.push({ ...sold, at: "2026-09-09", amount: "100" })
        yield* run
        expect(yield* wholes).toEqual([])
        expect(yield* standing).toEqual([])
        expect(yield* findings).toEqual([])
      }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a conversion that was cancelled after both legs",
  (it) => {
    it.scoped(
      "reverses the whole conversion where it brings back the last of it, with the fee kept apart",
      () =>
        Effect.gen(function* () {
          const { held, run } = yield* books([sold, bought], {
            ...dollarsForEuros,
            fee: "2",
            status: "ACTIVE",
          })
          const net = whole.replace("100 USD", "98 USD").replace("-100 USD", "-98 USD")
          expect(yield* wholes).toEqual([`3 ${net}`])
          held.conversions[500] = { ...dollarsForEuros, fee: "2", status: "CANCELED" }
          held.moves.push({ ...sold, at: "2026-10-01", amount: "98" })
          yield* run
          expect(yield* wholes).toEqual([`3 ${net}`])
          expect(yield* standing).toEqual([
            "conversions_in_transit -98 USD",
            "fees 2 USD",
            "trading -90 EUR",
            "trading 98 USD",
          ])
          held.moves.push({ ...bought, at: "2026-10-02", amount: "-90" })
          yield* run
          expect(yield* wholes).toEqual([
            `3 ${net}`,
            "3 2026-10-02 conversion_reversal of 3: transit 98 USD, trading -98 USD, trading 90 EUR, transit -90 EUR",
          ])
          expect(yield* standing).toEqual(["fees 2 USD"])
          held.moves.push({ ...sold, at: "2026-10-03", amount: "-98" }, { ...bought, at: "2026-10-03" })
          yield* run
          expect((yield* wholes).map((line) => String(line).split(":")[0])).toEqual([
            "3 2026-09-06 conversion_whole",
            "3 2026-10-02 conversion_reversal of 3",
            "6 2026-10-03 conversion_whole",
          ])
        }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("a fee that turns out to be separate", (it) => {
  it.scoped("corrects the entry of the whole conversion under the next sequence", () =>
    Effect.gen(function* () {
      const { held, run } = yield* books([sold, bought], { ...dollarsForEuros, fee: "2" })
      held.moves.push({ ...sold, at: "2026-09-07", amount: "-2" })
      yield* run
      expect((yield* wholes).slice(1)).toEqual([
        "5 2026-09-06 reclassification: trading 2 USD, transit -2 USD",
      ])
      expect(yield* standing).toEqual(["fees 2 USD", "trading -90 EUR", "trading 100 USD"])
      expect(yield* findings).toEqual([])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a side outside the book", (it) => {
  it.scoped("leaves the other one in transit", () =>
    Effect.gen(function* () {
      yield* books([sold], { ...dollarsForEuros, buy: "usdt" })
      expect(yield* wholes).toEqual([])
      expect(yield* standing).toEqual(["conversions_in_transit 100 USD"])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a leg before the first known entry", (it) => {
  it.scoped("leaves the other one in transit", () =>
    Effect.gen(function* () {
      yield* books([bought, { on: "usd", at: "2026-09-07", amount: "1" }], dollarsForEuros, {
        opening: { usd: "500" },
      })
      expect(yield* wholes).toEqual([])
      expect(yield* standing).toContain("conversions_in_transit -90 EUR")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("totals that never match", (it) => {
  it.scoped("stand in transit, each in its currency, until the service corrects the terms", () =>
    Effect.gen(function* () {
      const { held, run } = yield* books([sold, { ...bought, amount: "89" }], {
        ...dollarsForEuros,
        status: "ACTIVE",
      })
      expect(yield* wholes).toEqual([])
      expect(yield* standing).toEqual(["conversions_in_transit -89 EUR", "conversions_in_transit 100 USD"])
      // No statement entry comes: only the terms change.
      held.conversions[500] = { ...dollarsForEuros, bought: "89" }
      yield* run
      expect(yield* wholes).toEqual([`3 ${whole.replaceAll("90 EUR", "89 EUR")}`])
    }),
  )
})
