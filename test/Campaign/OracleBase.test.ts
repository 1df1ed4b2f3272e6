import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { BaseSettings, NativeEntryFact } from "./Facts.ts"
import { amountOf, centsOf, fraction, textOf, textOfCents, total } from "./Oracle/Decimal.ts"
import { told } from "./Oracle/Histories.ts"
import { expectedBase, expectedBaseAt } from "./Oracle.ts"

const settings = (method: "average" | "fifo", rates: Record<string, string>): BaseSettings => ({
  baseCurrency: "EUR",
  method,
  monetaryRoles: ["cash", "conversions_in_transit", "loan_clearing", "receivable_principal"],
  rates: new Map(Object.entries(rates).map(([key, rate]) => [key.replace(" ", "|2026-"), rate])),
  through: "2026-10",
})

/** `entry("10-01", "cash USD 995", "fees USD 5", …)`; a conversion's entries are all of conversion `c`. */
const entry = (day: string, ...lines: ReadonlyArray<string>): NativeEntryFact => ({
  number: 0,
  date: `2026-${day}`,
  kind: "",
  conversionId: lines.some((line) => line.startsWith("conversions_in_transit")) ? "c" : null,
  movementId: lines.some((line) => line.includes("s_clearing ")) ? "m" : null,
  lines: lines.map((line) => {
    const [role = "", currency = "", amount = ""] = line.split(" ")
    return { role, currency, accountId: role === "cash" ? currency : null, code: null, amount }
  }),
})

const deposit = (day: string, amount: string, currency = "USD") =>
  entry(day, `cash ${currency} ${amount}`, `deposits_clearing ${currency} -${amount}`)

const of = (movementId: string, fact: NativeEntryFact): NativeEntryFact => ({ ...fact, movementId })

const rates = {
  "USD 10-01": "0.9",
  "USD 10-05": "0.8",
  "USD 10-10": "0.5",
  "USD 10-31": "0.7",
  "USDT 10-11": "0.92",
}
const soldAndBought = [
  entry("10-06", "cash USD -1000", "fees USD 5", "conversions_in_transit USD 995"),
  entry("10-11", "cash USDT 994.2031", "conversions_in_transit USDT -994.2031"),
]
const whole = entry(
  "10-11",
  "trading USD 995",
  "conversions_in_transit USD -995",
  "conversions_in_transit USDT 994.2031",
  "trading USDT -994.2031",
)
const reversed: NativeEntryFact = {
  ...whole,
  date: "2026-10-12",
  lines: whole.lines.map((line) => ({ ...line, amount: textOf(-amountOf(line.amount)) })),
}

