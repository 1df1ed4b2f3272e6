/** The standing of every account, and whether the books tie out: the end of `sync` and `status`. */

import { count, counted, styled } from "../../Common/Text.ts"
import { wrapped } from "../../Common/Wrap.ts"
import type { Standing } from "../../Inquiry/AccountStandings.ts"
import type { OpenCounts } from "../../Reconcile/Summary.ts"
import {
  needsAttention,
  openItemCount,
  type TieOut,
  tieOutSentence,
  tiesOut,
} from "../../Reconcile/TieOut.ts"
import type { NotRead } from "../../Reconcile/Unread.ts"
import { table } from "../../Terminal/Table.ts"
import type { Screen } from "../../Terminal.ts"

const tiesOutText = ({ acceptedAt, beingRead, remark, tiesOut }: Standing): string => {
  if (tiesOut) return "yes"
  if (beingRead) return `being read: ${remark}`
  const word = acceptedAt === null ? "NO" : `accepted at the close of ${acceptedAt}`
  return remark === null ? word : `${word}: ${remark}`
}

export const standingLines = (accounts: ReadonlyArray<Standing>, screen: Screen): ReadonlyArray<string> => {
  if (accounts.length === 0) return []
  const severalBooks = new Set(accounts.map(({ book }) => book)).size > 1
  const columns = [
    ...(severalBooks ? [{ title: "Book" }] : []),
    { title: "Account", identifier: true },
    { title: "Currency" },
    { title: "Rail", shrinks: true },
    { title: "Status", shrinks: true },
    { title: "New", align: "right" },
    { title: "Entries", align: "right" },
    { title: "Balance", align: "right" },
    { title: "Ties out", shrinks: true },
  ] as const
  const rows = accounts.map((account) => [
    ...(severalBooks ? [account.book] : []),
    account.accountId,
    account.currency,
    account.paymentRails,
    account.status,
    account.newEntries === null ? "?" : count(account.newEntries),
    count(account.entries),
    account.balance,
    tiesOutText(account),
  ])
  return table(columns, rows, screen)
}

/**
 * The conclusion as one sentence, with the commands that show what is open. `hasFailed`: what was not read has just failed, so that the
 * same command need not bring it.
 */
export const verdict = (
  tieOut: TieOut,
  notRead: ReadonlyArray<NotRead>,
  screen: Screen,
  hasFailed = false,
): ReadonlyArray<string> => {
  const { accounts, off, otherWarnings, quarantined } = tieOut
  const explained = tiesOut(tieOut)
  if (explained && accounts === 0) {
    return [
      "",
      styled(screen.color, "yellow", `${tieOutSentence(tieOut)}. Where a sync fails, see: tieout doctor`),
    ]
  }
  const sentences = [`${tieOutSentence(tieOut, notRead)}.`]
  if (otherWarnings > 0) sentences.push(`${counted(otherWarnings, "warning")}.`)
  // A row in quarantine is a finding as well; if that is all that is open, the list of rows says more.
  const elsewhere = off > 0 || otherWarnings > 0 || openItemCount(tieOut) > 0
  const commands = [
    ...(elsewhere ? ["tieout reconcile"] : []),
    ...(quarantined > 0 ? ["tieout quarantine list"] : []),
  ]
  // What the settings leave out, no sync reads.
  if (notRead.some(({ leftOut }) => !leftOut) && !hasFailed) sentences.push("tieout sync reads all of it.")
  if (commands.length > 0) sentences.push(`See: ${commands.join(", ")}`)
  const colour = explained && notRead.length === 0 ? "green" : needsAttention(tieOut) ? "red" : "yellow"
  return ["", ...wrapped(sentences.join(" "), screen.width).map((line) => styled(screen.color, colour, line))]
}

/** Whether something blocks: exit code 3. */
export const isBlocking = (open: OpenCounts): boolean => open.blockingFindings > 0 || open.quarantined > 0
