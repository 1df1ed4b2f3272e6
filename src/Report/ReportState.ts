/** Whether the month is closed and still agrees with its close, or is a draft, and why. */
import { and, eq, lte, max, sql } from "drizzle-orm"
import { Effect } from "effect"
import { agreementOf } from "../Close/Agreement.ts"
import { type Approval, approvalsOf } from "../Close/Approval.ts"
import { type Accepted, closesOf, type KeptClose, lastClose, standingClose } from "../Close/CloseRecords.ts"
import { lockedWith } from "../Close/Locked.ts"
import { isClosed } from "../Close/Month.ts"
import { counted } from "../Common/Text.ts"
import { closes } from "../Database/Tables/Close.ts"
import { findings } from "../Database/Tables/Reconcile.ts"
import { Database } from "../Database.ts"
import { readFacts } from "../Export/Source/BookFacts.ts"
import type { Finding } from "./FindingRows.ts"
import type { Waiting } from "./OpenItemsSheet.ts"
import type { ReconciledAccount } from "./Reconciliation.ts"
import type { ReportScope } from "./ReportScope.ts"

/** A finding that a person accepted at the month's close, or for good at a later one. */
export interface Exception extends Accepted {
  /** The finding's check; null: not a finding. */
  readonly check: string | null
  /** The later close; absent: the month's own. */
  readonly later?: KeptClose
}

export interface State {
  /** The close in force at the report's time. */
  readonly close: KeptClose | null
  /** Of that close; null: nobody has approved it. */
  readonly approval: Approval | null
  /** Whether the month takes no more entries now. */
  readonly locked: boolean
  readonly accepted: ReadonlyArray<Exception>
  /** Why this is a draft; empty: the month is closed, and all open findings were accepted. */
  readonly reasons: ReadonlyArray<string>
}

const differences = (accounts: ReadonlyArray<ReconciledAccount>): ReadonlyArray<string> =>
  accounts
    .filter(({ tiesOut }) => !tiesOut)
    .map(
      ({ accountId, currency, difference }) =>
        `account ${accountId} does not tie out: ${difference} ${currency} lie between the books and the provider's balance`,
    )

/** Whether a finding is among those that were accepted. */
export const isAcceptedAmong = (accepted: ReadonlyArray<Accepted>): ((finding: Finding) => boolean) => {
  const ids = new Set(accepted.map(({ id }) => id.toLowerCase()))
  return ({ id }) => ids.has(id.toLowerCase())
}

/** The number of the book's closes and reopenings at the report's time. */
const closesThen = Effect.fn("Report.closesThen")(function* ({ asOf, book }: ReportScope) {
  const database = yield* Database
  const [last] = yield* database.orm("Report.closesThen", (orm) =>
    orm
      .select({ sequence: max(closes.sequence) })
      .from(closes)
      .where(and(eq(closes.bookId, book.bookId), asOf === null ? undefined : lte(closes.at, asOf))),
  )
  return last?.sequence ?? 0
})

/** Accepted findings with their checks. */
export const exceptionsOf = Effect.fn("Report.exceptionsOf")(function* (accepted: ReadonlyArray<Accepted>) {
  const database = yield* Database
  const ids = accepted.flatMap(({ id }) => /^[Ff]\d{1,18}$/.exec(id)?.[0].slice(1) ?? [])
  const rows = yield* database.orm("Report.exceptionsOf", (orm) =>
    orm
      .select({ id: findings.findingId, check: findings.check })
      .from(findings)
      .where(sql`${findings.findingId} = any (${`{${ids.join(",")}}`}::bigint[])`),
  )
  const checks = new Map(rows.map(({ check, id }) => [`f${id}`, check]))
  return accepted.map(
    (acceptance): Exception => ({ ...acceptance, check: checks.get(acceptance.id.toLowerCase()) ?? null }),
  )
})

