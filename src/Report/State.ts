/** Whether the month is closed and still what it was closed as, or a draft, and why. */
import { inArray } from "drizzle-orm"
import { Effect } from "effect"
import { agreementOf } from "../Close/Agreement.ts"
import { type Accepted, closesOf, type KeptClose, standing } from "../Close/Kept.ts"
import { lockedWith } from "../Close/Locked.ts"
import { isClosed } from "../Close/Month.ts"
import { counted } from "../Common/Text.ts"
import { int4 } from "../Database/Columns.ts"
import { findings } from "../Database/Tables/Reconcile.ts"
import { Database } from "../Database.ts"
import { readFacts } from "../Export/Source/BookFacts.ts"
import type { Finding } from "./FindingRows.ts"
import type { ReconciledAccount } from "./Reconciliation.ts"
import { known, type ReportScope } from "./ReportScope.ts"

/** What was open at the close and somebody answered for. */
export interface Exception extends Accepted {
  /** The finding's check; null: it is no finding. */
  readonly check: string | null
}

export interface State {
  /** The close that stood at the report's time. */
  readonly close: KeptClose | null
  /** The month takes no more entries now. */
  readonly locked: boolean
  readonly accepted: ReadonlyArray<Exception>
  /** Why this is a draft; none: it is closed, and what is open was accepted. */
  readonly reasons: ReadonlyArray<string>
}

const differences = (accounts: ReadonlyArray<ReconciledAccount>): ReadonlyArray<string> =>
  accounts
    .filter(({ tiesOut }) => !tiesOut)
    .map(
      ({ accountId, currency, difference }) =>
        `account ${accountId} does not tie out: ${difference} ${currency} lie between the books and the provider's balance`,
    )

const isAccepted = (accepted: ReadonlyArray<Accepted>, { id }: Finding): boolean =>
  accepted.some((one) => one.id.toLowerCase() === id.toLowerCase())

/** How many closes and reopenings of the book there were at the report's time. */
const closesThen = Effect.fn("Report.closesThen")(function* (scope: ReportScope) {
  const database = yield* Database
  const { sequence } = yield* database.row(
    "Report.closesThen",
    { sequence: int4 },
    (sql) => sql`
      select coalesce(max(c.sequence), 0) as sequence from ledger.closes c
      where c.book_id = ${scope.book.bookId} and ${known(sql, scope, sql`c.at`)}`,
  )
  return sequence
})

/** The accepted ones with their checks. */
const exceptionsOf = Effect.fn("Report.exceptionsOf")(function* (accepted: ReadonlyArray<Accepted>) {
  const database = yield* Database
  const ids = accepted.flatMap(({ id }) => /^[Ff]\d{1,18}$/.exec(id)?.[0].slice(1) ?? [])
  const rows = yield* database.orm("Report.exceptionsOf", (orm) =>
    orm
      .select({ id: findings.findingId, check: findings.check })
      .from(findings)
      .where(inArray(findings.findingId, ids.map(BigInt))),
  )
  const checks = new Map(rows.map(({ check, id }) => [`f${id}`, check]))
  return accepted.map(
    ({ id, reason, what }): Exception => ({ id, check: checks.get(id.toLowerCase()) ?? null, what, reason }),
  )
})

/**
 * What a closed month is stamped with: `closed`, or `closed, 2 accepted exceptions (adjustment F12, conversion-in-transit
 * F15)`.
 */
export const stampOf = (accepted: ReadonlyArray<Pick<Exception, "id" | "check">>): string =>
  accepted.length === 0
    ? "closed"
    : `closed, ${counted(accepted.length, "accepted exception")} (${accepted
        .map(({ check, id }) => (check === null ? id : `${check} ${id}`))
        .join(", ")})`

/** A close says who answers for what was open; what has come up in the month since is a reason again. */
export const stateOf = Effect.fn("Report.state")(function* (
  scope: ReportScope,
  accounts: ReadonlyArray<ReconciledAccount>,
  findings: ReadonlyArray<Finding>,
) {
  const { asOf, book, last, month, period } = scope
  const all = yield* closesOf(book)
  const then = yield* closesThen(scope)
  const close =
    standing(
      all.filter(({ sequence }) => sequence <= then),
      period,
    ) ?? null
  const accepted = yield* exceptionsOf(close?.accepted ?? [])
  const open = findings.filter((finding) => finding.severity === "blocking" && !isAccepted(accepted, finding))
  if (close === null) {
    const locked = asOf === null && isClosed(month)
    const along = locked ? yield* lockedWith(month) : null
    const facts = asOf === null ? (yield* readFacts(book.bookId, last)).reasons : []
    const told = asOf === null || open.length === 0 ? [] : [`${open.length} blocking findings were open`]
    const why = locked
      ? (along ?? `${period} is closed, but nothing is kept of its close`)
      : `${period} is not closed: tieout close ${period} --book ${book.code}`
    return {
      close,
      locked,
      accepted,
      reasons: [why, ...facts, ...told, ...differences(accounts)],
    } satisfies State
  }
  // Reopened since: what it was closed as can be compared no more.
  const stands = standing(all, period)?.sequence === close.sequence
  const agreement = stands ? (yield* agreementOf(month)).differences : []
  const since = open.filter(({ dated }) => dated)
  return {
    close,
    locked: true,
    accepted,
    reasons: [
      ...agreement.map((difference) => `the books differ from their close: ${difference}`),
      ...since.map(({ check, id }) => `finding ${id} (${check}) has come up since the close`),
      ...differences(accounts),
    ],
  } satisfies State
})
