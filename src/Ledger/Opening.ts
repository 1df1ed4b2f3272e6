/** The balance that an account had before the first of its statement entries that we know. */
import { Option } from "effect"
import * as Money from "../Common/Money.ts"
import { signedAmount } from "../Mirror/EntryRow.ts"
import type { PlacedEntry } from "../Mirror/StatementEntries.ts"
import type { JournalEntry } from "./JournalEntry.ts"
import { debitsFirst } from "./Posting.ts"

/**
 * The opening balance that an account had before the first statement entry that we know. None where it was zero. It
 * takes the position before that entry, and its date.
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
 * Older entries of an account have been found: the opening balance that was booked in their place shrinks by what they
 * moved. `sequence` is the number of corrections before, plus one. None where they moved nothing on the whole.
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
