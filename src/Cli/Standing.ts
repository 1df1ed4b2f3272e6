/** Where every account stands: the table that `sync` and `status` end with. */

import type { OpenCounts } from "../Reconcile/Summary.ts"
import type { Standing } from "../Status/Accounts.ts"
import { table } from "../Terminal/Table.ts"
import { count, counted, styled } from "../Terminal/Text.ts"
import type { Screen } from "../Terminal.ts"

export const standingLines = (accounts: ReadonlyArray<Standing>, screen: Screen): ReadonlyArray<string> => {
  if (accounts.length === 0) return ["No accounts yet."]
  const severalBooks = new Set(accounts.map(({ book }) => book)).size > 1
  const columns = [
    ...(severalBooks ? [{ title: "Book" }] : []),
    { title: "Account" },
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
    count(account.newEntries),
    count(account.entries),
    account.balance,
    account.tiesOut ? "yes" : `NO${account.remark === null ? "" : `: ${account.remark}`}`,
  ])
  return table(columns, rows, screen)
}

/** The sentence that matters most, last. */
export const verdict = (
  accounts: ReadonlyArray<Standing>,
  open: OpenCounts,
  screen: Screen,
): ReadonlyArray<string> => {
  const off = accounts.filter(({ tiesOut }) => !tiesOut).length
  const sentences: Array<string> = []
  if (off > 0) sentences.push(`${counted(off, "account does", "accounts do")} not tie out.`)
  if (open.blockingFindings > 0) sentences.push(`${counted(open.blockingFindings, "blocking finding")} open.`)
  if (open.quarantined > 0) sentences.push(`${counted(open.quarantined, "row")} in quarantine.`)
  const good = sentences.length === 0
  if (open.warnings > 0) sentences.push(`${counted(open.warnings, "warning")}.`)
  if (good && accounts.length > 0) sentences.unshift("Everything ties out.")
  // What waits in quarantine is a finding as well; where that is all there is, the list says more.
  const elsewhere = off > 0 || open.blockingFindings > 0 || open.warnings > 0
  const commands = [
    ...(elsewhere ? ["tieout reconcile"] : []),
    ...(open.quarantined > 0 ? ["tieout quarantine list"] : []),
  ]
  if (commands.length > 0) sentences.push(`See: ${commands.join(", ")}`)
  return sentences.length === 0 ? [] : ["", styled(screen.color, good ? "green" : "red", sentences.join(" "))]
}

/** Whether a person has to look. */
export const needsAttention = (open: OpenCounts): boolean => open.blockingFindings > 0 || open.quarantined > 0
