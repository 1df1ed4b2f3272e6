import { describe, expect, it } from "@effect/vitest"
import { Option } from "effect"
import fc from "fast-check"
import * as Money from "../../../src/Common/Money.ts"
import type { Line } from "../../../src/Ledger/JournalEntry.ts"
import { type PostedPart, receivableEntries } from "../../../src/Ledger/Receivables/Receivable.ts"
import type { ReceivableVersion, ReceivableView } from "../../../src/Ledger/Receivables/ReceivableVersion.ts"

const receivableId = "00000000-0000-4000-8000-0000000000aa"
const of = Money.fromTrusted
const text = (amount: Money.Amount): string => Money.toText(Money.plain(amount))
const lender: ReceivableView = {
  view: "lender",
  repaymentAmount: "outstanding",
  interest: "as_stated",
  interestBetweenReads: "0",
}
const borrower: ReceivableView = { ...lender, view: "borrower" }
const original: ReceivableView = { ...lender, repaymentAmount: "original" }
const whenPaid: ReceivableView = { ...lender, interest: "when_paid" }

const at = (day: number): string => `2026-10-${String(day).padStart(2, "0")}T12:00:00.000000Z`
const paidWith = (cash: string | null, day = 20) => ({
  txId: `of ${day}`,
  txTimestamp: at(day),
  cash: Option.map(Option.fromNullable(cash), of),
})

const version = (
  number: number,
  status: string,
  current: string,
  repayment: string,
  over: Partial<ReceivableVersion> = {},
): ReceivableVersion => ({
  version: number,
  status,
  initialPrincipal: of("1000"),
  currentPrincipal: of(current),
  repaymentAmount: of(repayment),
  servedAt: at(number),
  disbursed: Option.none(),
  repayments: [],
  ...over,
})

const plan = (
  versions: ReadonlyArray<ReceivableVersion>,
  view: ReceivableView = lender,
  posted: ReadonlyMap<number, PostedPart> = new Map(),
) =>
  receivableEntries(
    { receivableId, currency: "USD", counterparty: Option.none(), issuedAt: at(1), versions, posted },
    view,
  )

const shown = (lines: ReadonlyArray<Line>): string =>
  lines.map(({ amount, role }) => `${role} ${text(amount)}`).join(", ")

const lines = (versions: ReadonlyArray<ReceivableVersion>, view: ReceivableView = lender) =>
  plan(versions, view).map(({ description, kind, lines: all, occurredAt }) => {
    const estimated = description.includes("estimated") ? " (estimated)" : ""
    return `${occurredAt.slice(8, 10)} ${kind}${estimated}: ${shown(all)}`
  })

/** The balances if everything were posted. */
const asPosted = (entries: ReturnType<typeof plan>): ReadonlyMap<number, PostedPart> => {
  const posted = new Map<number, PostedPart>()
  for (const { correction = 0, lines: added, sequence } of entries)
    posted.set(sequence, {
      corrections: Math.max(correction, posted.get(sequence)?.corrections ?? 0),
      lines: [...(posted.get(sequence)?.lines ?? []), ...added],
    })
  return posted
}

const disbursed = version(2, "ACTIVE", "1000", "1000", { disbursed: Option.some(paidWith("1000", 1)) })

