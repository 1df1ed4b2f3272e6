/** Conversions in the base currency, calculated by hand. Base currency EUR; amounts of the journal are cents. */
import { describe, expect, it } from "vitest"
import { openOf } from "../../../src/Valuation/Cost/ConversionCost.ts"
import {
  balanceOf,
  depositsUsd,
  entry,
  eur,
  feesUsd,
  holdingOf,
  leg,
  linesOf,
  suspenseUsd,
  transitUsd,
  usd,
  usdToo,
  usdt,
  valued,
  whole,
  withdrawalsUsd,
} from "../Valued.ts"

const methods = ["average", "fifo"] as const

const deposit = (date: string, minor: bigint, cash = usd) =>
  entry(date, [
    [cash, minor],
    [depositsUsd, -minor],
  ])

const returned = "conversion_return"
const rates = { "USD 2026-09-01": "0.90", "USD 2026-09-10": "0.80" }
/** 100 USDT and the like. */
const tether = (units: bigint): bigint => units * 100_000_000n

type Book = Parameters<typeof valued>[0]["entries"]

/** The realized results, entry by entry. */
const gains = (entries: ReturnType<typeof valued>["entries"]) =>
  entries.flatMap(({ date, lines }) =>
    lines.flatMap(({ account, minor }) => (account === "fx_realized" ? [`${date} ${-minor}`] : [])),
  )

const inTransit = ({ conversions }: ReturnType<typeof valued>["state"]) =>
  [...conversions.values()].flat().map((side) => ({ accountId: side.accountId, ...openOf(side) }))

