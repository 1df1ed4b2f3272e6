/** Worked examples, calculated by hand. Base currency EUR; amounts of the journal are cents. */
import { describe, expect, it } from "vitest"
import { emptyHolding, enter, leave } from "../../src/Valuation/Holding.ts"
import { remaining } from "../../src/Valuation/Lots.ts"
import { isMonetary } from "../../src/Valuation/Natives.ts"
import { halfEven } from "../../src/Valuation/Rate.ts"
import {
  balanceOf,
  depositsUsd,
  depositsUsdt,
  entry,
  eur,
  feesEur,
  feesUsd,
  holdingOf,
  linesOf,
  openingUsd,
  suspenseUsd,
  tradingEur,
  tradingUsd,
  tradingUsdt,
  usd,
  usdt,
  valued,
  withdrawalsUsd,
} from "./Valued.ts"

const deposit = (date: string, minor: bigint) =>
  entry(date, [
    [usd, minor],
    [depositsUsd, -minor],
  ])

/** 1,000 USD at 0.90 and 1,000 USD at 0.80; 500 USD of them are sold for 450 EUR. */
const twoDeposits = [
  deposit("2026-09-01", 100_000n),
  deposit("2026-09-10", 100_000n),
  leg("c1", "2026-09-20", usd, -50_000n),
  leg("c1", "2026-09-20", eur, 45_000n),
  whole("c1", "2026-09-20", [usd, 50_000n], [eur, 45_000n]),
]
const rates = { "USD 2026-09-01": "0.90", "USD 2026-09-10": "0.80" }
const method = ["average", "fifo"] as const

describe("half-even", () => {
  it.each([
    [5n, 10n, 0n],
    [15n, 10n, 2n],
    [25n, 10n, 2n],
    [-5n, 10n, 0n],
    [-15n, 10n, -2n],
    [26n, 10n, 3n],
    [7n, -2n, -4n],
  ])("%s / %s is %s", (over, under, whole) => {
    expect(halfEven(over, under)).toBe(whole)
  })
})

describe("two deposits at different rates and a conversion of a part", () => {
  it("costs the average: 500 × 1,700 / 2,000 = 425, so that 450 bring a gain of 25 in the whole's own entry", () => {
    const { entries, state } = valued({ method: "average", rates, entries: twoDeposits }, false)
    expect(linesOf(entries, null)).toEqual([
      ["2026-09-01", "1 90000", "4 -90000"],
      ["2026-09-10", "1 80000", "4 -80000"],
      ["2026-09-20", "1 -42500", "15 42500"],
      ["2026-09-20", "3 45000", "17 -45000"],
      // Trading and transit as the native entry has them, then trading off again, and the gain.
      [
        ...["2026-09-20", "6 42500", "15 -42500", "17 45000", "8 -45000"],
        ...["6 -42500", "8 45000", "fx_realized -2500"],
      ],
    ])
    expect(entries.filter(({ series }) => series === "fx")).toEqual([])
    expect([1, 6, 8, 15, 17].map((of) => balanceOf(state, of))).toEqual([127_500n, 0n, 0n, 0n, 0n])
    expect(state.conversions.size).toBe(0)
  })

  it("costs the oldest lot first in, first out: 500 × 0.90 = 450, so that there is no gain", () => {
    const { state } = valued({ method: "fifo", rates, entries: twoDeposits }, false)
    expect(balanceOf(state, "fx_realized")).toBe(0n)
    expect(holdingOf(state, usd)).toEqual({
      native: 150_000n,
      carrying: 125_000n,
      lots: ["50000 for 45000", "100000 for 80000"],
    })
  })
})

describe("lots", () => {
  const into = { method: "fifo", withLots: true } as const

  it("are one for what came in on one day at one rate, and two otherwise", () => {
    const { state } = valued(
      {
        method: "fifo",
        rates: (_, date) => (date === "2026-09-10" ? "0.80" : "0.90"),
        entries: [
          deposit("2026-09-01", 100_000n),
          deposit("2026-09-01", 50_000n),
          deposit("2026-09-02", 100_000n),
          deposit("2026-09-10", 100_000n),
        ],
      },
      false,
    )
    expect(holdingOf(state, usd).lots).toEqual(["150000 for 135000", "100000 for 90000", "100000 for 80000"])
  })

  it("cost a book of very many no more than their number", () => {
    const many = 100_000n
    const holding = emptyHolding()
    for (let at = 1n; at <= many; at++) enter(holding, 1n, at, { ...into, origin: null })
    // Copying what is left for each of them would be ten thousand million steps.
    let cost = 0n
    for (let at = 1n; at <= many; at++) cost += rounded(leave(holding, -1n, into.method, into.withLots))
    expect([cost, holding.native, holding.carrying]).toEqual([(-many * (many + 1n)) / 2n, 0n, 0n])
    expect(remaining(holding.lots)).toEqual([])
  })
})

