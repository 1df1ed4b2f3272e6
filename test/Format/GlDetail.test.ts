import { describe, expect, it } from "vitest"
import type { Account } from "../../src/Format/Entry.ts"
import { accountNumbers } from "../../src/Format/GlDetail/AccountNumbers.ts"

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
