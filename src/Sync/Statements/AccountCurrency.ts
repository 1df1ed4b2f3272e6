/** An account has one currency. An entry in another one goes into quarantine, and the entries after it wait. */
import { Either, Option } from "effect"
import * as Money from "../../Common/Money.ts"
import type { Row } from "../../Partner/Lists/Page.ts"
import type { StatementEntry } from "../../Partner.ts"

/** The entry as the service sent it, field by field; then the fields that are not decoded, verbatim. */
const rawOf = (entry: StatementEntry): string => {
  const fields = JSON.stringify({
    entryId: entry.entryId,
    accountId: entry.accountId,
    type: entry.type,
    amount: Money.toText(entry.amount),
    currency: entry.currency,
    balanceBefore: Option.getOrUndefined(Option.map(entry.balanceBefore, Money.toText)),
    balanceAfter: Money.toText(entry.balanceAfter),
    relatedResourceType: Option.getOrUndefined(entry.relatedResourceType),
    relatedResourceId: Option.getOrUndefined(entry.relatedResourceId),
    occurredAt: entry.occurredAt,
  })
  return entry.extra === null ? fields : `${fields.slice(0, -1)},${entry.extra.slice(1)}`
}

export const inCurrency =
  (currency: string) =>
  (row: Row<StatementEntry>): Row<StatementEntry> =>
    Either.isLeft(row) || row.right.currency === currency
      ? row
      : Either.left({
          raw: rawOf(row.right),
          reason: `is ${row.right.currency}, but the account holds ${currency}`,
          path: "$.currency",
          id: Option.some(row.right.entryId),
        })
