/** When a receivable was as it is told, where the answer has no date. */
import { Option } from "effect"
import { byInstant } from "../../Common/Time.ts"
import type { Receivable } from "../../Partner.ts"

/** The latest time within a snapshot, which dates it if the answer has no date. */
export const latestTime = (receivable: Receivable): string =>
  [
    receivable.issueDate,
    ...Option.toArray(receivable.disbursedTransaction).map(({ txTimestamp }) => txTimestamp),
    ...receivable.repaymentTransactions.map(({ txTimestamp }) => txTimestamp),
  ]
    .sort(byInstant)
    .at(-1) ?? receivable.issueDate
