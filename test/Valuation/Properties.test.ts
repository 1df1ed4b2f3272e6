/** Properties that must hold for every book, whatever its movements. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { BaseEntry, NativeAccount, NativeEntry } from "../../src/Valuation/Base.ts"
import { emptyHolding } from "../../src/Valuation/Cost/Holding.ts"
import { remaining } from "../../src/Valuation/Cost/Lots.ts"
import { exactly, plus, reduced } from "../../src/Valuation/Rates/Rate.ts"
import {
  balanceOf,
  depositsUsd,
  entry,
  eur,
  feesUsd,
  leg,
  transitOf,
  transitUsd,
  transitUsdt,
  usd,
  usdt,
  valued,
  whole,
  withdrawalsUsd,
} from "./Valued.ts"

interface Movement {
  readonly what: "in" | "out" | "back" | "toEur" | "fromEur" | "toUsdt" | "fromUsdt"
  readonly day: number
  readonly minor: bigint
  readonly price: bigint
  /** Days until the other leg comes; negative where the bought one is the first. */
  readonly apart: number
  /** Entries of the bought side. */
  readonly parts: bigint
  /** The fate of a conversion: both legs stay, one comes and goes back, or both go back. */
  readonly end: "stays" | "half" | "cancelled"
}

const movement: fc.Arbitrary<Movement> = fc.record({
  what: fc.constantFrom("in", "in", "in", "out", "back", "toEur", "fromEur", "toUsdt", "fromUsdt"),
  day: fc.integer({ min: 1, max: 75 }),
  minor: fc.bigInt({ min: 1n, max: 10_000_000n }),
  price: fc.bigInt({ min: 50n, max: 150n }),
  apart: fc.integer({ min: -5, max: 5 }),
  parts: fc.bigInt({ min: 1n, max: 3n }),
  end: fc.constantFrom("stays", "stays", "half", "cancelled"),
})

const one = { minor: 1n, price: 50n, apart: 0, parts: 1n } as const

/** An overdrawn sale that is covered in parts: a cent is left without a quantity. */
const oversoldInParts: Array<Movement> = [
  { ...one, what: "fromUsdt", day: 23, end: "cancelled" },
  { ...one, what: "toUsdt", day: 23, apart: -1, parts: 2n, end: "half" },
  { ...one, what: "in", day: 1, end: "stays" },
]

const dateOf = (day: number): string => new Date(Date.UTC(2026, 8, day)).toISOString().slice(0, 10)

/** Any rate, the same for the same seed: from 0.5000 to 1.4999. */
const anyRate =
  (seed: number) =>
  (currency: string, date: string): string => {
    let hash = seed
    for (const char of currency + date) hash = (hash * 31 + char.charCodeAt(0)) % 10_007
    return ((5_000 + (hash % 10_000)) / 10_000).toFixed(4)
  }

let conversions = 0

type Amount = readonly [cash: NativeAccount, minor: bigint]

/** Splits an amount into so many entries. */
const partsOf = (id: string, date: string, [cash, minor]: Amount, count: bigint, kind?: string) =>
  Array.from({ length: Number(count) }, (_, at) => {
    const part = minor / count + (at === 0 ? minor % count : 0n)
    return part === 0n ? [] : [leg(id, date, cash, part, 0n, kind)]
  }).flat()

const trade = (
  movement: Pick<Movement, "day" | "apart" | "parts" | "end">,
  sold: Amount,
  bought: Amount,
): ReadonlyArray<NativeEntry> => {
  conversions += 1
  const id = `c${conversions}`
  const { apart, day, end, parts } = movement
  const [first, last] = [dateOf(day), dateOf(day + Math.abs(apart))]
  const out = (date: string, kind?: string) =>
    partsOf(id, date, [sold[0], kind === undefined ? -sold[1] : sold[1]], 1n, kind)
  const into = (date: string, kind?: string) =>
    partsOf(id, date, [bought[0], kind === undefined ? bought[1] : -bought[1]], parts, kind)
  const [early, late] = apart < 0 ? [into, out] : [out, into]
  if (end === "half") return [...early(first), ...early(last, "conversion_return")]
  const stays = [...early(first), ...late(last), whole(id, last, sold, bought)]
  if (end === "stays") return stays
  const after = dateOf(day + Math.abs(apart) + 1)
  return [
    ...stays,
    ...late(after, "conversion_return"),
    ...early(after, "conversion_return"),
    whole(id, after, sold, bought, "conversion_reversal"),
  ]
}

