/** Interest that no version shows yet and may be paid all the same: `accounting.receivables.interestBetweenReads`. */
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import type { Instant } from "../../Partner/Instant.ts"
import type { ReceivableBalance } from "./ReceivableStanding.ts"
import type { ReceivableVersion, ReceivableView } from "./ReceivableVersion.ts"

const dayMillis = 86_400_000

/** Days that have begun between two points in time. */
const daysBetween = (from: Instant, to: Instant): number =>
  Math.max(0, Math.ceil((Date.parse(to) - Date.parse(from)) / dayMillis))

/** `interestBetweenReads` of the principal for the days since the last reading, cut off at the currency's minor unit. */
export const accruedBetweenReads = (
  before: ReceivableBalance,
  now: ReceivableVersion,
  view: ReceivableView,
  scale: number,
): Amount => {
  const rate = Money.fromTrusted(view.interestBetweenReads)
  if (Money.isZero(rate)) return Money.zero
  const principal = before.disbursed ? before.principal : now.initialPrincipal
  const days = Money.fromTrusted(String(daysBetween(before.readAt, now.servedAt)))
  return Money.percent(Money.multiply(principal, days), rate, scale)
}
