import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { BookFacts, ResourceFact } from "./Facts.ts"
import { amountOf, total } from "./Oracle/Decimal.ts"
import {
  book,
  conversion,
  deposit,
  type Move,
  receivable,
  statement,
  told,
  type Version,
  withdrawal,
} from "./Oracle/Histories.ts"
import { expectedLoanClearing, expectedNative, expectedOpenConversions } from "./Oracle.ts"

/** Marks entries as booked with their final content. */
const bookedAs = (subject: string, ...ids: ReadonlyArray<string>) => new Map(ids.map((id) => [id, subject]))

const native = (facts: BookFacts) => told(expectedNative(facts))

describe("the posting table, row by row", () => {
  const one = (moves: ReadonlyArray<Move>, resource: ResourceFact, settings = {}) =>
    native(book([statement("usd", "USD", moves)], { resources: [resource], settings }))

  const d = "DEPOSIT d"
  it.each([
    ["fee netted", [["995", d]], { "cash:USD": "995", "deposits_clearing:USD": "-1000", "fees:USD": "5" }],
    [
      "fee separate",
      [
        ["1000", d],
        ["-5", d],
      ],
      { "cash:USD": "995", "deposits_clearing:USD": "-1000", "fees:USD": "5" },
    ],
    [
      "fee before the amount",
      [
        ["-5", d],
        ["1000", d],
      ],
      { "cash:USD": "995", "deposits_clearing:USD": "-1000", "fees:USD": "5" },
    ],
    ["fee stated, never shown", [["1000", d]], { "cash:USD": "1000", "deposits_clearing:USD": "-1000" }],
    [
      "fee given back",
      [
        ["995", d],
        ["5", d],
      ],
      { "cash:USD": "1000", "deposits_clearing:USD": "-1000" },
    ],
    [
      "returned with the fee",
      [
        ["995", d],
        ["-995", d],
      ],
      {},
    ],
    [
      "returned, fee kept",
      [
        ["995", d],
        ["-1000", d],
      ],
      { "cash:USD": "-5", "fees:USD": "5" },
    ],
    [
      "a part returned",
      [
        ["995", d],
        ["-200", d],
      ],
      { "cash:USD": "795", "deposits_clearing:USD": "-800", "fees:USD": "5" },
    ],
  ] satisfies ReadonlyArray<[string, ReadonlyArray<Move>, Record<string, string>]>)(
    "deposit of 1000, fee 5: %s",
    (_, moves, expected) => {
      expect(one(moves, deposit("d", "1000", "5"))).toEqual(expected)
    },
  )

  const w = "WITHDRAWAL w"
  const gone = { "cash:USD": "-1000", "fees:USD": "5", "withdrawals_clearing:USD": "995" }
  const onTop = { "cash:USD": "-1005", "fees:USD": "5", "withdrawals_clearing:USD": "1000" }
  const feeless = { "cash:USD": "-1000", "withdrawals_clearing:USD": "1000" }
  const none = { flatWithdrawalFee: "none" }
  it.each([
    ["money form", "inside", "money", [["-1000", w]], gone, none],
    ["flat form, inside", "inside", "flat", [["-1000", w]], gone, {}],
    ["flat form, none", "no fee shown", "flat", [["-1000", w]], feeless, none],
    ["flat form", "on top", "flat", [["-1005", w]], onTop, {}],
    [
      "flat form",
      "separate",
      "flat",
      [
        ["-1000", w],
        ["-5", w],
      ],
      onTop,
      none,
    ],
    [
      "money form",
      "amount − fee, fee",
      "money",
      [
        ["-995", w],
        ["-5", w],
      ],
      gone,
      {},
    ],
    [
      "flat form, none",
      "amount − fee, fee",
      "flat",
      [
        ["-995", w],
        ["-5", w],
      ],
      gone,
      none,
    ],
    [
      "flat form",
      "on top and given back",
      "flat",
      [
        ["-1005", w],
        ["5", w],
      ],
      feeless,
      {},
    ],
    [
      "flat form",
      "returned, fee kept",
      "flat",
      [
        ["-1005", w],
        ["1000", w],
      ],
      { "cash:USD": "-5", "fees:USD": "5" },
      {},
    ],
    [
      "money form",
      "returned, fee kept",
      "money",
      [
        ["-1000", w],
        ["995", w],
      ],
      { "cash:USD": "-5", "fees:USD": "5" },
      {},
    ],
    [
      "flat form",
      "returned with the fee",
      "flat",
      [
        ["-1005", w],
        ["1005", w],
      ],
      {},
      {},
    ],
  ] satisfies ReadonlyArray<
    [string, string, "money" | "flat", ReadonlyArray<Move>, Record<string, string>, object]
  >)("withdrawal of 1000, fee 5: %s, %s", (_, __, form, moves, expected, settings) => {
    expect(one(moves, withdrawal("w", form, "1000", "5"), settings)).toEqual(expected)
  })

  it("a flat withdrawal that is not completed has no fee inside", () => {
    expect(one([["-1000", w]], withdrawal("w", "flat", "1000", "5", "PENDING"))).toEqual(feeless)
  })

  it("payout, its return, adjustment, missing resource, zero and opening balance", () => {
    const moves: ReadonlyArray<Move> = [
      ["0", null],
      ["-30", "PAYOUT p"],
      ["10", "PAYOUT p"],
      ["7", null],
      ["-2", "DEPOSIT unknown"],
    ]
    expect(native(book([statement("usd", "USD", moves, "100")]))).toEqual({
      "cash:USD": "85",
      "opening_balance:USD": "-100",
      "payouts_clearing:USD": "20",
      "suspense:USD": "-5",
    })
  })

  it("a line that a person moved stands at the code; its fee stays", () => {
    const facts = book(
      [
        statement("usd", "USD", [
          ["995", d],
          ["50", null],
        ]),
      ],
      {
        resources: [deposit("d", "1000", "5")],
        reclassified: [
          { entryId: "usd-1", code: "4000" },
          { entryId: "usd-2", code: "4000" },
        ],
      },
    )
    expect(native(facts)).toEqual({ "cash:USD": "1045", "fees:USD": "5", "other:USD:4000": "-1050" })
  })

  it("a later return of a movement that a person moved comes from its new account, and earlier entries stay", () => {
    const facts = book(
      [
        statement("usd", "USD", [
          ["1000", d],
          ["-400", d],
          ["-700", d],
        ]),
      ],
      {
        resources: [deposit("d", "1000")],
        reclassified: [{ entryId: "usd-1", code: "4000", booked: bookedAs(d, "usd-1", "usd-2") }],
      },
    )
    // −1000 + 700 at the code; the 400 that were there before stay in clearing.
    expect(native(facts)).toEqual({
      "cash:USD": "-100",
      "deposits_clearing:USD": "400",
      "other:USD:4000": "-300",
    })
  })

  it("a fee with an entry of its own does not depend on the rules of its day", () => {
    const w = "WITHDRAWAL w"
    const moves: ReadonlyArray<Move> = [
      ["-1000", w],
      ["-5", w],
    ]
    const facts: BookFacts = {
      ...book([statement("usd", "USD", moves)], { resources: [withdrawal("w", "flat", "1000", "5")] }),
      ruled: [{ rules: [], booked: bookedAs(w, "usd-1"), applied: null }],
      rules: [{ match: { direction: "DEBIT" }, code: "4711" }],
    }
    expect(native(facts)).toEqual({
      "cash:USD": "-1005",
      "fees:USD": "5",
      "withdrawals_clearing:USD": "1000",
    })
  })

  it("nor does one between two parts of its deposit: each part stays where the rules of its day sent it", () => {
    const facts: BookFacts = {
      ...book(
        [
          statement("usd", "USD", [
            ["600", d],
            ["-5", d],
            ["400", d],
          ]),
        ],
        { resources: [deposit("d", "1000", "5")] },
      ),
      ruled: [{ rules: [{ match: {}, code: "4711" }], booked: bookedAs(d, "usd-1"), applied: null }],
      rules: [{ match: {}, code: "4712" }],
    }
    expect(native(facts)).toEqual({
      "cash:USD": "995",
      "fees:USD": "5",
      "other:USD:4711": "-600",
      "other:USD:4712": "-400",
    })
  })

  it("refuses facts that do not chain", () => {
    const { entries, ...rest } = statement("usd", "USD", [
      ["1", null],
      ["1", null],
    ])
    const broken = entries.map((entry, index) => (index === 1 ? { ...entry, balanceAfter: "3" } : entry))
    expect(() => native(book([{ ...rest, entries: broken }]))).toThrow(/do not chain at entry usd-2/)
  })
})