describe("the base-currency journal", () => {
  const bought = [deposit("10-01", "1000"), deposit("10-05", "1000"), ...soldAndBought, whole]

  it("average: 1000 of 2000 that cost 1700 leave at 850; the conversion gains 914.67 − 845.75", () => {
    expect(told(expectedBase(bought, settings("average", rates)))).toEqual({
      "cash:USD": "850.00",
      "cash:USDT": "914.67",
      "deposits_clearing:USD": "-1700.00",
      "fees:USD": "4.25",
      "fx_realized:EUR": "-68.92",
    })
  })

  it("FIFO: the first 1000 leave at 900; the conversion gains 914.67 − 895.50", () => {
    expect(told(expectedBase(bought, settings("fifo", rates)))).toEqual({
      "cash:USD": "800.00",
      "cash:USDT": "914.67",
      "deposits_clearing:USD": "-1700.00",
      "fees:USD": "4.50",
      "fx_realized:EUR": "-19.17",
    })
  })

  it("in transit until it is whole: it keeps its cost, and nothing is realized", () => {
    const books = told(expectedBase(bought.slice(0, 4), settings("average", rates)))
    expect(books["conversions_in_transit:USD"]).toBe("845.75")
    expect(books["conversions_in_transit:USDT"]).toBe("-914.67")
    expect(books).not.toHaveProperty("fx_realized:EUR")
  })

  it.each(["average", "fifo"] as const)("%s: cancelled after one leg or both keeps its cost", (method) => {
    const before = { "cash:USD": "900.00", "deposits_clearing:USD": "-900.00" }
    const back = entry("10-10", "cash USD 1000", "fees USD -5", "conversions_in_transit USD -995")
    const oneLeg = [deposit("10-01", "1000"), ...soldAndBought.slice(0, 1), back]
    expect(told(expectedBase(oneLeg, settings(method, rates)))).toEqual(before)
    const pulled = entry("10-12", "cash USDT -994.2031", "conversions_in_transit USDT 994.2031")
    const both = [
      deposit("10-01", "1000"),
      ...soldAndBought,
      whole,
      { ...back, date: "2026-10-12" },
      pulled,
      reversed,
    ]
    expect(told(expectedBase(both, settings(method, rates)))).toEqual(before)
  })

  it("buying the base currency gains its face value less the cost", () => {
    const entries = [
      deposit("10-01", "1000"),
      entry("10-06", "cash USD -1000", "conversions_in_transit USD 1000"),
      entry("10-07", "cash EUR 920", "conversions_in_transit EUR -920"),
      entry(
        "10-07",
        "trading USD 1000",
        "conversions_in_transit USD -1000",
        "conversions_in_transit EUR 920",
        "trading EUR -920",
      ),
    ]
    expect(told(expectedBase(entries, settings("average", rates)))).toEqual({
      "cash:EUR": "920.00",
      "deposits_clearing:USD": "-900.00",
      "fx_realized:EUR": "-20.00",
    })
  })

  it("the lines of an entry that leaves are at the exact unit cost, however small the first", () => {
    const entries = [
      deposit("10-01", "1000"),
      entry("10-06", "withdrawals_clearing USD 0.02", "fees USD 150", "cash USD -150.02"),
    ]
    // 150.02 × 0.9 = 135.018 → 135.02; 0.018 → 0.02; 135.00
    expect(told(expectedBase(entries, settings("average", rates)))).toEqual({
      "cash:USD": "764.98",
      "deposits_clearing:USD": "-900.00",
      "fees:USD": "135.00",
      "withdrawals_clearing:USD": "0.02",
    })
  })

  it("the remainder of rounding goes to its own account", () => {
    // 3 × 0.335 = 1.005 → 1.00 (half to even); 2 × 0.335 = 0.67; 1 × 0.335 = 0.335 → 0.34
    const entries = [entry("10-01", "cash USD 2", "fees USD 1", "deposits_clearing USD -3")]
    expect(told(expectedBase(entries, settings("average", { "USD 10-01": "0.335" })))).toEqual({
      "cash:USD": "0.67",
      "deposits_clearing:USD": "-1.00",
      "fees:USD": "0.34",
      "rounding:EUR": "-0.01",
    })
  })

  it("a withdrawal that comes back has the cost at which it left", () => {
    const entries = [
      deposit("10-01", "1000"),
      entry("10-06", "withdrawals_clearing USD 995", "fees USD 5", "cash USD -1000"),
      entry("10-10", "cash USD 995", "withdrawals_clearing USD -995"),
    ]
    expect(told(expectedBase(entries, settings("fifo", rates)))).toEqual({
      "cash:USD": "895.50",
      "deposits_clearing:USD": "-900.00",
      "fees:USD": "4.50",
    })
  })

  it("FIFO: a returned deposit takes the newest lots, at its carrying amount in clearing", () => {
    const entries = [
      of("d1", deposit("10-01", "1000")),
      of("d2", deposit("10-05", "1000")),
      of("d1", entry("10-06", "cash USD -1000", "deposits_clearing USD 1000")),
      of("w", entry("10-10", "withdrawals_clearing USD 500", "cash USD -500")),
    ]
    // 1,700 less 900: the remaining lot bears the difference between the newest lot's cost and the return.
    expect(told(expectedBase(entries, settings("fifo", rates)))).toEqual({
      "cash:USD": "400.00",
      "deposits_clearing:USD": "-800.00",
      "withdrawals_clearing:USD": "400.00",
    })
  })

  it("half of a deposit goes back at its own carrying amount per unit, whatever the average is", () => {
    const entries = [
      of("d1", deposit("10-01", "1000")),
      of("d2", deposit("10-05", "1000")),
      of("d2", entry("10-06", "cash USD -500", "deposits_clearing USD 500")),
    ]
    expect(told(expectedBase(entries, settings("average", rates)))).toEqual({
      "cash:USD": "1300.00",
      "deposits_clearing:USD": "-1300.00",
    })
  })

  it("after a cancelled conversion nothing more goes back at its cost", () => {
    const pulled = entry("10-12", "cash USDT -994.2031", "conversions_in_transit USDT 994.2031")
    const back = entry("10-12", "cash USD 1000", "fees USD -5", "conversions_in_transit USD -995")
    const before = [deposit("10-01", "1000"), deposit("10-01", "100", "USDT"), ...soldAndBought, whole]
    const late = entry("10-13", "cash USDT -50", "conversions_in_transit USDT 50")
    const of = settings("average", { ...rates, "USDT 10-01": "0.5" })
    const books = told(expectedBase([...before, pulled, back, reversed, late], of))
    expect(books["cash:USDT"]).toBe("25.00")
    expect(books["conversions_in_transit:USDT"]).toBe("25.00")
  })

  it("a loan repaid at another rate realizes the difference", () => {
    const entries = [
      deposit("10-01", "1000"),
      entry("10-06", "loan_clearing USD 1000", "cash USD -1000"),
      entry("10-06", "receivable_principal USD 1000", "loan_clearing USD -1000"),
      entry("10-10", "cash USD 1000", "loan_clearing USD -1000"),
      entry("10-10", "loan_clearing USD 1000", "receivable_principal USD -1000"),
    ]
    expect(told(expectedBase(entries, settings("average", rates)))).toEqual({
      "cash:USD": "500.00",
      "deposits_clearing:USD": "-900.00",
      "fx_realized:EUR": "400.00",
    })
  })

  it("a rest in base at a native balance of zero is realized", () => {
    const entries = [
      entry("10-01", "cash USD 100", "suspense USD -100"),
      deposit("10-05", "100"),
      entry("10-10", "cash USD -100", "suspense USD 100"),
    ]
    // the adjustment came at 90 and leaves at the average of 85
    const books = told(expectedBase(entries, settings("average", rates)))
    expect(books["fx_realized:EUR"]).toBe("-5.00")
    expect(books).not.toHaveProperty("suspense:USD")
  })

  it("revalues monetary roles at a month's end and reverses that the day after", () => {
    const entries = [deposit("10-01", "1000")]
    const of = settings("average", rates)
    expect(told(expectedBaseAt(entries, of, "2026-10-31"))).toEqual({
      "cash:USD": "700.00",
      "deposits_clearing:USD": "-900.00",
      "fx_unrealized:EUR": "200.00",
    })
    for (const day of ["2026-10-30", "2026-11-01", "2026-11-30", null])
      expect(told(expectedBaseAt(entries, of, day))["cash:USD"]).toBe("900.00")
  })

  it("rounds half to even", () => {
    const cents = (thousandths: bigint) => textOfCents(centsOf(fraction(thousandths, 1000n)))
    expect([5n, 15n, 25n, -5n, -15n, 16n, 14n].map(cents)).toEqual([
      "0.00",
      "0.02",
      "0.02",
      "0.00",
      "-0.02",
      "0.02",
      "0.01",
    ])
  })
})

