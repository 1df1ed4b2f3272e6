/** When a receivable was as it is told: by the service's clock, where what that says can be true. */
import { Option } from "effect"
import { byInstant } from "../../Common/Time.ts"
import type { Page } from "../../Partner/Lists/Page.ts"
import type { Receivable } from "../../Partner.ts"

/** A `Date` that is further from our clock than this may be a mistake of either of the two. Milliseconds. */
const farOff = 31 * 86_400_000

/** The latest time within a snapshot, which dates it if the answer has no date. */
const latestTime = (receivable: Receivable): string =>
  [
    receivable.issueDate,
    ...Option.toArray(receivable.disbursedTransaction).map(({ txTimestamp }) => txTimestamp),
    ...receivable.repaymentTransactions.map(({ txTimestamp }) => txTimestamp),
  ]
    .sort(byInstant)
    .at(-1) ?? receivable.issueDate

/**
 * ISO 8601. What is dated by it is booked for good, so a `Date` counts as none where it lies far ahead, or so far back that it
 * comes before something that the answer tells of.
 */
export const toldAt = (
  receivable: Receivable,
  { requestedAt, servedAt }: Pick<Page<Receivable>, "requestedAt" | "servedAt">,
): string => {
  const latest = latestTime(receivable)
  return servedAt.pipe(
    Option.filter((at) => {
      const ahead = Date.parse(at) - requestedAt
      return ahead <= farOff && (ahead >= -farOff || byInstant(at, latest) >= 0)
    }),
    Option.getOrElse(() => latest),
  )
}