describe("A receivable in the lender's view", () => {
  it("posts nothing while it is pending", () => {
    expect(lines([version(1, "PENDING", "1000", "1050")])).toEqual([])
  })

  it("is disbursed by the date of its transaction", () => {
    expect(lines([version(1, "PENDING", "1000", "1000"), disbursed])).toEqual([
      "01 disbursement: receivable_principal 1000, loan_clearing -1000",
    ])
  })

  it("is disbursed by the service's clock where it names no transaction", () => {
    expect(lines([version(2, "ACTIVE", "1000", "1000")])).toEqual([
      "02 disbursement: receivable_principal 1000, loan_clearing -1000",
    ])
  })

  it("accrues what is due beyond the principal, by the service's clock", () => {
    expect(lines([disbursed, version(3, "ACTIVE", "1000", "1050")]).slice(1)).toEqual([
      "03 accrual: receivable_interest 50, interest_income -50",
    ])
  })

  it("splits a repayment by its cash", () => {
    const after = version(4, "ACTIVE", "600", "620", { repayments: [paidWith("430")] })
    expect(lines([disbursed, version(3, "ACTIVE", "1000", "1050"), after]).slice(2)).toEqual([
      "20 repayment: loan_clearing 430, receivable_principal -400, receivable_interest -30",
    ])
  })

  it("takes no interest beyond the settled amount: the rest of the cash stays in clearing", () => {
    const after = version(4, "PAID", "0", "0", { repayments: [paidWith("3000")] })
    expect(lines([disbursed, version(3, "ACTIVE", "1000", "1025"), after]).slice(2)).toEqual([
      "20 repayment: loan_clearing 1025, receivable_principal -1000, receivable_interest -25",
    ])
  })

  it("takes no interest where less than the principal came: the missing amount stays in clearing", () => {
    const after = version(4, "ACTIVE", "600", "620", { repayments: [paidWith("390")] })
    expect(lines([disbursed, version(3, "ACTIVE", "1000", "1050"), after]).slice(2)).toEqual([
      "04 accrual: interest_income 30, receivable_interest -30",
      "20 repayment: loan_clearing 400, receivable_principal -400",
    ])
  })

  it("lets interest that came between two readings be paid, as far as the settings allow", () => {
    const rate: ReceivableView = { ...lender, interestBetweenReads: "0.5" }
    const after = version(5, "ACTIVE", "600", "620", { repayments: [paidWith("445")] })
    // Two days at 0.5 % of 1,000 are 10: 5 of the excess of 15 stay in clearing.
    expect(lines([disbursed, version(3, "ACTIVE", "1000", "1050"), after], rate).slice(2)).toEqual([
      "05 accrual: receivable_interest 10, interest_income -10",
      "20 repayment (estimated): loan_clearing 440, receivable_principal -400, receivable_interest -40",
    ])
  })

  it("estimates a repayment without cash: the interest that is no longer due was paid", () => {
    const after = version(4, "ACTIVE", "600", "620")
    expect(lines([disbursed, version(3, "ACTIVE", "1000", "1050"), after]).slice(2)).toEqual([
      "04 repayment (estimated): loan_clearing 430, receivable_principal -400, receivable_interest -30",
    ])
  })

  it("estimates a repayment of several transactions from the cash of all", () => {
    const after = version(4, "ACTIVE", "600", "620", {
      repayments: [paidWith("300", 18), paidWith("120", 19)],
    })
    expect(lines([disbursed, version(3, "ACTIVE", "1000", "1050"), after]).slice(2)).toEqual([
      "04 accrual: interest_income 10, receivable_interest -10",
      "19 repayment (estimated): loan_clearing 420, receivable_principal -400, receivable_interest -20",
    ])
  })

  it("estimates a repayment of interest alone, whose cash is not known", () => {
    const after = version(4, "ACTIVE", "1000", "1020", { repayments: [paidWith(null)] })
    expect(lines([disbursed, version(3, "ACTIVE", "1000", "1050"), after]).slice(2)).toEqual([
      "20 repayment (estimated): loan_clearing 30, receivable_interest -30",
    ])
  })

  it("takes interest back that is no longer due, where nothing was repaid", () => {
    expect(
      lines([disbursed, version(3, "ACTIVE", "1000", "1050"), version(4, "ACTIVE", "1000", "1030")]).slice(2),
    ).toEqual(["04 accrual: interest_income 20, receivable_interest -20"])
  })

  it("is settled when it is paid", () => {
    const paid = version(4, "PAID", "0", "0", { repayments: [paidWith("1050")] })
    expect(lines([disbursed, version(3, "ACTIVE", "1000", "1050"), paid]).slice(2)).toEqual([
      "20 repayment: loan_clearing 1050, receivable_principal -1000, receivable_interest -50",
    ])
  })

  it("takes a repayment back when it is owed again, with its interest", () => {
    const until = [disbursed, version(3, "ACTIVE", "1000", "1050")]
    const paid = version(4, "PAID", "0", "0", { repayments: [paidWith("1050")] })
    expect(lines([...until, paid, version(5, "ACTIVE", "1000", "1050")]).slice(3)).toEqual([
      "05 repayment: receivable_principal 1000, receivable_interest 50, loan_clearing -1050",
    ])
    expect(plan([...until, paid, version(5, "ACTIVE", "1000", "1050")]).at(-1)?.description).toBe(
      "Repayment of receivable taken back",
    )
    expect(lines([...until, paid, version(5, "ACTIVE", "700", "735")]).slice(3)).toEqual([
      "05 repayment: receivable_principal 700, receivable_interest 35, loan_clearing -735",
    ])
    // New interest is stated with it, and more is owed than was ever repaid.
    expect(lines([...until, paid, version(5, "ACTIVE", "1200", "1260")]).slice(3)).toEqual([
      "05 disbursement: receivable_principal 200, loan_clearing -200",
      "05 accrual: receivable_interest 10, interest_income -10",
      "05 repayment: receivable_principal 1000, receivable_interest 50, loan_clearing -1050",
    ])
  })

  it("is paid by the cash of a repayment that was taken back, where that stays", () => {
    const until = [disbursed, version(3, "ACTIVE", "1000", "1050")]
    const first = version(4, "ACTIVE", "600", "650", { repayments: [paidWith("400", 4)] })
    // An older version after a newer one, and then one that names another repayment.
    const older = version(5, "ACTIVE", "1000", "1050")
    const paid = version(6, "PAID", "0", "0", { repayments: [paidWith("650", 6)] })
    expect(lines([...until, first, older, paid]).slice(3)).toEqual([
      "05 repayment: receivable_principal 400, loan_clearing -400",
      "06 repayment (estimated): loan_clearing 1050, receivable_principal -1000, receivable_interest -50",
    ])
    // The cash of the first one went back: what it was to pay is not paid.
    const returned = version(4, "ACTIVE", "600", "650", { repayments: [paidWith("0", 4)] })
    expect(lines([...until, returned, older, paid]).slice(4)).toEqual([
      "06 accrual: interest_income 50, receivable_interest -50",
      "06 repayment: loan_clearing 1000, receivable_principal -1000",
    ])
    // It pays once.
    const again = version(7, "ACTIVE", "1000", "1050")
    const once = version(8, "PAID", "0", "0", { repayments: [paidWith("0", 8)] })
    expect(lines([...until, first, older, paid, again, once]).slice(6)).toEqual([
      "08 repayment (estimated): loan_clearing 1050, receivable_principal -1000, receivable_interest -50",
    ])
  })

  it("is paid by that cash alone where a version only shows again what one before it showed", () => {
    const short = version(4, "PAID", "0", "0", { repayments: [paidWith("1020")] })
    const older = version(5, "ACTIVE", "1000", "1050")
    const paid = version(6, "PAID", "0", "0")
    expect(lines([disbursed, version(3, "ACTIVE", "1000", "1050"), short, older, paid]).slice(4)).toEqual([
      "05 accrual: receivable_interest 30, interest_income -30",
      "05 repayment: receivable_principal 1000, receivable_interest 20, loan_clearing -1020",
      "06 accrual: interest_income 30, receivable_interest -30",
      "06 repayment (estimated): loan_clearing 1020, receivable_principal -1000, receivable_interest -20",
    ])
  })

  it("is paid its interest alone by that cash as well, where a version shows again that only interest fell", () => {
    const paid = version(4, "PAID", "0", "0", { repayments: [paidWith("1050")] })
    // Versions from before the end, one after the other: 20 of the 40 that are owed again were paid by themselves.
    const older = [version(5, "ACTIVE", "600", "640"), version(6, "ACTIVE", "600", "620")]
    const until = [disbursed, version(3, "ACTIVE", "1000", "1050"), paid, ...older]
    expect(lines([...until, version(7, "PAID", "0", "0")]).slice(3)).toEqual([
      "05 repayment: receivable_principal 600, receivable_interest 40, loan_clearing -640",
      "06 repayment (estimated): loan_clearing 20, receivable_interest -20",
      "07 repayment (estimated): loan_clearing 620, receivable_principal -600, receivable_interest -20",
    ])
    // More interest falls than was owed again: it had come since, and is waived.
    const more = [version(7, "ACTIVE", "600", "650"), version(8, "ACTIVE", "600", "620")]
    expect(lines([...until, ...more]).slice(5)).toEqual([
      "07 accrual: receivable_interest 30, interest_income -30",
      "08 accrual: interest_income 30, receivable_interest -30",
    ])
    // The cash went back: nothing pays that interest.
    const returned = version(4, "PAID", "0", "0", { repayments: [paidWith("0")] })
    expect(lines([disbursed, version(3, "ACTIVE", "1000", "1050"), returned, ...older]).at(-1)).toBe(
      "06 accrual: interest_income 20, receivable_interest -20",
    )
  })

  it("takes a part of it back while it is active", () => {
    const partly = version(4, "ACTIVE", "600", "620", { repayments: [paidWith("430")] })
    const again = version(5, "ACTIVE", "1000", "1050")
    expect(lines([disbursed, version(3, "ACTIVE", "1000", "1050"), partly, again]).slice(3)).toEqual([
      "05 repayment: receivable_principal 400, receivable_interest 30, loan_clearing -430",
    ])
  })

  it("takes only so much of its interest back as is owed again beside what was owed all the time", () => {
    const accrued = version(3, "ACTIVE", "1000", "1025")
    const repaid = version(4, "ACTIVE", "500", "510", { repayments: [paidWith("515", 4)] })
    expect(lines([disbursed, accrued, repaid, version(5, "ACTIVE", "1000", "1020")]).slice(3)).toEqual([
      "05 repayment: receivable_principal 500, receivable_interest 10, loan_clearing -510",
    ])
  })

  it("owes again the interest that was due and not paid, where the cash of the repayment went back", () => {
    const bounced = version(4, "PAID", "0", "0", { repayments: [paidWith("0")] })
    expect(
      lines([
        disbursed,
        version(3, "ACTIVE", "1000", "1050"),
        bounced,
        version(5, "ACTIVE", "1000", "1050"),
      ]).slice(2),
    ).toEqual([
      "04 accrual: interest_income 50, receivable_interest -50",
      "20 repayment: loan_clearing 1000, receivable_principal -1000",
      "05 accrual: receivable_interest 50, interest_income -50",
      "05 repayment: receivable_principal 1000, loan_clearing -1000",
    ])
  })

  it("owes no interest again that earlier repayments paid, whose cash stays", () => {
    const until = [
      disbursed,
      version(3, "ACTIVE", "1000", "1050"),
      version(4, "ACTIVE", "600", "630", { repayments: [paidWith("420", 4)] }),
    ]
    // The cash of the last repayment went back by the deposit with which it came.
    const returned = version(5, "PAID", "0", "0", { repayments: [paidWith("0", 5)] })
    expect(lines([...until, returned, version(6, "ACTIVE", "600", "630")]).slice(3)).toEqual([
      "05 accrual: interest_income 30, receivable_interest -30",
      "05 repayment: loan_clearing 600, receivable_principal -600",
      "06 accrual: receivable_interest 30, interest_income -30",
      "06 repayment: receivable_principal 600, loan_clearing -600",
    ])
    // What is owed beyond that is new: a fee for the repayment that bounced.
    const bounced = version(5, "ACTIVE", "400", "420", { repayments: [paidWith("210", 5)] })
    expect(lines([...until, bounced, version(6, "ACTIVE", "600", "645")]).slice(4)).toEqual([
      "06 accrual: receivable_interest 15, interest_income -15",
      "06 repayment: receivable_principal 200, receivable_interest 10, loan_clearing -210",
    ])
    // Two bounced, the last one and the one before.
    expect(lines([...until, bounced, version(6, "ACTIVE", "1000", "1050")]).slice(4)).toEqual([
      "06 repayment: receivable_principal 600, receivable_interest 30, loan_clearing -630",
    ])
  })

  it("takes everything back when it is cancelled", () => {
    expect(
      lines([disbursed, version(3, "ACTIVE", "1000", "1050"), version(4, "CANCELED", "0", "0")]).slice(2),
    ).toEqual([
      "04 cancellation: interest_income 50, loan_clearing 1000, receivable_principal -1000, receivable_interest -50",
    ])
    expect(lines([version(1, "PENDING", "1000", "1000"), version(2, "CANCELED", "0", "0")])).toEqual([])
  })

  it("seen late posts the whole principal and one estimated repayment", () => {
    expect(lines([version(7, "ACTIVE", "400", "420")])).toEqual([
      "07 disbursement: receivable_principal 1000, loan_clearing -1000",
      "07 accrual: receivable_interest 20, interest_income -20",
      "07 repayment (estimated): loan_clearing 600, receivable_principal -600",
    ])
  })

  it("seen when it was paid has the interest that it still shows", () => {
    const paid = version(3, "PAID", "0", "1050", { repayments: [paidWith("1050")] })
    expect(lines([paid])).toEqual([
      "03 disbursement: receivable_principal 1000, loan_clearing -1000",
      "03 accrual: receivable_interest 50, interest_income -50",
      "20 repayment: loan_clearing 1050, receivable_principal -1000, receivable_interest -50",
    ])
  })

  it("keeps a status that it does not know out of the books", () => {
    expect(lines([version(1, "FROZEN", "1000", "1000")])).toEqual([])
  })
})

