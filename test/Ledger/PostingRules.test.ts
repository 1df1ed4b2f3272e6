import { Option } from "effect"
import { describe, expect, it } from "vitest"
import * as Money from "../../src/Common/Money.ts"
import { ruleFor } from "../../src/Ledger/PostingRules.ts"
import type { StatementEntry, Withdrawal } from "../../src/Partner.ts"
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
const withdrawal: Withdrawal = {
  resourceType: "WITHDRAWAL",
  id: idOf("0f"),
  status: "COMPLETED",
  reasonCode: Option.none(),
  externalReference: Option.none(),
  counterparty: Option.none(),
  code: Option.none(),
  transactionHash: Option.none(),
  createdAt: "2026-10-01T00:00:00Z",
  raw: "{}",
  sourceAccount: { accountId: idOf("0a"), currency: "USD", paymentRails: "SWIFT" },
  form: "flat",
  amount: sum,
  delivered: Option.none(),
  fee: Option.none(),
  reference: Option.none(),
  destinationId: Option.some(idOf("0d")),
}

const codeOf = (match: Match): string | undefined => {
  const account = { code: "4120", name: "Expenses:Payroll" }
  const find = ruleFor([{ match, account }], Option.some(idOf("0c")), () => Option.none())
  return find(entry, Option.some(withdrawal))?.account.code
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
