import { describe, expect, it } from "vitest"
import type { Account } from "../../src/Format/Entry.ts"
import { accountNumbers } from "../../src/Format/GlDetail/AccountNumbers.ts"
import { glDetail } from "../../src/Format/GlDetail/GlDetail.ts"

const account = (own: Partial<Account>): Account => ({
  ...{ code: "1010", name: "Cash", role: "cash", currency: "EUR", scale: 2, partnerAccountId: null },
  ...own,
})

const numbers = (accounts: ReadonlyArray<Account>) => [...accountNumbers(accounts).values()]

describe("the account numbers of the general ledger detail", () => {
  it("tell apart what shares a code, by currency and account of the service", () => {
    const partner = (last: number) => `64e84b8${last}-0000-4000-8000-00000000000${last}`
    expect(
      numbers([
        account({ partnerAccountId: partner(1) }),
        account({ partnerAccountId: partner(2) }),
        account({ partnerAccountId: partner(1), currency: "USD" }),
        account({ code: "1020", role: "deposits_clearing" }),
      ]),
    ).toEqual(["1010-EUR-64e84b81", "1010-EUR-64e84b82", "1010-USD-64e84b81", "1020-EUR"])
  })

  it("have the whole identifier, the role or the name where that is what differs", () => {
    const [one, two] = ["64e84b86-0000-4000-8000-000000000001", "64e84b86-0000-4000-8000-000000000002"]
    expect(numbers([account({ partnerAccountId: one }), account({ partnerAccountId: two })])).toEqual([
      `1010-EUR-${one}`,
      `1010-EUR-${two}`,
    ])
    const payroll = { code: "4120", name: "Payroll" }
    const roles = ["deposits_clearing", "withdrawals_clearing"]
    expect(numbers(roles.map((role) => account({ ...payroll, role })))).toEqual([
      "4120-EUR-deposits_clearing",
      "4120-EUR-withdrawals_clearing",
    ])
    expect(numbers([account({ name: "A" }), account({ name: "B" })])).toEqual([
      "1010-EUR-cash-A",
      "1010-EUR-cash-B",
    ])
  })

  it("do not depend on the order", () => {
    const accounts = [account({}), account({ role: "other" }), account({ currency: "USD" })]
    expect(numbers(accounts.toReversed())).toEqual(numbers(accounts).toReversed())
  })
})

describe("the chart of accounts beside it", () => {
  const typesOf = (accounts: ReadonlyArray<Partial<Account>>) => {
    const chart = glDetail.accountFiles.find(({ name }) => name === "chart-of-accounts")
    const { text = "" } =
      chart?.make({
        profile: glDetail.template,
        book: "ORG",
        days: { first: "2026-10-01", last: "2026-10-31" },
        accounts: accounts.map((own, at) => ({
          account: account(own),
          ...{ currency: "EUR", number: String(at), opening: 0n, closing: 0n },
        })),
      }) ?? {}
    return text
      .trimEnd()
      .split("\n")
      .slice(1)
      .map((line) => line.split(",")[3])
  }

  it("has each account's type by the beginning of its name", () => {
    const names = ["Assets:A", "Liabilities:B", "Equity:C", "Income:D", "Expenses:E"]
    expect(typesOf(names.map((name) => ({ name, role: "other" })))).toEqual([
      ...["Assets", "Liabilities", "Equity", "Revenue", "Expenses"],
    ])
  })

  it.each([
    ["Assets", ["cash", "deposits_clearing", "suspense", "receivable_principal", "loan_clearing", "other"]],
    ["Liabilities", ["loan_payable", "interest_payable", "deferred_interest"]],
    ["Equity", ["opening_balance", "trading"]],
    ["Revenue", ["interest_income", "fx_realized", "fx_unrealized"]],
    ["Expenses", ["fees", "interest_expense", "rounding"]],
  ])("has %s by the role where a chart's own names begin otherwise", (type, roles) => {
    expect(typesOf(roles.map((role) => ({ name: "Konto", role })))).toEqual(roles.map(() => type))
  })
})