describe("whatever is booked", () => {
  const days = ["10-01", "10-05", "10-10", "10-31", "11-02"]
  const roles = [
    "deposits_clearing",
    "withdrawals_clearing",
    "suspense",
    "loan_clearing",
    "conversions_in_transit",
    "opening_balance",
  ]
  const currency = fc.constantFrom("USD", "USDT", "EUR")
  const amount = fc.integer({ min: -300_000, max: 300_000 }).filter((value) => value !== 0)
  const text = (cents: number) => textOfCents(BigInt(cents))
  const ofCash = fc
    .tuple(
      fc.constantFrom(...days),
      currency,
      amount,
      fc.constantFrom(...roles),
      fc.integer({ min: 0, max: 900 }),
    )
    .map(([day, of, cash, role, fee]) =>
      entry(day, `cash ${of} ${text(cash)}`, `fees ${of} ${text(fee)}`, `${role} ${of} ${text(-cash - fee)}`),
    )
  const move = fc
    .tuple(fc.constantFrom(...days), currency, amount, fc.constantFrom(...roles), fc.constantFrom(...roles))
    .map(([day, of, moved, from, to]) =>
      entry(day, `${to} ${of} ${text(moved)}`, `${from} ${of} ${text(-moved)}`),
    )
  const exchange = fc.tuple(fc.constantFrom(...days), amount, amount).map(([day, a, b]) => {
    const [sold, bought] = [text(Math.abs(a)), text(Math.abs(b))]
    return entry(
      day,
      `trading USD ${sold}`,
      `conversions_in_transit USD -${sold}`,
      `conversions_in_transit USDT ${bought}`,
      `trading USDT -${bought}`,
    )
  })
  const journal = fc
    .array(fc.oneof({ arbitrary: ofCash, weight: 4 }, move, exchange), { maxLength: 12 })
    .map((entries) => [...entries].sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0)))
  const all = Object.fromEntries(
    days.flatMap((day, index) => [
      [`USD ${day}`, `0.${9137 - index * 251}`],
      [`USDT ${day}`, `0.${8713 + index * 333}`],
    ]),
  )

  it.each(["average", "fifo"] as const)("%s: the base journal balances on every day", (method) => {
    fc.assert(
      fc.property(journal, (entries) => {
        for (const day of ["2026-10-05", "2026-10-31", null]) {
          const books = expectedBaseAt(entries, settings(method, all), day)
          expect(total(books.map(({ balance }) => amountOf(balance)))).toBe(0n)
        }
      }),
      { numRuns: 500 },
    )
  })

  it("average and FIFO agree where one rate holds", () => {
    const flat = Object.fromEntries(Object.keys(all).map((key) => [key, "0.5"]))
    const even = journal.map((entries) =>
      entries.filter(({ lines }) => lines.every(({ amount: of }) => /[02468]$/.test(of))),
    )
    fc.assert(
      fc.property(even, (entries) => {
        expect(expectedBase(entries, settings("fifo", flat))).toEqual(
          expectedBase(entries, settings("average", flat)),
        )
      }),
      { numRuns: 500 },
    )
  })
})