describe("a conversion", () => {
  it("carries a fee in the sold currency at its cost, beside trading", () => {
    const { entries } = valued(
      {
        method: "average",
        rates,
        entries: [
          deposit("2026-09-01", 100_000n),
          entry(
            "2026-09-20",
            [
              [tradingUsd, 99_500n],
              [feesUsd, 500n],
              [usd, -100_000n],
            ],
            { kind: "conversion", resourceId: "c1" },
          ),
          entry(
            "2026-09-21",
            [
              [eur, 90_000n],
              [tradingEur, -90_000n],
            ],
            { kind: "conversion", resourceId: "c1" },
          ),
        ],
      },
      false,
    )
    expect(linesOf(entries, null)[1]).toEqual(["2026-09-20", "6 89550", "9 450", "1 -90000"])
    // 900.00 for what cost 895.50; dated as the later leg.
    expect(linesOf(entries, "fx_realized")).toEqual([
      ["2026-09-21", "6 -89550", "8 90000", "fx_realized -450"],
    ])
  })

  it("keeps a fee in the bought currency in fees, at face value", () => {
    const { entries } = valued(
      {
        method: "average",
        rates,
        entries: [
          deposit("2026-09-01", 100_000n),
          entry(
            "2026-09-20",
            [
              [tradingUsd, 100_000n],
              [usd, -100_000n],
            ],
            { kind: "conversion", resourceId: "c1" },
          ),
          entry(
            "2026-09-20",
            [
              [eur, 89_700n],
              [feesEur, 300n],
              [tradingEur, -90_000n],
            ],
            { kind: "conversion", resourceId: "c1" },
          ),
        ],
      },
      false,
    )
    expect(linesOf(entries, "fx_realized")).toEqual([["2026-09-20", "6 -90000", "8 90000"]])
  })

  it("between two foreign currencies leaves at cost and enters at the day's rate", () => {
    const { entries, state } = valued(
      {
        method: "average",
        rates: { ...rates, "USDT 2026-10-02": "0.85" },
        entries: [
          deposit("2026-09-01", 100_000n),
          entry(
            "2026-09-30",
            [
              [tradingUsd, 100_000n],
              [usd, -100_000n],
            ],
            { kind: "conversion", resourceId: "c1" },
          ),
          // The other leg comes in the next month.
          entry(
            "2026-10-02",
            [
              [usdt, 99_420_310_000n],
              [tradingUsdt, -99_420_310_000n],
            ],
            { kind: "conversion", resourceId: "c1" },
          ),
        ],
      },
      false,
    )
    // 994.2031 × 0.85 = 845.072635
    expect(linesOf(entries, "fx_realized")).toEqual([
      ["2026-10-02", "6 -90000", "7 84507", "fx_realized 5493"],
    ])
    expect([balanceOf(state, 2), state.trades.size]).toEqual([84_507n, 0])
  })

  describe("for base currency", () => {
    const of = { kind: "conversion", resourceId: "c1" }
    const paid = (date: string) =>
      entry(
        date,
        [
          [tradingEur, 88_000n],
          [eur, -88_000n],
        ],
        of,
      )
    const got = (date: string) =>
      entry(
        date,
        [
          [usd, 99_500n],
          [feesUsd, 500n],
          [tradingUsd, -100_000n],
        ],
        of,
      )
    const fee = (date: string) =>
      entry(
        date,
        [
          [feesUsd, 200n],
          [tradingUsd, -200n],
        ],
        { ...of, kind: "reclassification" },
      )
    const bought = (entries: Parameters<typeof valued>[0]["entries"]) =>
      valued({ method: "fifo", rates: () => "0.90", entries }, false)

    it.each([
      ["paid first", [paid("2026-09-20"), got("2026-09-20")]],
      ["got first", [got("2026-09-20"), paid("2026-09-21")]],
      ["paid the month before", [paid("2026-09-30"), got("2026-10-01")]],
    ])("costs what was paid for it, and realizes nothing: %s", (_, entries) => {
      const { entries: made, state } = bought(entries)
      // 880 for 1,000 USD, of which 5 are a fee: 875.60 and 4.40.
      expect(linesOf(made, null).map(([, ...lines]) => lines)).toContainEqual([
        "1 87560",
        "9 440",
        "6 -88000",
      ])
      expect(holdingOf(state, usd)).toEqual({
        native: 99_500n,
        carrying: 87_560n,
        lots: ["99500 for 87560"],
      })
      expect([balanceOf(state, "fx_realized"), balanceOf(state, 6), balanceOf(state, 8)]).toEqual([
        0n,
        0n,
        0n,
      ])
      expect(state.trades.size).toBe(0)
    })

    it("takes a fee that is put right before its leg comes neither for what was bought nor for the leg", () => {
      const { entries: made, state } = bought([paid("2026-09-20"), fee("2026-09-21"), got("2026-09-22")])
      expect(linesOf(made, null).slice(1)).toEqual([
        ["2026-09-21", "9 180", "6 -180"],
        ["2026-09-22", "1 89550", "9 450", "6 -90000"],
      ])
      expect(linesOf(made, "fx_realized")).toEqual([
        ["2026-09-22", "8 -88000", "6 90180", "fx_realized -2180"],
      ])
      expect(state.trades.size).toBe(0)
    })

    it("takes a fee that is put right afterwards at the day's rate", () => {
      const { entries: made, state } = bought([paid("2026-09-20"), got("2026-09-20"), fee("2026-09-22")])
      expect(linesOf(made, null).at(-1)).toEqual(["2026-09-22", "9 180", "6 -180"])
      expect([balanceOf(state, 6), state.trades.size]).toEqual([0n, 0])
    })

    it("is worth the day's rate where what is paid comes in a later month only", () => {
      const { state } = bought([got("2026-09-30"), paid("2026-10-01")])
      expect([balanceOf(state, usd.accountId), balanceOf(state, "fx_realized")]).toEqual([89_550n, -2_000n])
    })
  })

  it("that is put right after it was cleared is cleared at once", () => {
    const { entries, state } = valued(
      {
        method: "average",
        rates: { ...rates, "USD 2026-09-22": "0.90" },
        entries: [
          ...twoDeposits,
          entry(
            "2026-09-22",
            [
              [feesUsd, 200n],
              [tradingUsd, -200n],
            ],
            { kind: "reclassification", resourceId: "c1" },
          ),
        ],
      },
      false,
    )
    expect(linesOf(entries, "fx_realized").at(-1)).toEqual(["2026-09-22", "6 180", "fx_realized -180"])
    expect(state.trades.size).toBe(0)
  })

  describe("with a leg that was not known at first", () => {
    const of = { kind: "conversion", resourceId: "c1" }
    const unidentified = (date: string) => [
      entry(
        date,
        [
          [suspenseUsd, 100_000n],
          [usd, -100_000n],
        ],
        of,
      ),
      entry(
        date,
        [
          [tradingUsd, 99_500n],
          [feesUsd, 500n],
          [suspenseUsd, -100_000n],
        ],
        { ...of, kind: "reclassification" },
      ),
    ]
    const bought = (date: string) =>
      entry(
        date,
        [
          [usdt, 100_000_000_000n],
          [tradingUsdt, -100_000_000_000n],
        ],
        of,
      )
    const at = { ...rates, "USDT 2026-11-01": "0.8955", "USDT 2026-10-30": "0.8955" }

    it.each([
      ["first", [...unidentified("2026-10-30"), bought("2026-11-01")]],
      ["first, on the same day", [...unidentified("2026-10-30"), bought("2026-10-30")]],
      ["last, on the same day", [bought("2026-10-30"), ...unidentified("2026-10-30")]],
    ])("waits for the other: %s", (_, legs) => {
      const { entries, state } = valued(
        { method: "average", rates: at, entries: [deposit("2026-09-01", 100_000n), ...legs] },
        false,
      )
      // 995 USD that cost 895.50 for 1,000 USDT that are worth as much.
      expect(linesOf(entries, "fx_realized").map(([, ...lines]) => lines.toSorted())).toEqual([
        ["6 -89550", "7 89550"],
      ])
      expect([balanceOf(state, 6), balanceOf(state, 7), balanceOf(state, "fx_realized")]).toEqual([
        0n,
        0n,
        0n,
      ])
      expect(state.trades.size).toBe(0)
    })

    it("and that turns out to be none leaves nothing on trading", () => {
      const taken = (trading: typeof tradingUsd, minor: bigint, held: typeof usd) =>
        entry(
          "2026-10-31",
          [
            [held, minor],
            [trading, -minor],
          ],
          { ...of, kind: "reclassification" },
        )
      const { state } = valued(
        {
          method: "average",
          rates: () => "0.90",
          entries: [
            deposit("2026-09-01", 100_000n),
            ...unidentified("2026-10-30"),
            bought("2026-10-30"),
            taken(tradingUsd, 99_500n, withdrawalsUsd),
            taken(tradingUsdt, -100_000_000_000n, depositsUsdt),
          ],
        },
        false,
      )
      expect([balanceOf(state, 6), balanceOf(state, 7), state.trades.size]).toEqual([0n, 0n, 0])
      expect(balanceOf(state, "fx_realized")).toBe(0n)
    })
  })

  it("that goes back leaves nothing on trading", () => {
    const sold = { kind: "conversion", resourceId: "c1" }
    const { state } = valued(
      {
        method: "fifo",
        rates: { ...rates, "USD 2026-10-05": "0.95" },
        entries: [
          deposit("2026-09-01", 100_000n),
          entry(
            "2026-09-20",
            [
              [tradingUsd, 100_000n],
              [usd, -100_000n],
            ],
            sold,
          ),
          entry(
            "2026-10-05",
            [
              [usd, 100_000n],
              [tradingUsd, -100_000n],
            ],
            { ...sold, kind: "conversion_return" },
          ),
        ],
      },
      false,
    )
    expect([state.trades.size, balanceOf(state, 6)]).toEqual([0, 0n])
    expect(balanceOf(state, "fx_realized")).toBe(-5_000n)
  })
})