describe("a conversion", () => {
  it("carries a fee in the sold currency at its cost, separate from transit", () => {
    const { entries } = valued(
      {
        method: "average",
        rates,
        entries: [
          deposit("2026-09-01", 100_000n),
          leg("c1", "2026-09-20", usd, -100_000n, 500n),
          leg("c1", "2026-09-21", eur, 90_000n),
          whole("c1", "2026-09-21", [usd, 99_500n], [eur, 90_000n]),
        ],
      },
      false,
    )
    expect(linesOf(entries, null)[1]).toEqual(["2026-09-20", "1 -90000", "9 450", "15 89550"])
    // 900.00 for what cost 895.50; dated as the later leg.
    expect(gains(entries)).toEqual(["2026-09-21 450"])
  })

  it("keeps a fee in the bought currency in fees, at face value", () => {
    const { entries, state } = valued(
      {
        method: "average",
        rates,
        entries: [
          deposit("2026-09-01", 100_000n),
          leg("c1", "2026-09-20", usd, -100_000n),
          leg("c1", "2026-09-20", eur, 89_700n, 300n),
          whole("c1", "2026-09-20", [usd, 100_000n], [eur, 90_000n]),
        ],
      },
      false,
    )
    expect([gains(entries), balanceOf(state, 11)]).toEqual([[], 300n])
  })

  it.each(methods)(
    "between two foreign currencies leaves at cost and enters at the day's rate: %s",
    (method) => {
      const { entries, state } = valued(
        {
          method,
          rates: { ...rates, "USDT 2026-10-02": "0.85" },
          entries: [
            deposit("2026-09-01", 100_000n),
            leg("c1", "2026-09-30", usd, -100_000n),
            // The other leg comes in the next month.
            leg("c1", "2026-10-02", usdt, 99_420_310_000n),
            whole("c1", "2026-10-02", [usd, 100_000n], [usdt, 99_420_310_000n]),
          ],
        },
        false,
      )
      // 994.2031 × 0.85 = 845.072635
      expect(gains(entries)).toEqual(["2026-10-02 -5493"])
      expect([
        balanceOf(state, 2),
        balanceOf(state, 15),
        balanceOf(state, 16),
        state.conversions.size,
      ]).toEqual([84_507n, 0n, 0n, 0])
    },
  )

  it.each(methods)(
    "bought first is a liability in transit, and realized when the other leg comes: %s",
    (method) => {
      const { entries, state } = valued({
        method,
        rates: (currency, date) => (currency === "USDT" || date < "2026-09-10" ? "0.90" : "0.80"),
        entries: [
          deposit("2026-09-01", 100_000n),
          leg("c1", "2026-09-30", usdt, tether(950n)),
          leg("c1", "2026-10-02", usd, -100_000n),
          whole("c1", "2026-10-02", [usd, 100_000n], [usdt, tether(950n)]),
        ],
      })
      // 855.00 for what cost 900.00, and September's revaluation of 1,000 USD from 900.00 to 800.00 is taken back.
      expect(gains(entries)).toEqual(["2026-10-02 -4500"])
      expect(linesOf(entries, "fx_revaluation").filter(([date]) => date === "2026-09-30")).toEqual([
        ["2026-09-30", "1 -10000", "fx_unrealized 10000"],
      ])
      expect([balanceOf(state, 15), balanceOf(state, 16), state.conversions.size]).toEqual([0n, 0n, 0])
    },
  )

  it("with a leg that never comes stays in transit at its cost, is revalued, and realizes nothing", () => {
    const { entries, state } = valued({
      method: "average",
      rates: (_, date) => (date === "2026-09-30" ? "0.95" : "0.90"),
      entries: [deposit("2026-09-01", 100_000n), leg("c1", "2026-09-20", usd, -100_000n, 500n)],
    })
    expect(inTransit(state)).toEqual([
      { accountId: transitUsd.accountId, native: 99_500n, carrying: 89_550n },
    ])
    // 995 × 0.95 = 945.25
    expect(linesOf(entries, "fx_revaluation")).toEqual([["2026-09-30", "15 4975", "fx_unrealized -4975"]])
    expect(gains(entries)).toEqual([])
  })

  describe("for base currency", () => {
    const paid = (date: string) => leg("c1", date, eur, -88_000n)
    const got = (date: string, minor = 99_500n, fee = 500n) => leg("c1", date, usd, minor, fee)
    const all = (date: string) => whole("c1", date, [eur, 88_000n], [usd, 100_000n])
    const bought = (entries: Book) => valued({ method: "fifo", rates: () => "0.90", entries }, false)

    it.each([
      ["paid first", [paid("2026-09-20"), got("2026-09-20"), all("2026-09-20")]],
      ["got first", [got("2026-09-20"), paid("2026-09-21"), all("2026-09-21")]],
      ["paid the month before", [paid("2026-09-30"), got("2026-10-01"), all("2026-10-01")]],
    ])("costs what was paid for it, and realizes nothing: %s", (_, entries) => {
      const { entries: made, state } = bought(entries)
      // 880 for 1,000 USD, of which 5 are a fee: 875.60 and 4.40.
      expect(linesOf(made, null).map(([, ...lines]) => lines)).toContainEqual([
        "1 87560",
        "9 440",
        "15 -88000",
      ])
      expect(holdingOf(state, usd)).toEqual({ native: 99_500n, carrying: 87_560n, lots: ["99500 for 87560"] })
      expect([balanceOf(state, "fx_realized"), balanceOf(state, 15), balanceOf(state, 17)]).toEqual([
        0n,
        0n,
        0n,
      ])
      expect(state.conversions.size).toBe(0)
    })

    it("costs what was paid in every part that comes in the month when it is whole", () => {
      const parts = [paid("2026-09-20"), got("2026-09-21", 60_000n, 0n), got("2026-09-22", 40_000n, 0n)]
      const { entries, state } = bought([...parts, all("2026-09-22")])
      expect([gains(entries), balanceOf(state, 1)]).toEqual([[], 88_000n])
    })

    it("is worth the day's rate in the part that came in an earlier month", () => {
      const parts = [paid("2026-09-20"), got("2026-09-21", 60_000n, 0n), got("2026-10-02", 40_000n, 0n)]
      const { entries, state } = bought([...parts, all("2026-10-02")])
      // 540.00 and 352.00, for 880.00.
      expect([gains(entries), balanceOf(state, 1)]).toEqual([["2026-10-02 1200"], 89_200n])
    })

    it("is worth the day's rate where the payment comes only in a later month", () => {
      const { entries, state } = bought([got("2026-09-30"), paid("2026-10-01"), all("2026-10-01")])
      expect([gains(entries), balanceOf(state, 1)]).toEqual([["2026-10-01 2000"], 89_550n])
    })

    it("has the price of the rest where too much is credited and pulled back", () => {
      const { entries, state } = bought([
        leg("c2", "2026-09-20", eur, -62_900n),
        leg("c2", "2026-09-20", usd, 84_000n),
        leg("c2", "2026-09-22", usd, -10_000n, 0n, returned),
        whole("c2", "2026-09-22", [eur, 62_900n], [usd, 74_000n]),
      ])
      // 629 / 740 = 0.85
      expect([gains(entries), balanceOf(state, 1), balanceOf(state, 15)]).toEqual([[], 62_900n, 0n])
    })
  })

  it.each(methods)("with too much credited and pulled back a month later is realized once: %s", (method) => {
    const { entries, state } = valued(
      {
        method,
        rates: (_, date) => (date < "2026-09-10" ? "0.80" : date < "2026-10-01" ? "0.90" : "0.50"),
        entries: [
          deposit("2026-09-01", 100_000n),
          leg("c1", "2026-09-20", usd, -74_000n),
          leg("c1", "2026-09-20", usdt, tether(840n)),
          leg("c1", "2026-10-02", usdt, -tether(100n), 0n, returned),
          whole("c1", "2026-10-02", [usd, 74_000n], [usdt, tether(740n)]),
        ],
      },
      false,
    )
    // 740 USDT at 0.90 for 740 USD that cost 0.80; the 100 go back at 0.90, whatever the rate is then.
    expect([gains(entries), balanceOf(state, 2), balanceOf(state, 16)]).toEqual([
      ["2026-10-02 7400"],
      66_600n,
      0n,
    ])
  })

  it.each(methods)("realizes the same where a side comes in two entries as in one: %s", (method) => {
    const of = (...parts: ReadonlyArray<bigint>) =>
      valued(
        {
          method,
          rates: (_, date) => (date < "2026-09-10" ? "0.80" : "0.90"),
          entries: [
            deposit("2026-09-01", 100_000n),
            deposit("2026-09-12", 100_000n),
            ...parts.map((part) => leg("c1", "2026-09-20", usd, -part)),
            leg("c1", "2026-09-21", eur, 65_000n),
            whole("c1", "2026-09-21", [usd, 74_000n], [eur, 65_000n]),
          ],
        },
        false,
      )
    const expected = method === "average" ? "2026-09-21 2100" : "2026-09-21 5800"
    expect(gains(of(37_000n, 37_000n).entries)).toEqual([expected])
    expect(gains(of(74_000n).entries)).toEqual([expected])
  })

  it("between two accounts of one currency has a side on each", () => {
    const { entries, state } = valued(
      {
        method: "average",
        rates: (_, date) => (date < "2026-09-10" ? "0.80" : "0.90"),
        entries: [
          deposit("2026-09-01", 100_000n),
          leg("c1", "2026-09-20", usdToo, 99_000n),
          leg("c1", "2026-09-20", usd, -100_000n),
          whole("c1", "2026-09-20", [usd, 100_000n], [usdToo, 99_000n]),
        ],
      },
      false,
    )
    // 990 at 0.90 for what cost 800.
    expect([gains(entries), balanceOf(state, 21), balanceOf(state, 15)]).toEqual([
      ["2026-09-20 9100"],
      89_100n,
      0n,
    ])
    expect(balanceOf(state, 6)).toBe(0n)
  })
})

