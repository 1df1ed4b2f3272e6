/** What a journal entry is called: the `kind` and the description of the canonical journal. */
import { Option } from "effect"
import * as Money from "../Common/Money.ts"
import { signedAmount } from "../Mirror/EntryRow.ts"
import type { Resource, StatementEntry } from "../Partner.ts"
import { legOf } from "./Conversions/Leg.ts"
import type { Line } from "./JournalEntry.ts"

/** `lines` are those against cash. */
export const kindOf = (
  entry: StatementEntry,
  resource: Option.Option<Resource>,
  lines: ReadonlyArray<Line>,
): string => {
  if (lines.every((line) => line.role === "fees"))
    return Money.isPositive(signedAmount(entry)) ? "fee_refund" : "fee"
  if (Option.isNone(resource)) {
    if (!Option.contains(entry.relatedResourceType, "PAYOUT")) {
      return Option.isNone(entry.relatedResourceType) ? "adjustment" : "unidentified"
    }
    return entry.type === "DEBIT" ? "payout" : "payout_return"
  }
  switch (resource.value.resourceType) {
    case "DEPOSIT":
      return entry.type === "CREDIT" ? "deposit" : "deposit_return"
    case "WITHDRAWAL":
      return entry.type === "DEBIT" ? "withdrawal" : "withdrawal_return"
    case "CONVERSION": {
      const sells = legOf(resource.value, entry, "none").direction === "out"
      return sells === (entry.type === "DEBIT") ? "conversion" : "conversion_return"
    }
  }
}

const words: { readonly [kind: string]: string } = {
  deposit: "Deposit",
  deposit_return: "Deposit returned",
  withdrawal: "Withdrawal",
  withdrawal_return: "Withdrawal returned",
  payout: "Payout",
  payout_return: "Payout returned",
  conversion_return: "Conversion reversed",
  adjustment: "Adjustment without a resource",
}

/** No personal data: names stand in a column of their own. */
export const describe = (kind: string, entry: StatementEntry, resource: Option.Option<Resource>): string => {
  const type = Option.map(entry.relatedResourceType, (text) => text.toLowerCase().slice(0, 40))
  if (kind === "fee" || kind === "fee_refund") {
    const movement = Option.getOrElse(type, () => "movement")
    return kind === "fee" ? `Fee of ${movement}` : `Fee of ${movement} refunded`
  }
  if (kind === "unidentified") return `Unidentified ${Option.getOrElse(type, () => "movement")}`
  if (kind === "conversion" && Option.isSome(resource) && resource.value.resourceType === "CONVERSION") {
    const { sellAmount, buyAmount } = resource.value
    return `Conversion ${sellAmount.currency} to ${buyAmount.currency}, ${entry.type === "DEBIT" ? "sold" : "bought"}`
  }
  return words[kind] ?? kind
}
