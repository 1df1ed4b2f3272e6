/** Worked examples, calculated by hand. Base currency EUR; amounts of the journal are cents. */
import { describe, expect, it } from "vitest"
import { emptyHolding, enter, leave } from "../../src/Valuation/Cost/Holding.ts"
import { remaining } from "../../src/Valuation/Cost/Lots.ts"
import { natureOf } from "../../src/Valuation/Natives.ts"
import { halfEven, rounded } from "../../src/Valuation/Rates/Rate.ts"
import {
  balanceOf,
  depositsUsd,
  entry,
  eur,
  feesUsd,
  holdingOf,
  interestUsd,
  leg,
  linesOf,
  loanUsd,
  monetaryRoles,
  openingUsd,
  receivableUsd,
  suspenseUsd,
  usd,
  valued,
  whole,
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
  it("costs the average: 500 × 1,700 / 2,000 = 425, so that 450 give a gain of 25 in the entry of the whole conversion", () => {
    const { entries, state } = valued({ method: "average", rates, entries: twoDeposits }, false)
    expect(linesOf(entries, null)).toEqual([
      ["2026-09-01", "1 90000", "4 -90000"],
      ["2026-09-10", "1 80000", "4 -80000"],
      ["2026-09-20", "1 -42500", "15 42500"],
      ["2026-09-20", "3 45000", "17 -45000"],
      // Trading and transit as in the native entry, then trading cleared, and the gain.
      [
        ...["2026-09-20", "6 42500", "15 -42500", "8 -45000", "17 45000"],
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

  it("are one for amounts that came in on one day at one rate, and two otherwise", () => {
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

  it("take time in proportion to their number", () => {
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

describe("a movement that is no conversion", () => {
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

  it("crosses zero in two parts: the holding at cost, the rest at the day's rate", () => {
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

  it("revalues cash, and reverses that on the first of the next month", () => {
    const { entries, state } = valued({ method: "average", rates: { ...rates, ...ends }, entries: two })
    // The deposit's clearing account is not: its other half stands in the accounting system.
    expect(linesOf(entries, "fx_revaluation")).toEqual([["2026-09-30", "1 5000", "fx_unrealized -5000"]])
    expect(linesOf(entries, "fx_reversal")).toEqual([["2026-10-01", "1 -5000", "fx_unrealized 5000"]])
    expect([...state.balances.values()].every((minor) => minor === 0n)).toBe(true)
  })

  it("revalues an account that becomes money by its name from its carrying amount", () => {
    const { entries, state } = valued({
      method: "average",
      rates: (_, date) => (date === "2026-10-31" ? "0.95" : "0.90"),
      entries: [deposit("2026-09-01", 100_000n)],
      renamed: (month, of) => ({
        ...of,
        ...natureOf(of.role, month > "2026-09" ? "Assets" : "Expenses", of === depositsUsd, monetaryRoles),
      }),
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
    ).toEqual(["2026-09-30 1 null", "2026-10-01 1 1"])
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

  it("moves the carrying amount of an account that holds nothing to the realized gain", () => {
    // The oldest 1,000 USD went back: 700 against the 900 that the clearing account was credited with.
    const { entries, state } = returned("0.70", "0.90", 100_000n)
    expect(linesOf(entries, "fx_settlement")).toEqual([["2026-09-30", "4 20000", "fx_realized -20000"]])
    expect(balanceOf(state, 4)).toBe(0n)
  })

  it("moves a single cent there, too", () => {
    const { entries } = returned("0.33", "0.34", 100n)
    expect(linesOf(entries, "fx_settlement")).toEqual([["2026-09-30", "4 1", "fx_realized -1"]])
  })

  it("revalues loans with their interest and what is in transit, and no clearing or suspense", () => {
    const { entries } = valued({
      method: "average",
      rates: (_, date) => (date < "2026-09-30" ? "0.90" : "0.95"),
      entries: [
        deposit("2026-09-01", 100_000n),
        leg("c1", "2026-09-02", usd, -20_000n),
        entry("2026-09-03", [
          [suspenseUsd, 10_000n],
          [usd, -10_000n],
        ]),
        entry("2026-09-04", [
          [receivableUsd, 50_000n],
          [loanUsd, -50_000n],
        ]),
        entry("2026-09-05", [
          [interestUsd, 1_000n],
          [feesUsd, -1_000n],
        ]),
      ],
    })
    expect(
      linesOf(entries, "fx_revaluation")
        .filter(([date]) => date === "2026-09-30")
        .map(([, line]) => line),
    ).toEqual(["1 3500", "15 1000", "18 2500", "19 50", "20 -2500"])
  })
})

describe("rounding", () => {
  it("takes the remainder of the lines, at most half a cent for each", () => {
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

  it("applies to each line by itself: no line depends on the rounded cents of another", () => {
    // 1,000 USD overdrawn at 0.925. Of 2,000.02 that come in, 2,000 are a fee: 1,850, not 2,000 × 0.02 / 0.02.
    const { entries } = valued(
      {
        method: "average",
        rates: () => "0.925",
        entries: [
          entry("2026-09-01", [
            [withdrawalsUsd, 100_000n],
            [usd, -100_000n],
          ]),
          entry("2026-09-02", [
            [usd, 2n],
            [feesUsd, 200_000n],
            [depositsUsd, -200_002n],
          ]),
        ],
      },
      false,
    )
    // 0.0185, 1,850 and 1,850.0185.
    expect(linesOf(entries, null)[1]).toEqual(["2026-09-02", "1 2", "9 185000", "4 -185002"])
  })

  it("keeps the exact unit cost of several lots, of which one is cut", () => {
    const { entries, state } = valued(
      {
        method: "fifo",
        rates: { "USD 2026-09-01": "0.9", "USD 2026-09-02": "0.7" },
        entries: [
          deposit("2026-09-01", 101n),
          deposit("2026-09-02", 101n),
          entry("2026-09-03", [
            [withdrawalsUsd, 100n],
            [feesUsd, 50n],
            [usd, -150n],
          ]),
        ],
      },
      false,
    )
    // 1.01 cost 0.91 (0.909) and 0.71 (0.707). 1.50: 0.91 + 0.71 × 49 / 101 = 1.254455…, that is 0.836303… for each.
    expect(linesOf(entries, null)[2]).toEqual(["2026-09-03", "5 84", "9 42", "1 -125", "rounding -1"])
    expect(holdingOf(state, usd).lots).toEqual(["52 for 3692/101"])
  })
})

describe("the line that decides the unit value", () => {
  it("is the largest of several balances that move towards zero: the others follow, and settle at the month's end", () => {
    const { entries, state } = valued({
      method: "average",
      rates: (_, date) => (date <= "2026-09-01" ? "0.90" : "0.80"),
      entries: [
        entry("2026-09-01", [
          [receivableUsd, 100_000n],
          [loanUsd, -100_000n],
        ]),
        entry("2026-09-02", [
          [interestUsd, 2_500n],
          [feesUsd, -2_500n],
        ]),
        // Its cash: 1,025 at what `loan_clearing` carries. The rest is what principal and interest were worth.
        entry("2026-09-03", [
          [loanUsd, 102_500n],
          [interestUsd, -2_500n],
          [receivableUsd, -100_000n],
        ]),
      ],
    })
    // Loan clearing: 1,000 at 0.90 and 25 beyond zero at 0.80, that is 920.00, or 920 / 1,025 for each.
    expect(linesOf(entries, null)[2]).toEqual(["2026-09-03", "20 92000", "19 -2244", "18 -89756"])
    // Interest was worth 20.00, principal 900.00.
    expect(linesOf(entries, "fx_settlement")).toEqual([["2026-09-30", "18 -244", "19 244"]])
    expect(balanceOf(state, "fx_realized")).toBe(0n)
  })
})

describe("a monetary account", () => {
  const nature = (role: string, name: string, isRule = false) => {
    const { held, monetary } = natureOf(role, name, isRule, monetaryRoles)
    return `${held ? "held" : "flows"}${monetary ? ", monetary" : ""}`
  }

  it("has a role that the settings list, unless the chart makes it an expense, income or equity", () => {
    expect(nature("cash", "Assets:Partner:USD")).toBe("held, monetary")
    expect(nature("conversions_in_transit", "Transit")).toBe("held, monetary")
    expect(nature("deferred_interest", "Liabilities:Deferred-Interest:USD")).toBe("held, monetary")
    expect(nature("withdrawals_clearing", "Assets:Clearing:Withdrawals:USD")).toBe("held")
    expect(nature("suspense", "unsorted things")).toBe("held")
    expect(nature("loan_clearing", "Expenses:Loans")).toBe("flows")
    expect(nature("fees", "Expenses:Fees:USD")).toBe("flows")
    expect(nature("trading", "Equity:Trading:USD")).toBe("flows")
    expect(natureOf("suspense", "Assets:Suspense", false, ["cash", "suspense"]).monetary).toBe(true)
    expect(natureOf("receivable_principal", "Assets:Loans", false, ["cash"]).monetary).toBe(false)
  })

  it("is decided by its name where a rule or a person named it", () => {
    expect(nature("other", "Assets:Treasury")).toBe("held, monetary")
    expect(nature("other", "Liabilities:Customers")).toBe("held, monetary")
    expect(nature("other", "4120")).toBe("flows")
    expect(nature("other", "Expenses:Payroll")).toBe("flows")
    expect(nature("withdrawals_clearing", "Assets:Treasury", true)).toBe("held, monetary")
    expect(nature("withdrawals_clearing", "Payroll", true)).toBe("flows")
  })
})

describe("cash bought for an overdrawn account", () => {
  it("covers what was overdrawn at its cost, and comes in at the price paid beyond that", () => {
    const { entries, state } = valued(
      {
        method: "average",
        rates: { "USD 2026-09-01": "0.90", "USD 2026-09-10": "0.50" },
        entries: [
          entry("2026-09-01", [
            [usd, -50_000n],
            [withdrawalsUsd, 50_000n],
          ]),
          leg("c1", "2026-09-10", eur, -80_000n),
          leg("c1", "2026-09-10", usd, 100_000n),
          whole("c1", "2026-09-10", [eur, 80_000n], [usd, 100_000n]),
        ],
      },
      false,
    )
    // 500 at 0.90 and 500 at 0.80.
    expect(linesOf(entries, null)[2]).toEqual(["2026-09-10", "1 85000", "15 -85000"])
    expect(holdingOf(state, usd)).toMatchObject({ native: 50_000n, carrying: 40_000n })
    expect(balanceOf(state, "fx_realized")).toBe(-5_000n)
  })
})