describe("a conversion between two accounts of one currency that sells as much as it buys", () => {
  const both = (date: string, kind?: string) => {
    const sign = kind === undefined ? 1n : -1n
    return [
      leg("c1", date, usd, sign * -100_000n, 0n, kind),
      leg("c1", date, usdToo, sign * 100_000n, 0n, kind),
    ]
  }
  const rate = (_: string, date: string) => (date < "2026-09-10" ? "0.80" : "0.90")
  const start = [deposit("2026-09-01", 100_000n), ...both("2026-09-20")]

  it("is not cleared by an entry of the books, and settles at the month's end", () => {
    const { entries, state } = valued({ method: "fifo", rates: rate, entries: start })
    expect(linesOf(entries, "fx_settlement")).toEqual([["2026-09-30", "15 10000", "fx_realized -10000"]])
    expect([balanceOf(state, 15), state.conversions.size]).toEqual([0n, 0])
  })

  it("realizes nothing in the end where it goes back later", () => {
    const { state } = valued({
      method: "fifo",
      rates: rate,
      entries: [...start, ...both("2026-10-05", returned)],
    })
    expect([15, 21, "fx_realized"].map((of) => balanceOf(state, of))).toEqual([0n, 0n, 0n])
    expect([holdingOf(state, usd).carrying, state.conversions.size]).toEqual([80_000n, 0])
  })
})

