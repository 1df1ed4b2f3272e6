/**
 * The same data give the same journal, including its numbers, however they were read: accounts and pages in any order, runs
 * that failed or were stopped on the way. `TIEOUT_INTERLEAVINGS` says how many ways are tried.
 */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../Partner/Service.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { type AccountName, accounts, type Exchange, exchange, type Move } from "./Exchange.ts"
import { journal, rows, sync } from "./Runs.ts"

const ways = Number(process.env.TIEOUT_INTERLEAVINGS ?? 8)

/** A small generator of its own, so that a way that fails can be tried again by its number. */
const randomOf = (seed: number) => {
  let state = (seed * 2_654_435_761 + 1) >>> 0
  return (below: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}

const shuffled = <A>(items: ReadonlyArray<A>, random: (below: number) => number): ReadonlyArray<A> =>
  items
    .map((item) => ({ item, at: random(1_000_000) }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)

/**
 * Every shape of a conversion, with legs on one day and in following months, and entries without a conversion. A fee with an entry
 * of its own is not among them: where a page ends before it, a reclassification corrects the entry that was booked without it.
 */
const conversions: Exchange["conversions"] = {
  500: { sell: "usd", sold: "100", buy: "eur", bought: "90" },
  501: { sell: "usd", sold: "200", buy: "eur", bought: "180", fee: "5" },
  502: { sell: "eur", sold: "50", buy: "usdt", bought: "55", fee: "1", buyFee: true },
  503: { sell: "usd", sold: "740", buy: "usdt", bought: "740" },
  504: { sell: "usd", sold: "10", buy: "usd2", bought: "9.50" },
  505: { sell: "usdt", sold: "30", buy: "usd", bought: "29", fee: "2", status: "CANCELED" },
  506: { sell: "usd2", sold: "8", buy: "eur", bought: "7", status: "ACTIVE" },
  507: { sell: "usd", sold: "100", buy: "eur", bought: "91" },
}

const move = (on: AccountName, at: string, amount: string, of?: number): Move => ({
  on,
  at,
  amount,
  ...(of === undefined ? {} : { of }),
})

/** The movements, in the posting order of each account. */
const moves: ReadonlyArray<Move> = [
  move("usd", "2026-09-01", "5000"),
  move("eur", "2026-09-01", "5000"),
  move("usdt", "2026-09-02", "5000"),
  move("usd", "2026-09-05", "-100", 500),
  move("eur", "2026-09-05", "90", 500),
  move("usd", "2026-09-05", "-200", 501),
  move("usdt", "2026-09-05", "55", 502),
  move("eur", "2026-09-05", "-50", 502),
  move("usd", "2026-09-06", "-370", 503),
  move("usd", "2026-09-07", "-370", 503),
  move("usdt", "2026-09-07", "840", 503),
  move("usdt", "2026-09-08", "-100", 503),
  move("usd", "2026-09-09", "-10", 504),
  move("usd2", "2026-09-09", "9.50", 504),
  move("usdt", "2026-09-10", "-30", 505),
  move("usd", "2026-09-10", "29", 505),
  move("eur", "2026-10-01", "180", 501),
  move("usdt", "2026-10-02", "28", 505),
  move("usd", "2026-10-03", "-29", 505),
  move("usd2", "2026-10-03", "-8", 506),
  move("usd", "2026-10-04", "-100", 507),
  move("eur", "2026-10-04", "90", 507),
  move("eur", "2026-10-05", "3", 500),
]

/** Reads them to the end in one way. Answers the journal and the number of runs. */
const journalOf = (seed: number | null) =>
  Effect.gen(function* () {
    const random = randomOf(seed ?? 0)
    const names: ReadonlyArray<AccountName> = ["usd", "eur", "usdt", "usd2"]
    const plain = seed === null
    const { held, service } = yield* exchange({
      listed: plain ? names : shuffled(names, random),
      moves: [...moves],
      conversions,
      pageSize: plain ? 100 : 1 + random(6),
      delay: () => (plain ? 0 : random(4) === 0 ? random(12) : 0),
    })
    const variables = {
      TIEOUT_LIMITS_TRIES: "1",
      TIEOUT_LIMITS_PAGES_PER_TRANSACTION: plain ? "10" : String(1 + random(2)),
      TIEOUT_LIMITS_ACCOUNTS_IN_PARALLEL: plain ? "4" : String(1 + random(4)),
    }
    const run = sync(service.url, variables)
    for (let broken = plain ? 0 : random(4); broken > 0; broken--) {
      // Either a statement fails at one of its pages, or the run is stopped after a while.
      const failing = accounts[names[random(names.length)] ?? "usd"].accountId
      let pages = 1 + random(4)
      const fails = random(2) === 0
      held.interfere = (path, response) => {
        if (!fails || !path.startsWith(`/accounts/${failing}/statement`)) return false
        pages -= 1
        if (pages >= 0) return false
        json(response, { code: "broken" }, 500)
        return true
      }
      yield* Effect.ignore(fails ? run : Effect.timeout(run, `${20 + random(150)} millis`))
      held.interfere = () => false
    }
    yield* run
    const [counted] = yield* rows("select count(*)::integer as runs from sync.runs where state <> 'done'")
    return { lines: yield* journal, unfinished: Number(counted?.runs) }
  }).pipe(Effect.scoped, Effect.provide(TestDatabase.layer))

layer(TestDatabase.layer, { excludeTestServices: true })("interleavings", (it) => {
  it.effect(`of accounts, pages and runs that fail or are stopped: ${ways} ways come to one journal`, () =>
    Effect.gen(function* () {
      const { lines } = yield* journalOf(null)
      expect(lines.filter((line) => String(line).includes("|conversion_whole|")).length).toBeGreaterThan(12)
      expect(lines.some((line) => String(line).includes("|conversion_reversal|"))).toBe(true)
      let unfinished = 0
      for (let seed = 1; seed <= ways; seed++) {
        const way = yield* journalOf(seed)
        unfinished += way.unfinished
        expect({ seed, lines: way.lines }).toEqual({ seed, lines })
      }
      // How many runs are stopped by their duration depends on the machine; how many fail does not.
      expect(unfinished).toBeGreaterThan(0)
    }),
  )
})