describe("Interest that is income when it is paid", () => {
  const partly = version(4, "ACTIVE", "600", "620", { repayments: [paidWith("430")] })

  it("is deferred when it is stated, and becomes income when it is paid", () => {
    expect(lines([disbursed, version(3, "ACTIVE", "1000", "1050"), partly], whenPaid).slice(1)).toEqual([
      "03 accrual: receivable_interest 50, deferred_interest -50",
      "20 repayment: deferred_interest 30, loan_clearing 430, receivable_principal -400, receivable_interest -30, interest_income -30",
    ])
  })

  it("of a loan that was first seen late is no income of the month in which it was read", () => {
    const late = version(7, "ACTIVE", "1000", "1050")
    expect(lines([late], whenPaid).slice(1)).toEqual([
      "07 accrual: receivable_interest 50, deferred_interest -50",
    ])
    expect(lines([late]).slice(1)).toEqual(["07 accrual: receivable_interest 50, interest_income -50"])
  })

  it("is taken back with everything else when the receivable is cancelled", () => {
    const history = [
      disbursed,
      version(3, "ACTIVE", "1000", "1050"),
      partly,
      version(5, "CANCELED", "0", "0"),
    ]
    const sums = new Map<string, Money.Amount>()
    for (const { amount, role } of plan(history, whenPaid).flatMap((entry) => entry.lines))
      sums.set(role, Money.add(sums.get(role) ?? Money.zero, amount))
    expect([...sums.values()].map(text)).toEqual([...sums].map(() => "0"))
  })
})