describe("a conversion that is cancelled", () => {
  const at = (_: string, date: string) =>
    date < "2026-09-05" ? "0.90" : date < "2026-10-01" ? "0.80" : date < "2026-11-01" ? "0.70" : "0.60"
  const two = [deposit("2026-09-01", 100_000n), deposit("2026-09-10", 100_000n)]

  it.each(methods)(
    "after the sold leg gets its cash back at its cost, and the fee that was kept stays: %s",
    (method) => {
      const { entries, state } = valued(
        {
          method,
          rates: at,
          entries: [
            ...two,
            leg("c1", "2026-09-20", usd, -100_000n, 500n),
            leg("c1", "2026-10-05", usd, 99_500n, 0n, returned),
          ],
        },
        false,
      )
      // By average 0.85 for each, in FIFO the oldest: 0.90.
      const cost = method === "average" ? 84_575n : 89_550n
      expect(linesOf(entries, null).at(-1)).toEqual(["2026-10-05", `1 ${cost}`, `15 ${-cost}`])
      expect([gains(entries), balanceOf(state, 15), state.conversions.size]).toEqual([[], 0n, 0])
      expect(balanceOf(state, 1)).toBe(170_000n - (method === "average" ? 425n : 450n))
    },
  )

  it.each(methods)("after the bought leg returns its cash at the value at which it came in: %s", (method) => {
    const { entries, state } = valued(
      {
        method,
        rates: at,
        entries: [
          deposit("2026-09-01", 100_000n),
          leg("c1", "2026-09-20", usd, 50_000n),
          leg("c1", "2026-10-05", usd, -50_000n, 0n, returned),
        ],
      },
      false,
    )
    // Not at 1,300 / 1,500 for each, nor at 0.90 as the oldest.
    expect(linesOf(entries, null).at(-1)).toEqual(["2026-10-05", "1 -40000", "15 40000"])
    expect([gains(entries), state.conversions.size]).toEqual([[], 0])
    expect(holdingOf(state, usd)).toEqual({
      native: 100_000n,
      carrying: 90_000n,
      lots: method === "fifo" ? ["100000 for 90000"] : [],
    })
  })

  const cancelled = (dates: readonly [whole: string, sold: string, bought: string, reversal: string]) => [
    ...two,
    leg("c1", "2026-09-20", usd, -100_000n, 500n),
    leg("c1", "2026-09-20", usdt, tether(1_200n)),
    whole("c1", dates[0], [usd, 99_500n], [usdt, tether(1_200n)]),
    leg("c1", dates[1], usd, 99_500n, 0n, returned),
    leg("c1", dates[2], usdt, -tether(1_200n), 0n, returned),
    whole("c1", dates[3], [usd, 99_500n], [usdt, tether(1_200n)], "conversion_reversal"),
  ]

  it.each(methods)("after both legs keeps its cost, and its gain is reversed: %s", (method) => {
    for (const dates of [
      ["2026-09-20", "2026-09-25", "2026-09-26", "2026-09-26"],
      ["2026-09-20", "2026-10-05", "2026-10-06", "2026-10-06"],
      ["2026-09-20", "2026-10-05", "2026-11-06", "2026-11-06"],
    ] as const) {
      const { entries, state } = valued({ method, rates: at, entries: cancelled(dates) }, false)
      // 1,200 USDT at 0.80, 960.00, for what cost 845.75 or 895.50.
      const gain = method === "average" ? 11_425n : 6_450n
      expect(gains(entries)).toEqual([`2026-09-20 ${gain}`, `${dates[3]} ${-gain}`])
      expect([1, 2, 15, 16, "fx_realized"].map((of) => balanceOf(state, of))).toEqual([
        ...[170_000n - (method === "average" ? 425n : 450n), 0n, 0n, 0n, 0n],
      ])
      expect(state.conversions.size).toBe(0)
    }
  })

  it.each(methods)(
    "was worth what was given for it in the month in which it was whole, not in its own: %s",
    (method) => {
      // 100.00 USD for 75.00 EUR; the day's rate is 0.80.
      const bought = (back: string) => [
        deposit("2026-09-01", 100_000n),
        leg("c1", "2026-09-30", eur, -7_500n),
        leg("c1", "2026-09-30", usd, 10_000n),
        whole("c1", "2026-09-30", [eur, 7_500n], [usd, 10_000n]),
        leg("c1", back, usd, -10_000n, 0n, returned),
        leg("c1", back, eur, 7_500n, 0n, returned),
        whole("c1", back, [eur, 7_500n], [usd, 10_000n], "conversion_reversal"),
      ]
      const of = (back: string, split: "three" | "whole") => {
        const { entries, state } = valued({ method, rates: at, entries: bought(back) }, false, split)
        const cash = linesOf(entries, null).filter(([, line]) => String(line).startsWith("1 "))
        return [...cash.slice(1), gains(entries), balanceOf(state, 1), balanceOf(state, "fx_realized")]
      }
      // September cannot know the return in October: the conversion was whole at 75.00 then, and goes back at that.
      expect(of("2026-10-01", "three")).toEqual([
        ["2026-09-30", "1 7500", "15 -7500"],
        ["2026-10-01", "1 -7500", "15 7500"],
        [],
        90_000n,
        0n,
      ])
      // In a month in which all of it went back there was no price: the day's rate counts, and its gain is reversed.
      const atRate = [
        ["2026-09-30", "1 8000", "15 -8000"],
        [expect.any(String), "1 -8000", "15 8000"],
        [expect.stringMatching(/ 500$/), expect.stringMatching(/ -500$/)],
        90_000n,
        0n,
      ]
      expect(of("2026-10-01", "whole")).toEqual(atRate)
      expect(of("2026-09-30", "three")).toEqual(atRate)
    },
  )

  it("on the day on which it was whole gives the same, although its cash precedes both entries", () => {
    const [one, other, sold, bought, all, ...back] = cancelled([
      "2026-09-20",
      "2026-09-20",
      "2026-09-20",
      "2026-09-20",
    ])
    const [soldBack, boughtBack, reversal] = back
    const order = [one, other, sold, soldBack, bought, boughtBack, all, reversal].flatMap(
      (each) => each ?? [],
    )
    const { entries, state } = valued({ method: "average", rates: at, entries: order }, false)
    expect(gains(entries)).toEqual(["2026-09-20 11425", "2026-09-20 -11425"])
    expect([1, 2, 15, 16].map((of) => balanceOf(state, of))).toEqual([169_575n, 0n, 0n, 0n])
    expect(state.conversions.size).toBe(0)
  })

  it("realizes the change in value of its bought cash, where the account no longer holds that much", () => {
    const usdtAt = (currency: string, date: string) =>
      currency === "USDT" && date > "2026-10-01" ? "0.95" : "0.80"
    const { entries, state } = valued({
      method: "average",
      rates: usdtAt,
      entries: [
        leg("c1", "2026-09-20", usdt, tether(100n)),
        entry("2026-09-21", [
          [withdrawalsUsd, 1n],
          [usd, -1n],
        ]),
        leg("c9", "2026-09-22", usdt, -tether(100n)),
        leg("c8", "2026-10-02", usdt, tether(100n)),
        leg("c1", "2026-10-03", usdt, -tether(100n), 0n, returned),
      ],
    })
    // The cash that is left cost 95.00; the bought cash came in at 80.00.
    expect(linesOf(entries, "fx_settlement")).toEqual([["2026-10-31", "16 -1500", "fx_realized 1500"]])
    expect(balanceOf(state, 2)).toBe(0n)
  })
})

