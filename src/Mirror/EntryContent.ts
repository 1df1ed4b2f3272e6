/** Whether two reads of a statement entry agree: the same, one that names its resource now, or a contradiction. */
import { Option } from "effect"
import * as Money from "../Common/Money.ts"
import type { StatementEntry } from "../Partner.ts"

/** The fields of an entry that concern money, character by character: two reads of one entry must agree on them. */
export const contentOf = (entry: StatementEntry): string =>
  JSON.stringify({
    entryId: entry.entryId,
    accountId: entry.accountId,
    type: entry.type,
    amount: Money.toText(Money.plain(entry.amount)),
    currency: entry.currency,
    balanceAfter: Money.toText(Money.plain(entry.balanceAfter)),
    relatedResourceType: Option.getOrNull(entry.relatedResourceType),
    relatedResourceId: Option.getOrNull(entry.relatedResourceId),
    occurredAt: new Date(entry.occurredAt).toISOString(),
  })

/** Whether two reads of one entry say the same. */
export const sameContent = (left: StatementEntry, right: StatementEntry): boolean =>
  contentOf(left) === contentOf(right)

const becomes = (before: Option.Option<string>, now: Option.Option<string>): boolean =>
  Option.isNone(before) || Option.contains(now, before.value)

/**
 * Whether the only difference is that the entry now names a resource that it did not name before: that is a new version of it.
 * Any other difference is a contradiction.
 */
export const isEnriched = (before: StatementEntry, now: StatementEntry): boolean =>
  !sameContent(before, now) &&
  becomes(before.relatedResourceType, now.relatedResourceType) &&
  becomes(before.relatedResourceId, now.relatedResourceId) &&
  sameContent(
    { ...before, relatedResourceType: now.relatedResourceType, relatedResourceId: now.relatedResourceId },
    now,
  )