describe("A receivable in the borrower's view", () => {
  it("has the same entries, mirrored", () => {
    const after = version(4, "ACTIVE", "600", "620", { repayments: [paidWith("430")] })
    expect(lines([disbursed, version(3, "ACTIVE", "1000", "1050"), after], borrower)).toEqual([
      "01 disbursement: loan_clearing 1000, loan_payable -1000",
      "03 accrual: interest_expense 50, interest_payable -50",
      "20 repayment: loan_payable 400, interest_payable 30, loan_clearing -430",
    ])
  })

  it("defers stated and unpaid interest, mirrored", () => {
    const after = version(4, "ACTIVE", "600", "620", { repayments: [paidWith("430")] })
    const history = [disbursed, version(3, "ACTIVE", "1000", "1050"), after]
    expect(lines(history, { ...borrower, interest: "when_paid" }).slice(1)).toEqual([
      "03 accrual: deferred_interest 50, interest_payable -50",
      "20 repayment: loan_payable 400, interest_payable 30, interest_expense 30, deferred_interest -30, loan_clearing -430",
    ])
  })
})

describe("A repayment amount that stays as it was at the start", () => {
  it("is interest that the last version announces and settles at once", () => {
    const paid = version(4, "PAID", "0", "1050", { repayments: [paidWith("1050")] })
    expect(lines([disbursed, paid], original).slice(1)).toEqual([
      "04 accrual: receivable_interest 50, interest_income -50",
      "20 repayment: loan_clearing 1050, receivable_principal -1000, receivable_interest -50",
    ])
  })

  it("is all of the interest at once", () => {
    const first = version(2, "ACTIVE", "1000", "1050", { disbursed: Option.some(paidWith("1000", 1)) })
    const partly = version(3, "ACTIVE", "600", "1050", { repayments: [paidWith("420")] })
    const paid = version(4, "PAID", "0", "1050", { repayments: [paidWith("630", 25)] })
    expect(lines([first, partly, paid], original)).toEqual([
      "01 disbursement: receivable_principal 1000, loan_clearing -1000",
      "02 accrual: receivable_interest 50, interest_income -50",
      "20 repayment: loan_clearing 420, receivable_principal -400, receivable_interest -20",
      "25 repayment: loan_clearing 630, receivable_principal -600, receivable_interest -30",
    ])
  })

  it("counts interest paid between two readings as part of the interest stated later", () => {
    const first = version(2, "ACTIVE", "1000", "1025", { disbursed: Option.some(paidWith("1000", 1)) })
    const more = version(3, "ACTIVE", "500", "1025", { repayments: [paidWith("527", 3)] })
    const history = [first, more, version(4, "ACTIVE", "500", "1026"), version(5, "ACTIVE", "500", "1035")]
    expect(lines(history, { ...original, interestBetweenReads: "0.2" }).slice(1)).toEqual([
      "02 accrual: receivable_interest 25, interest_income -25",
      "03 accrual: receivable_interest 2, interest_income -2",
      "03 repayment (estimated): loan_clearing 527, receivable_principal -500, receivable_interest -27",
      // 35 in all, of which 27 were paid.
      "05 accrual: receivable_interest 8, interest_income -8",
    ])
  })

  it("is lent as much as it shows, if that is more than it was at the start, and nothing of it is interest paid", () => {
    expect(lines([version(2, "ACTIVE", "1100", "1010")], original)).toEqual([
      "02 disbursement: receivable_principal 1100, loan_clearing -1100",
      "02 accrual: receivable_interest 10, interest_income -10",
    ])
  })

  it("without cash pays the principal first and the interest with the last of it", () => {
    const first = version(2, "ACTIVE", "1000", "1050")
    expect(
      lines([first, version(3, "ACTIVE", "600", "1050"), version(4, "PAID", "0", "1050")], original).slice(2),
    ).toEqual([
      "03 repayment (estimated): loan_clearing 400, receivable_principal -400",
      "04 repayment (estimated): loan_clearing 650, receivable_principal -600, receivable_interest -50",
    ])
  })
})