describe("a fee of a conversion that is learned later", () => {
  const start = [
    deposit("2026-09-01", 100_000n),
    leg("c1", "2026-09-20", usd, -100_000n),
    leg("c1", "2026-09-20", usdt, tether(1_000n)),
    whole("c1", "2026-09-20", [usd, 100_000n], [usdt, tether(1_000n)]),
  ]
  const fee = (date: string) => [
    entry(
      date,
      [
        [feesUsd, 500n],
        [transitUsd, -500n],
      ],
      { kind: "reclassification", resourceId: "c1", partner: "p1" },
    ),
    (({ lines, ...rest }) => ({ ...rest, lines: lines.slice(0, 2) }))({
      ...whole("c1", date, [usd, 500n], [usdt, 0n], "conversion_reversal"),
      kind: "reclassification",
    }),
  ]

  it.each(["2026-09-20", "2026-10-05"])(
    "goes from the gain to the fees at the side's cost, nothing else: %s",
    (date) => {
      const { entries, state } = valued(
        { method: "average", rates: () => "0.90", entries: [...start, ...fee(date)] },
        false,
      )
      expect(linesOf(entries, null).slice(4)).toEqual([
        [date, "9 450", "15 -450"],
        [date, "6 -450", "15 450", "6 450", "fx_realized -450"],
      ])
      expect([balanceOf(state, 15), balanceOf(state, 6), state.conversions.size]).toEqual([0n, 0n, 0])
    },
  )
})

