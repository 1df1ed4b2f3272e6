/** The interest that the service announces for a receivable's whole term (`accounting.receivables.repaymentAmount: original`). */
import type { Amount } from "../../Common/Money.ts"
import * as Money from "../../Common/Money.ts"
import type { ReceivableBalance } from "./ReceivableStanding.ts"
import type { ReceivableVersion } from "./ReceivableVersion.ts"

const { add, max, min, subtract, zero } = Money

type AnnouncedAmounts = Pick<ReceivableVersion, "status" | "initialPrincipal" | "repaymentAmount">

/** The interest of the whole term. */
export const announcedBy = (before: Pick<ReceivableBalance, "announced">, now: AnnouncedAmounts): Amount => {
  const announced = subtract(now.repaymentAmount, now.initialPrincipal)
  return now.status === "PAID" && Money.isNegative(announced) ? before.announced : announced
}

/** Of the announced interest, what is not paid (`original`); negative where less is announced than before, and that was paid. */
export const unpaidOf = (announced: Amount, paid: Amount, paidUnannounced: Amount): Amount => {
  const left = subtract(announced, paid)
  return max(left, min(add(left, paidUnannounced), zero))
}

/** The interest that this version is the first to announce, without what was paid already (`original`). */
export const newlyAnnounced = (before: ReceivableBalance, now: AnnouncedAmounts): Amount => {
  const { paidUnannounced, repaid, announced } = before
  const unpaid = (interest: Amount): Amount => unpaidOf(interest, repaid.interest, paidUnannounced)
  return subtract(unpaid(announcedBy(before, now)), unpaid(announced))
}