describe("A repayment amount that stays, of a loan that is owed again", () => {
  const first = version(2, "ACTIVE", "1000", "1050", { disbursed: Option.some(paidWith("1000", 1)) })
  const again = version(5, "ACTIVE", "1000", "1050")

  it("owes the interest again that was paid with the last of it", () => {
    const paid = version(4, "PAID", "0", "1050", { repayments: [paidWith("1050")] })
    expect(lines([first, paid, again], original).slice(3)).toEqual([
      "05 repayment: receivable_principal 1000, receivable_interest 50, loan_clearing -1050",
    ])
  })

  it("owes the interest again that nobody had paid", () => {
    const bounced = version(4, "PAID", "0", "1050", { repayments: [paidWith("0")] })
    expect(lines([first, bounced, again], original).slice(4)).toEqual([
      "05 accrual: receivable_interest 50, interest_income -50",
      "05 repayment: receivable_principal 1000, loan_clearing -1000",
    ])
  })
})

describe("A repayment amount that stays, where older versions come after newer ones", () => {
  const first = version(2, "ACTIVE", "1000", "1050", { disbursed: Option.some(paidWith("1000", 1)) })
  const partly = version(3, "ACTIVE", "900", "1050", { repayments: [paidWith("100", 3)] })

  it("is paid no more than it was, though not all of its interest was", () => {
    const short = version(4, "PAID", "0", "1050", { repayments: [paidWith("910", 4)] })
    const history = [
      first,
      partly,
      short,
      version(5, "ACTIVE", "900", "1050"),
      version(6, "PAID", "0", "1050"),
    ]
    expect(lines(history, original).slice(-2)).toEqual([
      "06 accrual: interest_income 40, receivable_interest -40",
      "06 repayment (estimated): loan_clearing 910, receivable_principal -900, receivable_interest -10",
    ])
  })

  it("is not paid interest by what had paid principal", () => {
    const more = version(4, "ACTIVE", "700", "1050", { repayments: [paidWith("210", 4)] })
    const older = [version(5, "ACTIVE", "1000", "1050"), version(6, "ACTIVE", "900", "1050")]
    expect(
      lines([first, partly, more, ...older, version(7, "ACTIVE", "700", "1050")], original).slice(4),
    ).toEqual([
      "05 repayment: receivable_principal 300, loan_clearing -300",
      "06 repayment (estimated): loan_clearing 100, receivable_principal -100",
      "07 repayment (estimated): loan_clearing 200, receivable_principal -200",
    ])
  })
})

