import { describe, expect, it } from "@effect/vitest"
import * as Money from "../../src/Common/Money.ts"
import type { Line } from "../../src/Ledger/JournalEntry.ts"
import { shifts } from "../../src/Ledger/Places.ts"
import type { Role } from "../../src/Ledger/Role.ts"

const line = (role: Role, amount: string, code?: string, replaces?: Role): Line => ({
  role,
  currency: "USD",
  amount: Money.fromTrusted(amount),
  partnerAccountId: null,
  rule: code === undefined ? null : { code, name: `Expenses:${code}` },
  ...(replaces === undefined ? {} : { replaces }),
})

const moved = (posted: ReadonlyArray<Line>, target: ReadonlyArray<Line>) =>
  shifts(posted, target).map(
    ({ amount, role, rule }) => `${role}${rule === null ? "" : ` ${rule.code}`} ${Money.toText(amount)}`,
  )

describe("the line against cash", () => {
  const clearing = "withdrawals_clearing"
  const partly = [line(clearing, "400"), line("other", "600", "4120", clearing)]

  it("stays in the account that a rule or a person named, as far as its role should hold it", () => {
    expect(moved(partly, [line(clearing, "1000")])).toEqual([])
    const bySettings = [line("other", "1000", "4130", clearing)]
    expect(moved(partly, bySettings)).toEqual([])
  })

  it("gives up a fee that becomes known later, each account up to its balance", () => {
    expect(moved(partly, [line(clearing, "995"), line("fees", "5")])).toEqual([`${clearing} -5`, "fees 5"])
    expect(moved(partly, [line(clearing, "500"), line("fees", "500")])).toEqual([
      `${clearing} -400`,
      "other 4120 -100",
      "fees 500",
    ])
  })

  it("leaves every account that stood for another role", () => {
    const suspended = [line("suspense", "400"), line("other", "600", "4120", "suspense")]
    expect(moved(suspended, [line(clearing, "1000")])).toEqual([
      "suspense -400",
      "other 4120 -600",
      `${clearing} 1000`,
    ])
    // The line is already on the rule's account.
    expect(moved(suspended, [line("other", "1000", "4120", clearing)])).toEqual([
      "suspense -400",
      "other 4120 400",
    ])
  })

  it("is the cash of a loan, whatever account a rule named", () => {
    expect(moved([line("other", "10", "4120", clearing)], [line("loan_clearing", "10")])).toEqual([
      "other 4120 -10",
      "loan_clearing 10",
    ])
  })

  it("stays on accounts that an earlier version gave the role of the account that they replaced", () => {
    const older = [line(clearing, "1000", "4120")]
    expect(moved(older, [line("other", "1000", "4120", clearing)])).toEqual([])
    expect(moved(older, [line("other", "995", "4120", clearing), line("fees", "5")])).toEqual([
      `${clearing} 4120 -5`,
      "fees 5",
    ])
  })
})