describe("conversions", () => {
  const c = "CONVERSION c"
  const toUsdt = conversion("c", "1000 USD", "994.2031 USDT", "5 USD")
  const books = (usd: ReadonlyArray<Move>, usdt: ReadonlyArray<Move>, resource = toUsdt) =>
    book([statement("usd", "USD", usd), statement("usdt", "USDT", usdt)], { resources: [resource] })
  const whole = {
    "cash:USD": "-1000",
    "cash:USDT": "994.2031",
    "fees:USD": "5",
    "trading:USD": "995",
    "trading:USDT": "-994.2031",
  }

  it("one leg stands in transit", () => {
    const facts = books([["-1000", c]], [])
    expect(native(facts)).toEqual({
      "cash:USD": "-1000",
      "fees:USD": "5",
      "conversions_in_transit:USD": "995",
    })
    expect(expectedOpenConversions(facts)).toEqual([{ id: "c", currency: "USD", balance: "995" }])
  })

  it("both legs go to trading, whichever came first", () => {
    expect(native(books([["-1000", c, 1]], [["994.2031", c, 2]]))).toEqual(whole)
    expect(native(books([["-1000", c, 2]], [["994.2031", c, 1]]))).toEqual(whole)
    expect(expectedOpenConversions(books([["-1000", c]], [["994.2031", c]]))).toEqual([])
  })

  it("a fee in the buy currency", () => {
    const resource = conversion("c", "500 USDT", "497 USD", "2.50 USD")
    expect(native(books([["497", c]], [["-500", c]], resource))).toEqual({
      "cash:USD": "497",
      "cash:USDT": "-500",
      "fees:USD": "2.5",
      "trading:USD": "-499.5",
      "trading:USDT": "500",
    })
    expect(native(books([["497", c]], [], resource))["conversions_in_transit:USD"]).toBe("-499.5")
  })

  it("a side in two entries of 370: half a side does not complete it", () => {
    const resource = conversion("c", "740 USD", "700 USDT", "4 USD")
    expect(expectedOpenConversions(books([["-370", c]], [["700", c]], resource))).toEqual([
      { id: "c", currency: "USD", balance: "370" },
      { id: "c", currency: "USDT", balance: "-700" },
    ])
    expect(
      native(
        books(
          [
            ["-370", c, 1],
            ["-370", c, 3],
          ],
          [["700", c, 2]],
          resource,
        ),
      ),
    ).toEqual({
      "cash:USD": "-740",
      "cash:USDT": "700",
      "fees:USD": "4",
      "trading:USD": "736",
      "trading:USDT": "-700",
    })
  })

  it("840 credited, then 100 pulled back", () => {
    const resource = conversion("c", "800 USD", "740 USDT", "0 USD")
    expect(expectedOpenConversions(books([["-800", c]], [["840", c]], resource))).toEqual([
      { id: "c", currency: "USD", balance: "800" },
      { id: "c", currency: "USDT", balance: "-840" },
    ])
    expect(
      native(
        books(
          [["-800", c]],
          [
            ["840", c, 1],
            ["-100", c, 9],
          ],
          resource,
        ),
      ),
    ).toEqual({
      "cash:USD": "-800",
      "cash:USDT": "740",
      "trading:USD": "800",
      "trading:USDT": "-740",
    })
  })

  it("an extra leg after the conversion was whole stands in transit", () => {
    const facts = books(
      [["-1000", c, 1]],
      [
        ["994.2031", c, 2],
        ["10", c, 3],
      ],
    )
    expect(native(facts)).toEqual({
      ...whole,
      "cash:USDT": "1004.2031",
      "conversions_in_transit:USDT": "-10",
    })
  })

  it("cancelled after one leg, with and without the fee", () => {
    expect(
      native(
        books(
          [
            ["-1000", c],
            ["1000", c],
          ],
          [],
        ),
      ),
    ).toEqual({})
    expect(
      native(
        books(
          [
            ["-1000", c],
            ["995", c],
          ],
          [],
        ),
      ),
    ).toEqual({ "cash:USD": "-5", "fees:USD": "5" })
  })

  it("cancelled after both legs: in transit in between, zero at the end", () => {
    const half = books(
      [
        ["-1000", c, 1],
        ["1000", c, 3],
      ],
      [["994.2031", c, 2]],
    )
    expect(expectedOpenConversions(half)).toEqual([{ id: "c", currency: "USD", balance: "-995" }])
    const all = books(
      [
        ["-1000", c, 1],
        ["995", c, 3],
      ],
      [
        ["994.2031", c, 2],
        ["-994.2031", c, 4],
      ],
    )
    expect(native(all)).toEqual({ "cash:USD": "-5", "fees:USD": "5" })
    expect(expectedOpenConversions(all)).toEqual([])
  })

  it("a side outside the book stays open until a person moves it", () => {
    const facts = book([statement("usd", "USD", [["-1000", c]])], { resources: [toUsdt] })
    expect(expectedOpenConversions(facts)).toHaveLength(1)
    const moved = { ...facts, reclassified: [{ entryId: "usd-1", code: "1390" }] }
    expect(native(moved)).toEqual({ "cash:USD": "-1000", "fees:USD": "5", "other:USD:1390": "995" })
    expect(expectedOpenConversions(moved)).toEqual([])
  })

  it("a side that a person moved is not traded: the other one stays open", () => {
    const facts = book(
      [statement("usd", "USD", [["-1000", c]]), statement("usdt", "USDT", [["994.2031", c]])],
      {
        resources: [toUsdt],
        reclassified: [{ entryId: "usd-1", code: "1390" }],
      },
    )
    expect(native(facts)).toEqual({
      "cash:USD": "-1000",
      "cash:USDT": "994.2031",
      "conversions_in_transit:USDT": "-994.2031",
      "fees:USD": "5",
      "other:USD:1390": "995",
    })
    expect(expectedOpenConversions(facts)).toEqual([{ id: "c", currency: "USDT", balance: "-994.2031" }])
  })
})