describe("An entry that is already booked", () => {
  const estimated = [disbursed, version(3, "ACTIVE", "1000", "1050"), version(4, "ACTIVE", "600", "620")]

  it("is not booked again", () => {
    expect(plan(estimated, lender, asPosted(plan(estimated)))).toEqual([])
  })

  it("is corrected when the cash of an estimated repayment comes", () => {
    const [one, two] = estimated
    if (one === undefined || two === undefined) throw new Error("there are three")
    const known = [one, two, version(4, "ACTIVE", "600", "620", { repayments: [paidWith("420")] })]
    const again = plan(known, lender, asPosted(plan(estimated)))
    expect(again.map(({ correction, kind, lines: all }) => `${kind} ${correction}: ${shown(all)}`)).toEqual([
      "accrual 0: interest_income 10, receivable_interest -10",
      "reclassification 1: receivable_interest 10, loan_clearing -10",
    ])
  })

  it("is corrected any number of times, each time under a number of its own", () => {
    const [one, two] = estimated
    if (one === undefined || two === undefined) throw new Error("there are three")
    const entries = [...plan(estimated)]
    for (let time = 0; time < 200; time++) {
      const cash = time % 2 === 0 ? "430" : "420"
      const versions = [one, two, version(4, "ACTIVE", "600", "620", { repayments: [paidWith(cash)] })]
      entries.push(...plan(versions, lender, asPosted(entries)))
    }
    const keys = entries.map(({ correction, sequence }) => `${sequence}/${correction}`)
    expect(new Set(keys).size).toBe(keys.length)
    expect(Math.max(...entries.map(({ correction }) => correction ?? 0))).toBeGreaterThan(150)
  })
})