describe("what is no conversion", () => {
  it("realizes nothing: a withdrawal leaves at cost and comes back at what the clearing account carries", () => {
    const { entries, state } = valued(
      {
        method: "average",
        rates,
        entries: [
          deposit("2026-09-01", 100_000n),
          deposit("2026-09-10", 100_000n),
          entry("2026-09-20", [
            [withdrawalsUsd, 99_500n],
            [feesUsd, 500n],
            [usd, -100_000n],
          ]),
          entry("2026-09-25", [
            [usd, 99_500n],
            [withdrawalsUsd, -99_500n],
          ]),
        ],
      },
      false,
    )
    expect(linesOf(entries, null).slice(2)).toEqual([
      ["2026-09-20", "5 84575", "9 425", "1 -85000"],
      ["2026-09-25", "1 84575", "5 -84575"],
    ])
    expect([balanceOf(state, 5), balanceOf(state, "fx_realized")]).toEqual([0n, 0n])
  })

  it("crosses zero in two parts: what is there at cost, the rest at the day's rate", () => {
    const { entries, state } = valued(
      {
        method: "fifo",
        rates: { ...rates, "USD 2026-09-20": "0.70" },
        entries: [
          deposit("2026-09-01", 100_000n),
          entry("2026-09-20", [
            [withdrawalsUsd, 150_000n],
            [usd, -150_000n],
          ]),
          deposit("2026-09-10", 20_000n),
        ],
      },
      false,
    )
    // 1,000 at 0.90 and 500 at 0.70; then 200 come in and cover a part of the debt at what it is carried at.
    expect(linesOf(entries, null)).toEqual([
      ["2026-09-01", "1 90000", "4 -90000"],
      ["2026-09-20", "5 125000", "1 -125000"],
      ["2026-09-10", "1 14000", "4 -14000"],
    ])
    expect(holdingOf(state, usd)).toEqual({
      native: -30_000n,
      carrying: -21_000n,
      lots: ["-30000 for -21000"],
    })
  })
})

