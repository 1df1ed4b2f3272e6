import { describe, expect, it } from "@effect/vitest"
import * as Money from "../../src/Common/Money.ts"
import type { Line } from "../../src/Ledger/JournalEntry.ts"
import { returnedFromWhereHeld, shifts } from "../../src/Ledger/Places.ts"
import type { Role } from "../../src/Ledger/Role.ts"

const line = (role: Role, amount: string, code?: string, replaces?: Role): Line => ({
  role,
  currency: "USD",
  amount: Money.fromTrusted(amount),
  partnerAccountId: null,
  rule: code === undefined ? null : { code, name: `Expenses:${code}` },
  ...(replaces === undefined ? {} : { replaces }),
})

const told = (lines: ReadonlyArray<Line>) =>
  lines.map(
    ({ amount, role, rule }) => `${role}${rule === null ? "" : ` ${rule.code}`} ${Money.toText(amount)}`,
  )

const moved = (posted: ReadonlyArray<Line>, target: ReadonlyArray<Line>) => told(shifts(posted, target))

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

describe("a returned amount", () => {
  const clearing = "deposits_clearing"
  const returned = (standing: ReadonlyArray<Line>, ...target: ReadonlyArray<Line>) =>
    told(returnedFromWhereHeld(target, standing))

  it("comes from where it stands, from what came first at first, and from no account that holds the opposite", () => {
    const standing = [
      line("other", "100", "4110", clearing),
      line(clearing, "-600"),
      line("other", "-400", "4120", clearing),
    ]
    expect(returned(standing, line(clearing, "500"))).toEqual([`${clearing} 500`])
    expect(returned(standing, line(clearing, "900"))).toEqual([`${clearing} 600`, "other 4120 300"])
    expect(returned(standing, line("other", "1200", "4130", clearing))).toEqual([
      `${clearing} 600`,
      "other 4120 400",
      "other 4130 200",
    ])
  })

  it("leaves what stands for another role, and the fee, alone", () => {
    const standing = [line("suspense", "-100"), line("fees", "5"), line(clearing, "-900")]
    expect(returned(standing, line(clearing, "500"), line("fees", "-5"))).toEqual([
      `${clearing} 500`,
      "fees -5",
    ])
  })

  it("of a loan comes from the excess that a person had moved, before the amount that was due", () => {
    const standing = [line("loan_clearing", "-600"), line("other", "-400", "4120", "loan_clearing")]
    expect(returned(standing, line("loan_clearing", "500"))).toEqual(["other 4120 400", "loan_clearing 100"])
  })
})