/** A conversion that stays, with both legs on the same day. */
const plainTrade = (day: number, sold: Amount, bought: Amount) =>
  trade({ day, apart: 0, parts: 1n, end: "stays" }, sold, bought)

const usdtScale = 1_000_000n

const entriesOf = (movement: Movement): ReadonlyArray<NativeEntry> => {
  const { day, minor, price, what } = movement
  const date = dateOf(day)
  const worth = (minor * price) / 100n + 1n
  switch (what) {
    case "in":
      return [
        entry(date, [
          [usd, minor],
          [feesUsd, minor / 50n + 1n],
          [depositsUsd, -minor - (minor / 50n + 1n)],
        ]),
      ]
    case "out":
      return [
        entry(date, [
          [withdrawalsUsd, minor],
          [feesUsd, minor / 100n + 1n],
          [usd, -minor - (minor / 100n + 1n)],
        ]),
      ]
    case "back":
      return [
        entry(date, [
          [usd, minor],
          [withdrawalsUsd, -minor],
        ]),
      ]
    case "toEur":
      return trade(movement, [usd, minor], [eur, worth])
    case "fromEur":
      return trade(movement, [eur, worth], [usd, minor])
    case "toUsdt":
      return trade(movement, [usd, minor], [usdt, worth * usdtScale])
    case "fromUsdt":
      return trade(movement, [usdt, worth * usdtScale], [usd, minor])
  }
}

const bookOf = (movements: ReadonlyArray<Movement>): ReadonlyArray<NativeEntry> =>
  // On the same day cash comes before whole conversions, as in the database.
  movements
    .flatMap(entriesOf)
    .map((each) => ({ each, key: `${each.date} ${each.partnerAccountId === null ? 1 : 0}` }))
    .sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0))
    .map(({ each }) => each)

const movements = fc.array(movement, { minLength: 1, maxLength: 25 })
const method = fc.constantFrom("average" as const, "fifo" as const)
const seed = fc.integer({ min: 1, max: 10_000 })

const nativeSum = (entries: ReadonlyArray<NativeEntry>, of: NativeAccount): bigint =>
  entries
    .flatMap(({ lines }) => lines)
    .filter(({ account }) => account === of)
    .reduce((sum, { minor }) => sum + minor, 0n)

const lastDay = 90

/** Converts everything that is left of the two foreign currencies into the base currency, or back where something is owed. */
const soldOut = (entries: ReadonlyArray<NativeEntry>): ReadonlyArray<NativeEntry> => [
  ...entries,
  ...[usd, usdt].flatMap((cash) => {
    const left = nativeSum(entries, cash)
    if (left === 0n) return []
    return left > 0n
      ? plainTrade(lastDay, [cash, left], [eur, 12_345n])
      : plainTrade(lastDay, [eur, 12_345n], [cash, -left])
  }),
]

const isClearing = (entry: NativeEntry): boolean =>
  entry.lines.some(({ account }) => account.role === "trading")

/** The realized results by conversion. */
const gainsOf = (entries: ReadonlyArray<BaseEntry>): Map<string, bigint> => {
  const gains = new Map<string, bigint>()
  for (const { lines, resourceId, series } of entries) {
    for (const { account, minor } of lines) {
      if (account !== "fx_realized" || series !== "journal") continue
      gains.set(resourceId ?? "", (gains.get(resourceId ?? "") ?? 0n) - minor)
    }
  }
  return gains
}

