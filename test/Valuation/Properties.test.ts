/** What must hold of every book, however its movements fall. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { NativeAccount, NativeEntry } from "../../src/Valuation/Base.ts"
import { emptyHolding } from "../../src/Valuation/Holding.ts"
import { remaining } from "../../src/Valuation/Lots.ts"
import {
  balanceOf,
  depositsUsd,
  entry,
  eur,
  feesUsd,
  tradingEur,
  tradingUsd,
  tradingUsdt,
  usd,
  usdt,
  valued,
  withdrawalsUsd,
} from "./Valued.ts"

interface Movement {
  readonly what: "in" | "out" | "back" | "toEur" | "fromEur" | "toUsdt" | "fromUsdt"
  readonly day: number
  readonly minor: bigint
  readonly price: bigint
}

const movement: fc.Arbitrary<Movement> = fc.record({
  what: fc.constantFrom("in", "in", "in", "out", "back", "toEur", "fromEur", "toUsdt", "fromUsdt"),
  day: fc.integer({ min: 1, max: 75 }),
  minor: fc.bigInt({ min: 1n, max: 10_000_000n }),
  price: fc.bigInt({ min: 50n, max: 150n }),
})

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

const trade = (
  date: string,
  [sold, soldTrading, out]: readonly [NativeAccount, NativeAccount, bigint],
  [bought, boughtTrading, into]: readonly [NativeAccount, NativeAccount, bigint],
): ReadonlyArray<NativeEntry> => {
  conversions += 1
  const of = { kind: "conversion", resourceId: `c${conversions}` }
  return [
    entry(
      date,
      [
        [soldTrading, out],
        [sold, -out],
      ],
      of,
    ),
    entry(
      date,
      [
        [bought, into],
        [boughtTrading, -into],
      ],
      of,
    ),
  ]
}

const usdtScale = 1_000_000n

const entriesOf = ({ day, minor, price, what }: Movement): ReadonlyArray<NativeEntry> => {
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
      return trade(date, [usd, tradingUsd, minor], [eur, tradingEur, worth])
    case "fromEur":
      return trade(date, [eur, tradingEur, worth], [usd, tradingUsd, minor])
    case "toUsdt":
      return trade(date, [usd, tradingUsd, minor], [usdt, tradingUsdt, worth * usdtScale])
    case "fromUsdt":
      return trade(date, [usdt, tradingUsdt, worth * usdtScale], [usd, tradingUsd, minor])
  }
}

const bookOf = (movements: ReadonlyArray<Movement>): ReadonlyArray<NativeEntry> =>
  [...movements].sort((a, b) => a.day - b.day).flatMap(entriesOf)

const movements = fc.array(movement, { minLength: 1, maxLength: 25 })
const method = fc.constantFrom("average" as const, "fifo" as const)
const seed = fc.integer({ min: 1, max: 10_000 })

const nativeSum = (entries: ReadonlyArray<NativeEntry>, of: NativeAccount): bigint =>
  entries
    .flatMap(({ lines }) => lines)
    .filter(({ account }) => account === of)
    .reduce((sum, { minor }) => sum + minor, 0n)

/** Takes everything that is left of the two foreign currencies to the base currency, and back where something is owed. */
const soldOut = (entries: ReadonlyArray<NativeEntry>): ReadonlyArray<NativeEntry> => [
  ...entries,
  ...(
    [
      [usd, tradingUsd],
      [usdt, tradingUsdt],
    ] as const
  ).flatMap(([cash, trading]) => {
    const left = nativeSum(entries, cash)
    if (left === 0n) return []
    return left > 0n
      ? trade("2026-11-29", [cash, trading, left], [eur, tradingEur, 12_345n])
      : trade("2026-11-29", [eur, tradingEur, 12_345n], [cash, trading, -left])
  }),
]

