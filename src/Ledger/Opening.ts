/** The opening balance of an account: what it held before its first known statement entry. */
import { Option } from "effect"
import * as Money from "../Common/Money.ts"
import { signedAmount } from "../Mirror/EntryRow.ts"
import type { PlacedEntry } from "../Mirror/StatementEntries.ts"
import type { JournalEntry } from "./JournalEntry.ts"
import { debitsFirst } from "./Posting.ts"

/**
 * The entry for the balance before an account's first known statement entry; none if that was zero. It has the position before
 * that entry, and its date.
 */
export const openingBalance = (first: PlacedEntry): Option.Option<JournalEntry> => {
  const { entry } = first
  const amount = Money.subtract(entry.balanceAfter, signedAmount(entry))
  if (Money.isZero(amount)) return Option.none()
  const { currency } = entry
  return Option.some({
    sourceType: "opening",
    sourceId: entry.accountId,
    kind: "opening_balance",
    sequence: 0,
    occurredAt: entry.occurredAt,
    partnerAccountId: entry.accountId,
    position: first.position - 1n,
    resourceType: null,
    resourceId: null,
    description: "Balance before the first known statement entry",
    externalReference: Option.none(),
    counterparty: Option.none(),
    lines: debitsFirst([
      { role: "cash", currency, amount, partnerAccountId: entry.accountId, rule: null },
      { role: "opening_balance", currency, amount: Money.negate(amount), partnerAccountId: null, rule: null },
    ]),
  })
}

/**
 * Older entries of an account have been found: the opening balance that was booked in their place shrinks by what they moved.
 * `sequence` is the number of corrections before, plus one. None if they moved nothing in total.
 */
export const openingCorrection = (
  older: ReadonlyArray<PlacedEntry>,
  first: PlacedEntry,
  sequence: number,
): Option.Option<JournalEntry> => {
  const moved = older.reduce((sum, { entry }) => Money.add(sum, signedAmount(entry)), Money.zero)
  if (Money.isZero(moved)) return Option.none()
  const { accountId, currency, occurredAt } = first.entry
  return Option.some({
    sourceType: "opening",
    sourceId: accountId,
    kind: "opening_correction",
    sequence,
    occurredAt,
    partnerAccountId: accountId,
    position: first.position - 1n,
    resourceType: null,
    resourceId: null,
    description: "Opening balance, less older entries that have been found",
    externalReference: Option.none(),
    counterparty: Option.none(),
    lines: debitsFirst([
      { role: "cash", currency, amount: Money.negate(moved), partnerAccountId: accountId, rule: null },
      { role: "opening_balance", currency, amount: moved, partnerAccountId: null, rule: null },
    ]),
  })
}