describe("the base-currency journal", () => {
  it("balances in every entry, and its balances are the sums of its postings", () => {
    fc.assert(
      fc.property(movements, method, seed, (moved, by, from) => {
        const { entries, state } = valued({ method: by, rates: anyRate(from), entries: bookOf(moved) })
        const sums = new Map<string, bigint>()
        for (const { lines } of entries) {
          expect(lines.reduce((sum, { minor }) => sum + minor, 0n)).toBe(0n)
          for (const { account, minor } of lines) {
            sums.set(String(account), (sums.get(String(account)) ?? 0n) + minor)
          }
        }
        expect(new Map([...sums].filter(([, sum]) => sum !== 0n))).toEqual(
          new Map([...state.balances].filter(([, sum]) => sum !== 0n)),
        )
      }),
    )
  })

  it("carries the accounts' balances, and its lots add up to these except for rounded cents", () => {
    fc.assert(
      fc.property(movements, method, seed, (moved, by, from) => {
        const book = bookOf(moved)
        const { state } = valued({ method: by, rates: anyRate(from), entries: book }, false)
        for (const of of [usd, usdt, depositsUsd, withdrawalsUsd, transitUsd, transitUsdt]) {
          const holding = state.holdings.get(of.accountId) ?? emptyHolding()
          const lots = remaining(holding.lots)
          expect(holding.native).toBe(nativeSum(book, of))
          expect(holding.carrying).toBe(balanceOf(state, of.accountId))
          if (lots.length === 0) continue
          expect(lots.reduce((sum, { quantity }) => sum + quantity, 0n)).toBe(holding.native)
          // Lots keep exact rests; amounts that leave are booked in whole cents, at most half a cent away.
          const cost = lots.reduce((sum, lot) => plus(sum, lot.cost), exactly(0n))
          const away = plus(cost, exactly(-holding.carrying))
          const { denominator, numerator } = reduced(away)
          const size = numerator < 0n ? -numerator : numerator
          expect(size * 2n <= denominator * BigInt(book.length)).toBe(true)
        }
      }),
    )
  })

  it("leaves no residue on cash when all is gone, and nothing on trading or in transit", () => {
    fc.assert(
      fc.property(movements, method, seed, (moved, by, from) => {
        const { entries, state } = valued({
          method: by,
          rates: anyRate(from),
          entries: soldOut(bookOf(moved)),
        })
        expect([usd, usdt].map(({ accountId }) => balanceOf(state, accountId))).toEqual([0n, 0n])
        const kept = [usd, usdt, eur].flatMap(transitOf)
        expect(kept.map(({ accountId }) => balanceOf(state, accountId))).toEqual(kept.map(() => 0n))
        expect(state.conversions.size).toBe(0)
        // No other entry of the books realizes a result.
        const realizing = entries.filter(
          ({ lines, series }) =>
            series === "journal" && lines.some(({ account }) => account === "fx_realized"),
        )
        expect(
          realizing.every(({ lines }) => lines.some(({ native }) => native?.account.role === "trading")),
        ).toBe(true)
      }),
    )
  })

  it("is zero on accounts that hold nothing, except for revaluations", () => {
    fc.assert(
      fc.property(movements, method, seed, (moved, by, from) => {
        const { entries, state } = valued({
          method: by,
          rates: anyRate(from),
          entries: bookOf(moved),
        })
        const booked = new Map<number, { native: bigint; base: bigint }>()
        for (const { kind, lines } of entries) {
          if (kind === "fx_revaluation" || kind === "fx_reversal") continue
          for (const { account, minor, native } of lines) {
            if (typeof account !== "number") continue
            const sum = booked.get(account) ?? { native: 0n, base: 0n }
            booked.set(account, {
              native: sum.native + (native?.minor ?? 0n),
              base: sum.base + minor,
            })
          }
        }
        const inTransit = new Set([transitUsd.accountId, transitUsdt.accountId])
        for (const of of [usd, usdt, depositsUsd, withdrawalsUsd, transitUsd, transitUsdt]) {
          const { base, native } = booked.get(of.accountId) ?? { native: 0n, base: 0n }
          // Two conversions in transit may offset each other.
          if (native === 0n && !(inTransit.has(of.accountId) && state.conversions.size > 1)) {
            expect(base).toBe(0n)
          }
        }
      }),
    )
  })

  it("realizes a conversion once, in the entry that clears it, and a cancelled one never", () => {
    fc.assert(
      fc.property(movements, method, seed, (moved, by, from) => {
        const book = bookOf(moved)
        const { entries } = valued({ method: by, rates: anyRate(from), entries: book })
        const clearings = new Map<string, number>()
        for (const { resourceId } of book.filter(isClearing)) {
          clearings.set(resourceId ?? "", (clearings.get(resourceId ?? "") ?? 0) + 1)
        }
        const sides = new Map<string, bigint>()
        for (const { lines, resourceId } of entries) {
          if (lines.some(({ native }) => native?.account.role === "trading")) continue
          for (const { minor, native } of lines) {
            if (native?.account.role !== "conversions_in_transit") continue
            sides.set(resourceId ?? "", (sides.get(resourceId ?? "") ?? 0n) - minor)
          }
        }
        for (const [id, gain] of gainsOf(entries)) expect(gain).toBe(clearings.has(id) ? sides.get(id) : 0n)
      }),
    )
  })

  it("realizes the same in however many entries a side comes, except for rounding", () => {
    fc.assert(
      fc.property(
        method,
        seed,
        fc.constantFrom("toEur", "fromEur", "toUsdt", "fromUsdt"),
        fc.bigInt({ min: 100n, max: 10_000_000n }),
        fc.bigInt({ min: 50n, max: 150n }),
        fc.bigInt({ min: 2n, max: 3n }),
        (by, from, what, minor, price, parts) => {
          const one: Movement = { what, day: 40, minor, price, apart: 2, end: "stays", parts: 1n }
          const before = ["in", "in", "toUsdt"] as const
          const held = before.map(
            (kind, at): Movement => ({ ...one, what: kind, day: 1 + at, minor: 2n * minor, price: 150n }),
          )
          const gain = (count: bigint): bigint => {
            const entries = bookOf([...held, { ...one, parts: count }])
            const { state } = valued({ method: by, rates: anyRate(from), entries }, false)
            return balanceOf(state, "fx_realized")
          }
          const difference = gain(parts) - gain(1n)
          expect(difference < 0n ? -difference : difference).toBeLessThanOrEqual(parts)
        },
      ),
    )
  })

  it("realizes the same total by average and by FIFO, once everything is sold", () => {
    const conversionsOnly = fc.array(
      movement
        .filter(({ what }) => what !== "out" && what !== "back")
        .map((one) => ({ ...one, end: "stays" as const })),
      { minLength: 1, maxLength: 25 },
    )
    const bought = conversionsOnly.map((some) => {
      // Sales are always covered: more comes in at first than ever goes out.
      const all = some.reduce((sum, { minor, price }) => sum + minor + (minor * price) / 100n + 1n, 0n)
      const first: Movement = {
        ...{ what: "in", day: 1, minor: all, price: 100n },
        ...{ apart: 0, parts: 1n, end: "stays" },
      }
      return [first, ...some.map((one) => ({ ...one, day: one.day + 1 }))]
    })
    fc.assert(
      fc.property(
        bought.filter((some) => some.every(({ what }) => what !== "fromUsdt")),
        seed,
        (moved, from) => {
          const book = soldOut(bookOf(moved))
          // The month's end settles the cent that exact lots leave.
          const [average, fifo] = (["average", "fifo"] as const).map(
            (by) => valued({ method: by, rates: anyRate(from), entries: book }).state,
          )
          expect(average === undefined ? null : balanceOf(average, "fx_realized")).toBe(
            fifo === undefined ? undefined : balanceOf(fifo, "fx_realized"),
          )
        },
      ),
    )
  })

  it("has the same cash, trading and conversions whether or not its months are revalued", () => {
    fc.assert(
      fc.property(movements, method, seed, (moved, by, from) => {
        const book = { method: by, rates: anyRate(from), entries: bookOf(moved) }
        // Both are settled at each month's end, which removes a cent without a quantity.
        const plain = valued({ ...book, renamed: (_, same) => ({ ...same, monetary: false }) })
        const revalued = valued(book)
        expect(gainsOf(revalued.entries)).toEqual(gainsOf(plain.entries))
        const cash = ({ state }: typeof plain) =>
          [usd, usdt].map(({ accountId }) => state.holdings.get(accountId)?.carrying ?? 0n)
        expect(cash(revalued)).toEqual(cash(plain))
        expect(plain.state.revaluations).toEqual([])
        const pairs = revalued.entries.filter(({ kind }) => kind === "fx_reversal").length
        const last = revalued.state.revaluations.length
        expect(revalued.entries.filter(({ kind }) => kind === "fx_revaluation").length).toBe(pairs + last)
      }),
      { examples: [[oversoldInParts, "fifo", 1]] },
    )
  })

  it("realizes the same whether its months are valued one by one or as one", () => {
    fc.assert(
      fc.property(movements, method, seed, (moved, by, from) => {
        // What was given counts within a month, less what went back in it, since a month knows nothing of the next: apart
        // from that it makes no difference where months begin.
        const isAcross = ({ day }: Movement) => dateOf(day).slice(0, 7) !== dateOf(day + 1).slice(0, 7)
        const together = moved.map((one): Movement => {
          if (one.what !== "fromEur") return one
          return { ...one, apart: 0, end: one.end === "cancelled" && isAcross(one) ? "stays" : one.end }
        })
        const book = { method: by, rates: anyRate(from), entries: bookOf(together) }
        const [one, three] = [valued(book, false, "whole"), valued(book, false, "three")]
        expect(balanceOf(three.state, "fx_realized")).toBe(balanceOf(one.state, "fx_realized"))
        expect(balanceOf(three.state, usd.accountId)).toBe(balanceOf(one.state, usd.accountId))
      }),
    )
  })
})
