/**
 * `exceptions.csv`: everything that an auditor would ask about: what does not tie out, open findings, accepted findings,
 * balances in suspense, rows in quarantine, and movements that the service has not completed.
 */

import { printed } from "../Common/AmountText.ts"
import { print } from "../Common/MinorUnits.ts"
import type { Sums } from "../Export/Source/Balances.ts"
import type { Finding, Quarantined, UnsettledItem } from "./FindingRows.ts"
import { type Reserved, reservedText } from "./Receivables/ReceivableInterest.ts"
import type { ReconciledAccount } from "./Reconciliation.ts"
import { isAcceptedAmong, type State } from "./ReportState.ts"
import type { Row } from "./Sheet.ts"

export const exceptionsSheet = {
  name: "exceptions.csv",
  columns: {
    what: "text",
    severity: "text",
    id: "text",
    subject: "text",
    date: "text",
    currency: "text",
    amount: "figure",
    message: "text",
    since: "text",
    who: "text",
    reason: "text",
  },
} as const

export type ExceptionRow = Row<typeof exceptionsSheet.columns>

const blank: ExceptionRow = {
  what: null,
  severity: null,
  id: null,
  subject: null,
  date: null,
  currency: null,
  amount: null,
  message: null,
  since: null,
  who: null,
  reason: null,
}

export interface ExceptionSources {
  readonly state: State
  readonly accounts: ReadonlyArray<ReconciledAccount>
  readonly suspense: Sums
  readonly findings: ReadonlyArray<Finding>
  readonly quarantine: ReadonlyArray<Quarantined>
  readonly reserved: ReadonlyArray<Reserved>
  readonly unsettled: ReadonlyArray<UnsettledItem>
}

const amountOf = (amount: string | null, currency: string | null): string | null =>
  amount === null || currency === null ? null : printed(amount, currency)

const differences = (accounts: ReadonlyArray<ReconciledAccount>): ReadonlyArray<ExceptionRow> =>
  accounts
    .filter(({ tiesOut }) => !tiesOut)
    .map(({ accountId, currency, difference, provider }) => ({
      ...blank,
      what: "difference",
      severity: "blocking",
      subject: accountId,
      currency,
      amount: difference,
      message: `The provider's balance is ${provider} ${currency}; the books explain all of it but this.`,
    }))

const suspended = (suspense: Sums): ReadonlyArray<ExceptionRow> =>
  [...suspense]
    .filter(([, closing]) => closing !== 0n)
    .sort(([a], [b]) => (`${a.code} ${a.currency}` < `${b.code} ${b.currency}` ? -1 : 1))
    .map(([account, closing]) => ({
      ...blank,
      what: "suspense",
      severity: "warning",
      subject: account.code,
      currency: account.currency,
      amount: print(closing, account.scale),
      message: `${account.name} is not empty at the end of the month: tieout reclassify moves what stands there.`,
    }))

/** One line for the month, with an amount where there is only one currency. */
const interestReserved = (reserved: ReadonlyArray<Reserved>): ReadonlyArray<ExceptionRow> => {
  const [first, ...others] = reserved.filter(({ late }) => late > 0)
  const single = others.length === 0 ? first : undefined
  return reserved.length === 0
    ? []
    : [
        {
          ...blank,
          what: "interest of receivables",
          severity: "warning",
          subject: "receivables-ageing.csv",
          currency: single?.currency ?? null,
          amount: single === undefined ? null : printed(single.amount, single.currency),
          message: reservedText(reserved),
        },
      ]
}

export const exceptionRows = ({
  accounts,
  findings,
  quarantine,
  reserved,
  state,
  suspense,
  unsettled,
}: ExceptionSources): ReadonlyArray<ExceptionRow> => {
  const isAccepted = isAcceptedAmong(state.accepted)
  return [
    ...differences(accounts),
    // Accepted findings are listed further down, with who answers for them and why.
    ...findings
      .filter((finding) => !isAccepted(finding))
      .map(({ amount, check, currency, date, id, message, openedAt, severity, subject }) => ({
        ...blank,
        what: `open finding: ${check}`,
        severity,
        id,
        subject,
        date,
        currency,
        amount: amountOf(amount, currency),
        message,
        since: openedAt,
      })),
    ...state.accepted.map(
      ({ amount = null, currency = null, date = null, id, later, reason, subject = null, what }) => ({
        ...blank,
        what: later === undefined ? "accepted at the close" : `accepted at the close of ${later.period}`,
        severity: "accepted",
        id,
        subject,
        date,
        currency,
        amount: amountOf(amount, currency),
        message: what,
        since: (later ?? state.close)?.at ?? null,
        who: (later ?? state.close)?.who ?? null,
        reason,
      }),
    ),
    ...suspended(suspense),
    ...interestReserved(reserved),
    ...quarantine.map(({ rows, since, stream }) => ({
      ...blank,
      what: "quarantine",
      severity: "blocking",
      subject: stream,
      message: `${rows} of what the service sent could not be understood: tieout quarantine list`,
      since,
    })),
    ...unsettled.map(({ account, amount, currency, day, resourceId, resourceType, status }) => ({
      ...blank,
      what: "not completed",
      severity: "note",
      id: resourceId,
      subject: account,
      date: day,
      currency,
      amount: printed(amount, currency),
      message: `The ${resourceType.toLowerCase()} has moved money and is still ${status}.`,
      since: day,
    })),
  ]
}