describe("receivables", () => {
  const d = "DEPOSIT d"
  const paidBy = (amount: string, loans: ReadonlyArray<ReadonlyArray<Version>>, settings = {}) =>
    book([statement("usd", "USD", [[amount, d]])], {
      resources: [deposit("d", amount)],
      receivables: loans.map((versions, index) => receivable(`r${index + 1}`, "1000", versions)),
      settings,
    })
  const active: Version = ["ACTIVE", "1000", "1025"]
  const paid: Version = ["PAID", "0", "0", ["d"]]

  it("disbursed, with stated interest", () => {
    const facts = book([statement("usd", "USD", [["-1000", "WITHDRAWAL w"]])], {
      resources: [withdrawal("w", "flat", "1000", "0")],
      receivables: [receivable("r", "1000", [["PENDING", "1000", "1025"], active], "w")],
    })
    const expected = { "cash:USD": "-1000", "interest_income:USD": "-25", "receivable_interest:USD": "25" }
    expect(native(facts)).toEqual({ ...expected, "receivable_principal:USD": "1000" })
    expect(expectedLoanClearing(facts)).toEqual([])
    const pending = { ...facts, receivables: [receivable("r", "1000", [["PENDING", "1000", "1025"]], "w")] }
    expect(native(pending)).toEqual({ "cash:USD": "-1000", "loan_clearing:USD": "1000" })
  })

  it("two receivables share a deposit of 2050: interest 50, not 2100", () => {
    const facts = paidBy("2050", [
      [active, paid],
      [active, paid],
    ])
    // The disbursements of 2000 are not linked.
    expect(native(facts)).toEqual({
      "cash:USD": "2050",
      "interest_income:USD": "-50",
      "loan_clearing:USD": "-2000",
    })
    expect(expectedLoanClearing(facts)).toEqual([
      { id: "r1", currency: "USD", balance: "-1000" },
      { id: "r2", currency: "USD", balance: "-1000" },
    ])
  })

  it("due 1025, deposit 3000: 1975 stay in loan clearing, interest is 25", () => {
    const facts = paidBy("3000", [[active, paid]])
    expect(native(facts)).toEqual({
      "cash:USD": "3000",
      "interest_income:USD": "-25",
      "loan_clearing:USD": "-2975",
    })
  })

  it("due 1025, deposit 600: 400 stay in loan clearing, and no interest was earned", () => {
    // −1000 of the disbursement that is not linked, +1000 settled, −600 received
    expect(native(paidBy("600", [[active, paid]]))).toEqual({
      "cash:USD": "600",
      "loan_clearing:USD": "-600",
    })
  })

  it("due 1025, deposit 1010: the interest earned is 10", () => {
    expect(native(paidBy("1010", [[active, paid]]))).toEqual({
      "cash:USD": "1010",
      "interest_income:USD": "-10",
      "loan_clearing:USD": "-1000",
    })
  })

  it("two deposits of 1025 for one receivable: the second stays in loan clearing", () => {
    const twice = book(
      [
        statement("usd", "USD", [
          ["1025", d],
          ["1025", "DEPOSIT e"],
        ]),
      ],
      {
        resources: [deposit("d", "1025"), deposit("e", "1025")],
        receivables: [receivable("r", "1000", [active, ["PAID", "0", "0", ["d", "e"]]])],
      },
    )
    expect(native(twice)).toEqual({
      "cash:USD": "2050",
      "interest_income:USD": "-25",
      "loan_clearing:USD": "-2025",
    })
  })

  it("a deposit of 1500 for two that are due 1025 each goes to the one issued first", () => {
    const [first, second] = ["r2", "r1"].map((id, index) => ({
      ...receivable(id, "1000", [active, paid]),
      issueDate: `2026-09-0${index + 1}T00:00:00Z`,
    }))
    const facts = { ...paidBy("1500", []), receivables: second && first ? [second, first] : [] }
    expect(expectedLoanClearing(facts)).toEqual([
      { id: "r1", currency: "USD", balance: "-475" }, // −1000 disbursed, +1000 settled, −475 received
      { id: "r2", currency: "USD", balance: "-1000" },
    ])
    expect(native(facts)["interest_income:USD"]).toBe("-25")
  })

  it("repaid in part, by transaction hash", () => {
    expect(native(paidBy("525", [[active, ["ACTIVE", "500", "500", ["hash-of-d"]]]]))).toEqual({
      "cash:USD": "525",
      "interest_income:USD": "-25",
      "loan_clearing:USD": "-1000",
      "receivable_principal:USD": "500",
    })
  })

  it("unlinked: an estimated repayment of all that was settled", () => {
    const facts = book([], {
      receivables: [receivable("r", "1000", [active, ["PAID", "0", "0", ["elsewhere"]]])],
    })
    expect(native(facts)).toEqual({ "interest_income:USD": "-25", "loan_clearing:USD": "25" })
  })

  it("a transaction that is named a version late gives the same", () => {
    expect(native(paidBy("1025", [[active, ["PAID", "0", "0"], paid]]))).toEqual(
      native(paidBy("1025", [[active, paid]])),
    )
    expect(native(paidBy("1025", [[active, ["ACTIVE", "1000", "1025", ["d"]], paid]]))).toEqual(
      native(paidBy("1025", [[active, paid]])),
    )
  })

  it("first seen late", () => {
    const facts = book([], { receivables: [receivable("r", "1000", [["ACTIVE", "400", "410"]])] })
    expect(native(facts)).toEqual({
      "interest_income:USD": "-10",
      "loan_clearing:USD": "-400",
      "receivable_interest:USD": "10",
      "receivable_principal:USD": "400",
    })
    expect(native(paidBy("1025", [[["PAID", "0", "1025", ["d"]]]]))["interest_income:USD"]).toBe("-25")
    expect(native(paidBy("1025", [[paid]]))["loan_clearing:USD"]).toBe("-1025")
  })

  it("principal that rises again settles no interest, whatever cash comes with it", () => {
    const rising: ReadonlyArray<Version> = [
      ["ACTIVE", "500", "500"],
      ["ACTIVE", "600", "600", ["d"]],
    ]
    expect(native(paidBy("800", [rising]))).toEqual({
      "cash:USD": "800",
      "loan_clearing:USD": "-1400",
      "receivable_principal:USD": "600",
    })
  })

  it("cancelled: all balances are taken back", () => {
    expect(
      native(book([], { receivables: [receivable("r", "1000", [active, ["CANCELED", "0", "0"]])] })),
    ).toEqual({})
    expect(native(book([], { receivables: [receivable("r", "1000", [["CANCELED", "0", "0"]])] }))).toEqual({})
  })

  it("when_paid: stated and unpaid interest is deferred", () => {
    const settings = { interest: "when_paid" }
    expect(native(paidBy("500", [[active, ["ACTIVE", "520", "525", ["d"]]]], settings))).toEqual({
      "cash:USD": "500",
      "deferred_interest:USD": "-5",
      "interest_income:USD": "-20",
      "loan_clearing:USD": "-1000",
      "receivable_interest:USD": "5",
      "receivable_principal:USD": "520",
    })
  })

  it("original: the amount due does not fall", () => {
    const settings = { repaymentAmount: "original", interest: "when_paid" }
    const part: Version = ["ACTIVE", "500", "1025", ["d"]]
    expect(native(paidBy("510", [[active, part]], settings))).toEqual({
      "cash:USD": "510",
      "deferred_interest:USD": "-15",
      "interest_income:USD": "-10",
      "loan_clearing:USD": "-1000",
      "receivable_interest:USD": "15",
      "receivable_principal:USD": "500",
    })
    expect(
      native(paidBy("510", [[active, part, ["PAID", "0", "1025", ["d", "elsewhere"]]]], settings)),
    ).toEqual({
      "cash:USD": "510",
      "interest_income:USD": "-25",
      "loan_clearing:USD": "-485",
    })
  })

  it("interest that came between two reads is income up to its limit", () => {
    // 0.1% of 1000 for a day is 1; the deposit brings 3 beyond what was due.
    const facts = paidBy("1028", [[active, paid]], { interestBetweenReads: "0.1" })
    expect(native(facts)).toEqual({
      "cash:USD": "1028",
      "interest_income:USD": "-26",
      "loan_clearing:USD": "-1002",
    })
  })

  it("original: interest that accrued between two reads is not owed, and part of the interest stated later", () => {
    const settings = {
      repaymentAmount: "original",
      interest: "when_paid",
      interestBetweenReads: "0.1",
    } as const
    const part: Version = ["ACTIVE", "500", "1025", ["d"]]
    const books = {
      "cash:USD": "526",
      "interest_income:USD": "-26",
      "loan_clearing:USD": "-1000",
      "receivable_principal:USD": "500",
    }
    expect(native(paidBy("526", [[active, part]], settings))).toEqual(books)
    expect(native(paidBy("526", [[active, part, ["ACTIVE", "500", "1035"]]], settings))).toEqual({
      ...books,
      "deferred_interest:USD": "-9",
      "receivable_interest:USD": "9",
    })
  })

  it("original: no more interest is paid than cash came, where principal rises; interest newly stated by PAID is paid", () => {
    const settings = { repaymentAmount: "original" } as const
    const books = { "cash:USD": "5", "interest_income:USD": "-25" }
    expect(native(paidBy("5", [[active, ["ACTIVE", "1100", "1025", ["d"]]]], settings))).toEqual({
      ...books,
      "loan_clearing:USD": "-1100",
      "receivable_interest:USD": "20",
      "receivable_principal:USD": "1100",
    })
    const paidTwice: ReadonlyArray<Version> = [active, ["PAID", "0", "1025"], ["PAID", "0", "1035"]]
    expect(native(paidBy("5", [paidTwice], settings))).toEqual({
      ...{ "cash:USD": "5", "deposits_clearing:USD": "-5" },
      ...{ "interest_income:USD": "-35", "loan_clearing:USD": "35" },
    })
  })

  it("the borrower's books are mirrored", () => {
    const facts = book(
      [
        statement("usd", "USD", [
          ["1000", d],
          ["-510", "WITHDRAWAL w"],
        ]),
      ],
      {
        resources: [deposit("d", "1000"), withdrawal("w", "flat", "510", "0")],
        receivables: [receivable("r", "1000", [active, ["ACTIVE", "500", "515", ["w"]]], "d")],
        settings: { view: "borrower" },
      },
    )
    expect(native(facts)).toEqual({
      "cash:USD": "490",
      "interest_expense:USD": "25",
      "interest_payable:USD": "-15",
      "loan_payable:USD": "-500",
    })
  })
})