describe("Any history", () => {
  const cents = (most: number) => fc.integer({ min: 0, max: most }).map((n) => text(of((n / 100).toFixed(2))))
  const history = fc.array(
    fc.record({
      status: fc.constantFrom("PENDING", "ACTIVE", "ACTIVE", "ACTIVE", "PAID", "CANCELED", "ODD"),
      principal: cents(100_000),
      interest: cents(10_000),
      cash: fc.option(fc.array(fc.option(cents(110_000)), { maxLength: 3 })),
    }),
    { maxLength: 6 },
  )
  const versionsOf = (steps: typeof history extends fc.Arbitrary<infer A> ? A : never) =>
    steps.map(({ cash, interest, principal, status }, index) =>
      version(index + 1, status, principal, text(Money.add(of(principal), of(interest))), {
        repayments: (cash ?? []).map((amount) => paidWith(amount)),
      }),
    )
  const views: ReadonlyArray<ReceivableView> = [lender, borrower, original, whenPaid]

  it("balances, entry by entry", () => {
    fc.assert(
      fc.property(history, fc.constantFrom(...views), (steps, view) => {
        for (const entry of plan(versionsOf(steps), view)) {
          const sum = entry.lines.reduce((total, { amount }) => Money.add(total, amount), Money.zero)
          expect(text(sum)).toBe("0")
        }
      }),
    )
  })

  it("leaves principal and interest as the last version says", () => {
    fc.assert(
      fc.property(history, (steps) => {
        const entries = plan(versionsOf(steps))
        const total = (role: string) =>
          entries
            .flatMap((entry) => entry.lines)
            .filter((line) => line.role === role)
            .reduce((sum, { amount }) => Money.add(sum, amount), Money.zero)
        const last = steps.findLast(({ status }) => ["ACTIVE", "PAID", "CANCELED"].includes(status))
        const isOpen = last !== undefined && last.status !== "CANCELED"
        expect(text(total("receivable_principal"))).toBe(isOpen ? last.principal : "0")
        expect(text(total("receivable_interest"))).toBe(
          last !== undefined && last.status === "ACTIVE" ? last.interest : "0",
        )
      }),
    )
  })

  it("is booked the same at once and version by version, where the cash is known from the start", () => {
    fc.assert(
      fc.property(history, fc.constantFrom(...views), (steps, view) => {
        const versions = versionsOf(steps)
        const grown: Array<ReturnType<typeof plan>[number]> = []
        for (let count = 1; count <= versions.length; count++)
          grown.push(...plan(versions.slice(0, count), view, asPosted(grown)))
        expect(grown).toEqual(plan(versions, view))
      }),
    )
  })
})
