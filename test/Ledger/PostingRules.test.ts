import { Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Money from "../../src/Common/Money.ts"
import { ruleFor } from "../../src/Ledger/PostingRules.ts"
import type { Conversion, Deposit, Resource, StatementEntry, Withdrawal } from "../../src/Partner.ts"
import type { Match } from "../../src/Settings/Rules.ts"

const idOf = (last: string): string => `0000000a-0000-4000-8000-0000000000${last}`
const sum = { amount: Money.fromTrusted("7"), currency: "USD" }

const entry: StatementEntry = {
  entryId: idOf("0e"),
  accountId: idOf("0a"),
  type: "DEBIT",
  ...sum,
  balanceBefore: Option.none(),
  balanceAfter: Money.fromTrusted("0"),
  relatedResourceType: Option.some("WITHDRAWAL"),
  relatedResourceId: Option.some(idOf("0f")),
  occurredAt: "2026-10-01T00:00:00Z",
  extra: null,
}
const account = { accountId: idOf("0a"), currency: "USD", paymentRails: "SWIFT" }
const fields = {
  id: idOf("0f"),
  status: "COMPLETED",
  reasonCode: Option.none(),
  externalReference: Option.none(),
  counterparty: Option.none(),
  code: Option.none(),
  transactionHash: Option.none(),
  createdAt: "2026-10-01T00:00:00Z",
  raw: "{}",
}
const withdrawal: Withdrawal = {
  ...fields,
  resourceType: "WITHDRAWAL",
  sourceAccount: account,
  form: "flat",
  amount: sum,
  delivered: Option.none(),
  fee: Option.none(),
  reference: Option.none(),
  destinationId: Option.some(idOf("0d")),
}

const codeOf = (
  match: Match,
  of: StatementEntry = entry,
  resource: Option.Option<Resource> = Option.some(withdrawal),
): string | undefined => {
  const find = ruleFor(
    [{ match, account: { code: "4120", name: "Expenses:Payroll" } }],
    Option.some(idOf("0c")),
    (found) => Option.flatMap(found, ({ counterparty }) => counterparty),
  )
  return find(of, resource)?.account.code
}

describe("a rule that names an identifier", () => {
  it.each([
    ["accountId", idOf("0a")],
    ["client", idOf("0c")],
    ["destinationId", idOf("0d")],
  ] as const)("matches it however it is spelled: %s", (key, id) => {
    expect(codeOf({ [key]: id })).toBe("4120")
    expect(codeOf({ [key]: id.toUpperCase() })).toBe("4120")
    expect(codeOf({ [key]: idOf("ff") })).toBeUndefined()
  })
})

describe("a rule", () => {
  const paid: Withdrawal = {
    ...withdrawal,
    reference: Option.some("Payroll 10"),
    externalReference: Option.some("EXT-1"),
    counterparty: Option.some("Staff Ltd"),
  }

  it.each([
    [{ type: "WITHDRAWAL" }, { type: "DEPOSIT" }],
    [{ direction: "DEBIT" }, { direction: "CREDIT" }],
    [{ currency: "USD" }, { currency: "EUR" }],
    [{ purpose: "^Pay" }, { purpose: "^pay" }],
    [{ reference: "10$" }, { reference: "11$" }],
    [{ externalReference: "EXT" }, { externalReference: "ext" }],
    [{ counterparty: "Staff" }, { counterparty: "Buyer" }],
  ] satisfies ReadonlyArray<readonly [Match, Match]>)("matches by %o, and not by %o", (match, other) => {
    expect(codeOf(match, entry, Option.some(paid))).toBe("4120")
    expect(codeOf(other, entry, Option.some(paid))).toBeUndefined()
    expect(codeOf({ ...match, ...other }, entry, Option.some(paid))).toBeUndefined()
  })

  it("matches the remitter of deposits alone", () => {
    const deposit: Deposit = {
      ...fields,
      resourceType: "DEPOSIT",
      account,
      amount: sum,
      fee: Option.none(),
      counterparty: Option.some("Buyer AG"),
    }
    expect(codeOf({ remitter: "Buyer" }, entry, Option.some(deposit))).toBe("4120")
    expect(codeOf({ remitter: "Seller" }, entry, Option.some(deposit))).toBeUndefined()
    expect(codeOf({ remitter: "Staff" }, entry, Option.some(paid))).toBeUndefined()
  })

  it("matches no entry whose resource is named and not known; a payout has none, nor an adjustment", () => {
    const named = (type: string | null): StatementEntry => ({
      ...entry,
      relatedResourceType: Option.fromNullable(type),
    })
    expect(codeOf({ currency: "USD" }, named("WITHDRAWAL"), Option.none())).toBeUndefined()
    expect(codeOf({ type: "PAYOUT" }, named("PAYOUT"), Option.none())).toBe("4120")
    expect(codeOf({ type: "ADJUSTMENT" }, named(null), Option.none())).toBe("4120")
  })

  it("never moves the other side of a conversion, which is in transit", () => {
    const conversion: Conversion = {
      ...fields,
      resourceType: "CONVERSION",
      pairId: idOf("01"),
      sellAccount: account,
      sellAmount: sum,
      buyAccount: account,
      buyAmount: sum,
      rate: sum.amount,
      fee: sum,
      completedAt: Option.none(),
    }
    expect(codeOf({ currency: "USD" }, entry, Option.some(conversion))).toBeUndefined()
  })
})