/** What came up in the month since its close, was accepted for good at the book's last close, and says the same still. */
const acceptedSince = Effect.fn("Report.acceptedSince")(function* (
  closes: ReadonlyArray<KeptClose>,
  findings: ReadonlyArray<Finding>,
) {
  const later = lastClose(closes)
  if (later === undefined) return []
  const said = new Map(findings.map(({ evidence, id }) => [id, evidence]))
  const accepted = later.accepted.filter(
    ({ evidence, id }) => evidence !== undefined && said.get(id) === evidence,
  )
  return (yield* exceptionsOf(accepted)).map((one): Exception => ({ ...one, later }))
})

/** `closed, approved by Ada, 6 accepted exceptions, 3 suspense items, 4 conversions in transit`: what a closed month is stamped with. */
export const stampOf = (
  accepted: number,
  approvedBy: string | null,
  { suspense, transit }: Waiting = { suspense: 0, transit: 0 },
): string =>
  [
    approvedBy === null ? "closed, not approved" : `closed, approved by ${approvedBy}`,
    ...(accepted === 0 ? [] : [counted(accepted, "accepted exception")]),
    ...(suspense === 0 ? [] : [counted(suspense, "suspense item")]),
    ...(transit === 0 ? [] : [counted(transit, "conversion in transit", "conversions in transit")]),
  ].join(", ")

/** The state of a report: a word, and details. */
export const standingOf = (
  { accepted, approval, close, locked, reasons }: State,
  waiting: Waiting,
): { readonly draft: boolean; readonly word: string; readonly text: string } => {
  const draft = reasons.length > 0
  const word = draft ? "DRAFT" : "CLOSED"
  if (close === null) {
    return { draft, word, text: locked ? "locked without a close of its own" : "the month is open" }
  }
  const text = draft ? "closed, does not tie out" : stampOf(accepted.length, approval?.name ?? null, waiting)
  return { draft, word, text }
}

/** Accepted findings are no reason for a draft; other findings that came up in the month since its close are. */
export const stateOf = Effect.fn("Report.state")(function* (
  scope: ReportScope,
  accounts: ReadonlyArray<ReconciledAccount>,
  findings: ReadonlyArray<Finding>,
) {
  const { asOf, book, last, month, period } = scope
  const all = yield* closesOf(book)
  const known = yield* closesThen(scope)
  const then = all.filter(({ sequence }) => sequence <= known)
  const close = standingClose(then, period) ?? null
  const atClose = yield* exceptionsOf(close?.accepted ?? [])
  const wasAccepted = isAcceptedAmong(atClose)
  const others = close === null ? [] : findings.filter((finding) => !wasAccepted(finding))
  const accepted = [...atClose, ...(yield* acceptedSince(then, others))]
  const isAccepted = isAcceptedAmong(accepted)
  const open = findings.filter((finding) => finding.severity === "blocking" && !isAccepted(finding))
  // An as-of report may be of a time before the approval.
  const approvals = close === null ? [] : yield* approvalsOf(book, asOf)
  const approval = approvals.find(({ sequence }) => sequence === close?.sequence) ?? null
  if (close === null) {
    const locked = asOf === null && isClosed(month)
    const along = locked ? yield* lockedWith(month) : null
    const facts = asOf === null ? (yield* readFacts(book.bookId, last)).reasons : []
    const openFindings =
      asOf === null || open.length === 0
        ? []
        : [`${counted(open.length, "blocking finding was", "blocking findings were")} open`]
    const why = locked
      ? (along ?? `${period} is closed, but nothing is kept of its close`)
      : asOf === null
        ? `${period} is not closed: tieout close ${period} --book ${book.code}`
        : `${period} was not closed then`
    return {
      close,
      approval,
      locked,
      accepted,
      reasons: [why, ...facts, ...openFindings, ...differences(accounts)],
    } satisfies State
  }
  // A month that was reopened since can no longer be compared with its close.
  const stands = standingClose(all, period)?.sequence === close.sequence
  const agreement = stands ? (yield* agreementOf(month)).differences : []
  const since = open.filter(({ dated }) => dated)
  return {
    close,
    approval,
    locked: true,
    accepted,
    reasons: [
      ...agreement.map((difference) => `the books differ from their close: ${difference}`),
      ...since.map(({ check, id }) => `finding ${id} (${check}) has come up since the close`),
      ...differences(accounts),
    ],
  } satisfies State
})