describe("a leg that was not known at first", () => {
  it("keeps the cost at which it left", () => {
    const { entries, state } = valued(
      {
        method: "average",
        rates: { ...rates, "USDT 2026-10-30": "0.8955" },
        entries: [
          deposit("2026-09-01", 100_000n),
          entry(
            "2026-10-30",
            [
              [suspenseUsd, 100_000n],
              [usd, -100_000n],
            ],
            { kind: "unidentified", resourceId: "c1" },
          ),
          entry(
            "2026-10-30",
            [
              [transitUsd, 99_500n],
              [feesUsd, 500n],
              [suspenseUsd, -100_000n],
            ],
            { kind: "reclassification", resourceId: "c1", partner: "p1" },
          ),
          leg("c1", "2026-10-30", usdt, tether(1_000n)),
          whole("c1", "2026-10-30", [usd, 99_500n], [usdt, tether(1_000n)]),
        ],
      },
      false,
    )
    // 995 USD that cost 895.50 for 1,000 USDT that are worth as much.
    expect(gains(entries)).toEqual([])
    expect([13, 15, 16].map((of) => balanceOf(state, of))).toEqual([0n, 0n, 0n])
  })

  it("and turns out to be none takes its carrying amount along when a person moves it elsewhere", () => {
    const { entries, state } = valued(
      {
        method: "average",
        rates,
        entries: [
          deposit("2026-09-01", 100_000n),
          leg("c1", "2026-09-20", usd, -100_000n),
          entry(
            "2026-09-25",
            [
              [withdrawalsUsd, 100_000n],
              [transitUsd, -100_000n],
            ],
            { kind: "reclassification", resourceId: "c1", partner: "p1" },
          ),
        ],
      },
      false,
    )
    expect(linesOf(entries, null).at(-1)).toEqual(["2026-09-25", "5 90000", "15 -90000"])
    expect([balanceOf(state, 15), state.conversions.size]).toEqual([0n, 0])
  })
})