describe("the base-currency journal", () => {
  it("balances in every entry, and its balances are what it posted", () => {
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

  it("carries what the accounts say, and its lots add up to that", () => {
    fc.assert(
      fc.property(movements, method, seed, (moved, by, from) => {
        const book = bookOf(moved)
        const { state } = valued({ method: by, rates: anyRate(from), entries: book }, false)
        for (const of of [usd, usdt, depositsUsd, withdrawalsUsd]) {
          const holding = state.holdings.get(of.accountId) ?? emptyHolding()
          const lots = remaining(holding.lots)
          expect(holding.native).toBe(nativeSum(book, of))
          expect(holding.carrying).toBe(balanceOf(state, of.accountId))
          if (lots.length === 0) continue
          expect(lots.reduce((sum, { quantity }) => sum + quantity, 0n)).toBe(holding.native)
          expect(lots.reduce((sum, { cost }) => sum + cost, 0n)).toBe(holding.carrying)
        }
      }),
    )
  })

  it("leaves no residue on cash when all is gone, and nothing on trading", () => {
    fc.assert(
      fc.property(movements, method, seed, (moved, by, from) => {
        const { state } = valued({ method: by, rates: anyRate(from), entries: soldOut(bookOf(moved)) }, false)
        expect([usd, usdt].map(({ accountId }) => balanceOf(state, accountId))).toEqual([0n, 0n])
        expect(
          [tradingUsd, tradingUsdt, tradingEur].map(({ accountId }) => balanceOf(state, accountId)),
        ).toEqual([0n, 0n, 0n])
      }),
    )
  })

  it("realizes the same in all by average and by FIFO, once everything is sold", () => {
    const conversionsOnly = fc.array(
      movement.filter(({ what }) => what !== "out" && what !== "back"),
      { minLength: 1, maxLength: 25 },
    )
    const bought = conversionsOnly.map((some) => {
      // What is sold was there: first of all more comes in than all that goes.
      const all = some.reduce((sum, { minor, price }) => sum + minor + (minor * price) / 100n + 1n, 0n)
      return [
        { what: "in", day: 1, minor: all, price: 100n } as const,
        ...some.map((one) => ({ ...one, day: one.day + 1 })),
      ]
    })
    fc.assert(
      fc.property(
        bought.filter((some) => some.every(({ what }) => what !== "fromUsdt")),
        seed,
        (moved, from) => {
          const book = soldOut(bookOf(moved))
          const [average, fifo] = (["average", "fifo"] as const).map(
            (by) => valued({ method: by, rates: anyRate(from), entries: book }, false).state,
          )
          expect(average === undefined ? null : balanceOf(average, "fx_realized")).toBe(
            fifo === undefined ? undefined : balanceOf(fifo, "fx_realized"),
          )
        },
      ),
    )
  })

  it("says the same of cash, trading and conversions whether or not its months are revalued", () => {
    fc.assert(
      fc.property(movements, method, seed, (moved, by, from) => {
        const book = { method: by, rates: anyRate(from), entries: bookOf(moved) }
        const [plain, revalued] = [valued(book, false), valued(book, true)]
        const realized = ({ entries }: typeof plain) =>
          entries
            .filter(({ kind }) => kind === "fx_realized")
            .map(({ date, lines }) => `${date} ${lines.map(({ account, minor }) => `${account} ${minor}`)}`)
        expect(realized(revalued)).toEqual(realized(plain))
        const cash = ({ state }: typeof plain) =>
          [usd, usdt].map(({ accountId }) => state.holdings.get(accountId)?.carrying ?? 0n)
        expect(cash(revalued)).toEqual(cash(plain))
        const pairs = revalued.entries.filter(({ kind }) => kind === "fx_reversal").length
        const last = revalued.state.revaluations.length
        expect(revalued.entries.filter(({ kind }) => kind === "fx_revaluation").length).toBe(pairs + last)
      }),
    )
  })

  it("realizes the same whether its months are valued one by one or as one", () => {
    fc.assert(
      fc.property(movements, method, seed, (moved, by, from) => {
        const book = { method: by, rates: anyRate(from), entries: bookOf(moved) }
        const [one, three] = [valued(book, false, "whole"), valued(book, false, "three")]
        expect(balanceOf(three.state, "fx_realized")).toBe(balanceOf(one.state, "fx_realized"))
        expect(balanceOf(three.state, usd.accountId)).toBe(balanceOf(one.state, usd.accountId))
      }),
    )
  })
})
