/** Compares any single receivable in the connector's steps with the oracle. */
import { Option } from "effect"
import fc from "fast-check"
import { expect, it } from "vitest"
import * as Money from "../../src/Common/Money.ts"
import { start } from "../../src/Ledger/Receivables/ReceivableStanding.ts"
import { follow, step } from "../../src/Ledger/Receivables/ReceivableSteps.ts"
import type { ReceivableView } from "../../src/Ledger/Receivables/ReceivableVersion.ts"
import type { BookSettings, ReceivableFact } from "./Facts.ts"
import { amountOf, textOf } from "./Oracle/Decimal.ts"
import { receivableBooks } from "./Oracle/Receivable.ts"

const at = (day: number): string => `2026-10-${String(day).padStart(2, "0")}T00:00:00.000000Z`

const statuses = ["PENDING", "ACTIVE", "ACTIVE", "ACTIVE", "PAID", "CANCELED"] as const

const settings = fc.record({
  view: fc.constant("lender" as const),
  repaymentAmount: fc.constantFrom("outstanding" as const, "original" as const),
  interest: fc.constantFrom("as_stated" as const, "when_paid" as const),
  interestBetweenReads: fc.constantFrom("0", "0.1", "1"),
})

/**
 * A receivable of 100. A paid version shows no principal, and is not paid twice before it is owed again. `repayments` has the
 * cash of each, and null for one that is not in the books.
 */
const versions = fc
  .array(
    fc.record({
      status: fc.constantFrom(...statuses),
      principal: fc.nat(120),
      interest: fc.nat(30),
      repayments: fc.array(fc.option(fc.nat(130)), { maxLength: 2 }),
      days: fc.nat(4),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .map((all) => {
    let [day, isPaid] = [1, false]
    return all.map(({ days, interest, principal, repayments, status: next }) => {
      day += days
      const status = isPaid && next === "PAID" ? "PENDING" : next
      isPaid = status === "PAID" || (isPaid && status === "PENDING")
      return { status, interest, repayments, current: status === "PAID" ? 0 : principal, servedAt: at(day) }
    })
  })

type Told = typeof versions extends fc.Arbitrary<infer All> ? All : never

const dueOf = ({ current, interest }: Told[number], view: ReceivableView): string =>
  String((view.repaymentAmount === "original" ? 100 : current) + interest)

const booked = (all: Told, view: ReceivableView): Readonly<Record<string, string>> => {
  let standing = start(at(1))
  for (const [index, one] of all.entries()) {
    const version = {
      ...{ version: index + 1, status: one.status, servedAt: one.servedAt, disbursed: Option.none() },
      initialPrincipal: Money.fromTrusted("100"),
      currentPrincipal: Money.fromTrusted(String(one.current)),
      repaymentAmount: Money.fromTrusted(dueOf(one, view)),
      repayments: one.repayments.map((cash, place) => ({
        txId: `${index} ${place}`,
        txTimestamp: one.servedAt,
        cash: Option.map(Option.fromNullable(cash), (amount) => Money.fromTrusted(String(amount))),
      })),
    }
    standing = follow(standing, version, step(standing, version, view, 2))
  }
  const { cash, deferred, income, interest, principal } = standing.sums
  const text = (amount: Money.Amount): string => textOf(amountOf(Money.toText(Money.plain(amount))))
  return {
    ...{ principal: text(principal), interest: text(interest), income: text(income) },
    ...{ deferred: text(deferred), clearing: text(cash) },
  }
}

const expected = (all: Told, view: ReceivableView): Readonly<Record<string, string>> => {
  const fact: ReceivableFact = {
    ...{ receivableId: "r", clientId: "c", currency: "USD", rail: "SWIFT" },
    ...{ issueDate: at(1), initialPrincipal: "100" },
    versions: all.map((one) => ({
      ...{ servedAt: one.servedAt, currentPrincipal: String(one.current), repaymentAmount: dueOf(one, view) },
      ...{ status: one.status, disbursed: null, repayments: [] },
    })),
  }
  const shares = new Map(
    all.flatMap(({ repayments }, index) =>
      repayments.length === 0
        ? []
        : [[index, repayments.map((cash) => (cash === null ? null : amountOf(String(cash))))] as const],
    ),
  )
  const of: BookSettings = { ...view, timeZone: "UTC", flatWithdrawalFee: "none" }
  const { clearing, deferred, income, interest, principal } = receivableBooks(fact, of, shares)
  return {
    ...{ principal: textOf(principal), interest: textOf(interest), income: textOf(income) },
    ...{ deferred: textOf(deferred), clearing: textOf(clearing) },
  }
}

it("gives the same in both", () => {
  fc.assert(
    fc.property(versions, settings, (all, view) => {
      expect(booked(all, view)).toEqual(expected(all, view))
    }),
    { numRuns: 1_000 },
  )
})