describe("the month's end", () => {
  const two = [
    deposit("2026-09-01", 100_000n),
    entry("2026-10-15", [
      [withdrawalsUsd, 100_000n],
      [usd, -100_000n],
    ]),
    entry("2026-10-16", [
      [depositsUsd, 100_000n],
      [withdrawalsUsd, -100_000n],
    ]),
  ]
  const ends = { "USD 2026-09-30": "0.95", "USD 2026-10-31": "0.85", "USD 2026-11-30": "0.85" }

  it("revalues every balance, and takes it back on the first of the next month", () => {
    const { entries, state } = valued({ method: "average", rates: { ...rates, ...ends }, entries: two })
    expect(linesOf(entries, "fx_revaluation")).toEqual([
      ["2026-09-30", "1 5000", "fx_unrealized -5000"],
      ["2026-09-30", "4 -5000", "fx_unrealized 5000"],
    ])
    expect(linesOf(entries, "fx_reversal")).toEqual([
      ["2026-10-01", "1 -5000", "fx_unrealized 5000"],
      ["2026-10-01", "4 5000", "fx_unrealized -5000"],
    ])
    expect([...state.balances.values()].every((minor) => minor === 0n)).toBe(true)
  })

  it("revalues an account that becomes money by its name from what it is carried at", () => {
    const { entries, state } = valued({
      method: "average",
      rates: (_, date) => (date === "2026-10-31" ? "0.95" : "0.90"),
      entries: [deposit("2026-09-01", 100_000n)],
      renamed: (month, of) => ({ ...of, monetary: month > "2026-09" ? of.monetary : of === usd }),
    })
    expect(linesOf(entries, "fx_revaluation").filter(([date]) => date === "2026-10-31")).toEqual([
      ["2026-10-31", "1 5000", "fx_unrealized -5000"],
      ["2026-10-31", "4 -5000", "fx_unrealized 5000"],
    ])
    expect([balanceOf(state, usd.accountId), balanceOf(state, depositsUsd.accountId)]).toEqual([
      90_000n,
      -90_000n,
    ])
  })

  it("numbers its own entries from 1 in every month", () => {
    const { entries } = valued({ method: "average", rates: { ...rates, ...ends }, entries: two })
    expect(
      entries
        .filter(({ series }) => series === "fx")
        .map(({ date, number, reverses }) => `${date} ${number} ${reverses}`),
    ).toEqual(["2026-09-30 1 null", "2026-09-30 2 null", "2026-10-01 1 1", "2026-10-01 2 2"])
  })

  /** A balance from before, a deposit, and the deposit's return. */
  const returned = (before: string, at: string, minor: bigint) =>
    valued({
      method: "fifo",
      rates: (_, date) => (date === "2026-09-01" ? before : at),
      entries: [
        entry("2026-09-01", [
          [usd, minor],
          [openingUsd, -minor],
        ]),
        deposit("2026-09-10", minor),
        entry("2026-09-20", [
          [depositsUsd, minor],
          [usd, -minor],
        ]),
      ],
    })

  it("takes what an account carries that holds nothing any more to the realized gain", () => {
    // The oldest 1,000 USD went back: 700 against the 900 that the clearing account was credited with.
    const { entries, state } = returned("0.70", "0.90", 100_000n)
    expect(linesOf(entries, "fx_settlement")).toEqual([["2026-09-30", "4 20000", "fx_realized -20000"]])
    expect(balanceOf(state, 4)).toBe(0n)
  })

  it("takes it to rounding where it is no more than half a cent for each of the month's lines", () => {
    const { entries } = returned("0.33", "0.34", 100n)
    expect(linesOf(entries, "fx_settlement")).toEqual([["2026-09-30", "4 1", "rounding -1"]])
  })
})

