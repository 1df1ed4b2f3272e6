/** When two reads of one statement entry agree: on every field that concerns money, however it is written. */
import { Option } from "effect"
import { expect, it } from "vitest"
import * as Money from "../../src/Common/Money.ts"
import { isEnriched, sameContent } from "../../src/Mirror/EntryContent.ts"
import type { StatementEntry } from "../../src/Partner.ts"

const amount = Money.fromTrusted

const entry: StatementEntry = {
  entryId: "10000000-0000-4000-8000-000000000001",
  accountId: "00000000-0000-4000-8000-000000000001",
  type: "CREDIT",
  amount: amount("10.00"),
  currency: "USD",
  balanceBefore: Option.none(),
  balanceAfter: amount("10.00"),
  relatedResourceType: Option.none(),
  relatedResourceId: Option.none(),
  occurredAt: "2026-10-05T12:00:00.000000Z",
  extra: null,
}

const deposit = {
  relatedResourceType: Option.some("DEPOSIT"),
  relatedResourceId: Option.some("20000000-0000-4000-8000-000000000001"),
}

const changes: ReadonlyArray<Partial<StatementEntry>> = [
  { entryId: "10000000-0000-4000-8000-000000000002" },
  { accountId: "00000000-0000-4000-8000-000000000002" },
  { type: "DEBIT" },
  { amount: amount("10.01") },
  { currency: "EUR" },
  { balanceAfter: amount("10.01") },
  { occurredAt: "2026-10-05T12:00:01.000000Z" },
]

it.each(changes)("two reads that differ in %o contradict each other, whatever is added", (change) => {
  expect(sameContent(entry, { ...entry, ...change })).toBe(false)
  expect(isEnriched(entry, { ...entry, ...change, ...deposit })).toBe(false)
})

it("amounts and what the books do not use may be written otherwise", () => {
  const other = {
    amount: amount("10"),
    balanceAfter: amount("10.000"),
    balanceBefore: Option.some(amount("0")),
  }
  expect(sameContent(entry, { ...entry, ...other, extra: '{"note":"more"}' })).toBe(true)
})

it("an entry may come to name its movement, and then keeps it", () => {
  const named = { ...entry, ...deposit }
  expect(isEnriched(entry, named)).toBe(true)
  expect(isEnriched({ ...entry, relatedResourceType: deposit.relatedResourceType }, named)).toBe(true)
  for (const [before, now] of [
    [entry, entry],
    [named, named],
    [named, entry],
    [named, { ...named, relatedResourceType: Option.some("WITHDRAWAL") }],
    [named, { ...named, relatedResourceId: Option.some("20000000-0000-4000-8000-000000000002") }],
  ] as const) {
    expect(isEnriched(before, now)).toBe(false)
  }
})
