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

const counterpartyOf = (found: Option.Option<Resource>): Option.Option<string> =>
  Option.flatMap(found, ({ counterparty }) => counterparty)

const codeOf = (
  match: Match,
  of: StatementEntry = entry,
  resource: Option.Option<Resource> = Option.some(withdrawal),
): string | undefined => {
  const find = ruleFor([{ match, account: { code: "4120", name: "Expenses:Payroll" } }])(
    Option.some(idOf("0c")),
    counterpartyOf,
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

describe("of thousands of rules", () => {
  const paid: Withdrawal = { ...withdrawal, counterparty: Option.some("Staff (Ltd.) 7") }

  it("the first that matches wins, however it is found", () => {
    const matches: ReadonlyArray<Match> = [
      { counterparty: "Staff" },
      { counterparty: "^Staff \\(Ltd\\.\\) 7$" },
      { destinationId: idOf("0d") },
      { accountId: idOf("0a").toUpperCase() },
      { client: idOf("0c"), direction: "DEBIT" },
      { currency: "USD" },
    ]
    const others: ReadonlyArray<Match> = [
      { counterparty: "^Staff$" },
      { counterparty: "^Staff .Ltd\\.. 8$" },
      { destinationId: idOf("0d"), currency: "EUR" },
      { client: idOf("0d") },
    ]
    // Each once as the first.
    for (let first = 0; first < matches.length; first++) {
      const ordered = [...others, ...matches.slice(first), ...matches.slice(0, first)]
      const rules = ordered.map((match, at) => ({ match, account: { code: String(at), name: "Other" } }))
      const found = ruleFor(rules)(Option.some(idOf("0c")), counterpartyOf)(entry, Option.some(paid))
      expect(found?.account.code, JSON.stringify(matches[first])).toBe(String(others.length))
    }
  })

  it.each([
    ["destinationId", (at: number): string => idOf(String(at))],
    ["accountId", (at: number): string => idOf(String(at))],
    ["client", (at: number): string => idOf(String(at))],
    ["counterparty", (at: number): string => `^Staff \\(Ltd\\.\\) ${at}$`],
  ] as const)("an entry is compared with those that want its %s", (criterion, wanted) => {
    let looked = 0
    const rules = Array.from({ length: 3_000 }, (_, at) => ({
      get match(): Match {
        looked += 1
        return { [criterion]: wanted(1_000 + at) }
      },
      account: { code: "4120", name: "Expenses:Payroll" },
    }))
    const find = ruleFor(rules)(Option.some(idOf("0c")), counterpartyOf)
    looked = 0
    for (let at = 0; at < 10; at++) expect(find(entry, Option.some(paid))).toBeNull()
    expect(looked).toBe(0)
  })
})