describe("rounding", () => {
  it("takes what the lines leave over, and no more than half a cent for each", () => {
    const { entries } = valued(
      {
        method: "average",
        rates: { "USD 2026-09-01": "0.5" },
        entries: [
          entry("2026-09-01", [
            [usd, 1n],
            [feesUsd, 1n],
            [feesUsd, 1n],
            [depositsUsd, -3n],
          ]),
        ],
      },
      false,
    )
    // Half a cent goes to the even neighbour: 0, 0, 0 and −1.5 cents to −2.
    expect(linesOf(entries, null)).toEqual([["2026-09-01", "1 0", "9 0", "9 0", "4 -2", "rounding 2"]])
  })
})

describe("what is money", () => {
  it("is what the role says, unless the name says that it is an expense, income or equity", () => {
    expect(isMonetary("withdrawals_clearing", "Assets:Clearing:Withdrawals:USD", false)).toBe(true)
    expect(isMonetary("withdrawals_clearing", "Expenses:Payroll:USD", false)).toBe(false)
    expect(isMonetary("withdrawals_clearing", "Payroll", true)).toBe(false)
    expect(isMonetary("withdrawals_clearing", "Assets:Treasury", true)).toBe(true)
    expect(isMonetary("deposits_clearing", "Transit", false)).toBe(true)
    expect(isMonetary("fees", "Expenses:Fees:USD", false)).toBe(false)
  })
})