describe("whatever happens", () => {
  const amount = fc.integer({ min: 1, max: 2_000 }).map(String)
  const signedAmount = fc.tuple(amount, fc.boolean()).map(([text, debit]) => (debit ? `-${text}` : text))
  const ids = ["DEPOSIT d", "WITHDRAWAL w", "CONVERSION c", "PAYOUT p", "DEPOSIT unknown"] as const
  const moves = fc.array(
    fc
      .tuple(signedAmount, fc.option(fc.constantFrom(...ids)), fc.integer({ min: 1, max: 28 }))
      .map(([text, related, day]): Move => [text, related, day]),
    { maxLength: 8 },
  )
  const version = fc
    .tuple(
      fc.constantFrom(
        "PENDING" as const,
        "ACTIVE" as const,
        "ACTIVE" as const,
        "PAID" as const,
        "CANCELED" as const,
      ),
      amount,
      amount,
      fc.subarray(["d", "w", "p", "usd-1", "hash-of-d", "elsewhere"]),
    )
    .map(
      ([status, principal, interest, repayments]): Version => [
        status,
        principal,
        String(BigInt(principal) + BigInt(interest)),
        repayments,
      ],
    )
  const facts = fc
    .record({
      usd: moves,
      usdt: moves,
      opening: amount,
      fee: fc.integer({ min: 0, max: 9 }).map(String),
      loans: fc.array(fc.tuple(fc.array(version, { maxLength: 5 }), fc.constantFrom("w", "d", null)), {
        maxLength: 3,
      }),
      moved: fc.subarray(["usd-1", "usd-2", "usdt-1"]),
      settings: fc.record({
        flatWithdrawalFee: fc.constantFrom("inside" as const, "none" as const),
        view: fc.constantFrom("lender" as const, "borrower" as const),
        repaymentAmount: fc.constantFrom("outstanding" as const, "original" as const),
        interest: fc.constantFrom("as_stated" as const, "when_paid" as const),
        interestBetweenReads: fc.constantFrom("0", "0.05"),
      }),
    })
    .map(({ usd, usdt, opening, fee, loans, moved, settings }) =>
      book([statement("usd", "USD", usd, opening), statement("usdt", "USDT", usdt)], {
        resources: [
          deposit("d", "1000", fee),
          withdrawal("w", "flat", "700", fee),
          conversion("c", "100 USD", "99 USDT", `${fee} USD`),
        ],
        receivables: loans.map(([versions, disbursed], index) =>
          receivable(`r${index}`, "900", versions, disbursed),
        ),
        reclassified: moved.map((entryId) => ({ entryId, code: "4000" })),
        settings,
      }),
    )
  const sumOf = (balances: ReadonlyArray<{ balance: string }>) =>
    total(balances.map(({ balance }) => amountOf(balance)))

  it("every currency balances, cash is the last balance, and the open items add up", () => {
    fc.assert(
      fc.property(facts, (of) => {
        const balances = expectedNative(of)
        for (const currency of ["USD", "USDT"]) {
          const ofRole = (role: string) =>
            balances.filter((line) => line.currency === currency && line.role === role)
          const ofCurrency = <A extends { currency: string }>(lines: ReadonlyArray<A>) =>
            lines.filter((line) => line.currency === currency)
          expect(sumOf(ofCurrency(balances))).toBe(0n)
          expect(sumOf(ofCurrency(expectedOpenConversions(of)))).toBe(sumOf(ofRole("conversions_in_transit")))
          expect(sumOf(ofCurrency(expectedLoanClearing(of)))).toBe(sumOf(ofRole("loan_clearing")))
          const shown = of.accounts
            .find((account) => account.currency === currency)
            ?.entries.at(-1)?.balanceAfter
          expect(sumOf(ofRole("cash"))).toBe(amountOf(shown ?? "0"))
        }
      }),
      { numRuns: 500 },
    )
  })
})
