/** The proof: per account of the provider, the books' closing beside the provider's own balance. */
import { type Html, html } from "../../Common/Html.ts"
import { grouped } from "../../Common/MinorUnits.ts"
import { count, counted } from "../../Common/Text.ts"
import { dayText } from "../../Common/Time.ts"
import type { ReconciledAccount } from "../Reconciliation.ts"
import { breakable, type Column, figure, section, table } from "./Figures.ts"
import { shownRows } from "./Tables.ts"

const hasAmount = (amount: string): boolean => /[1-9]/.test(amount)

/** Shown only where an account has any, which is rare. */
const carriedColumn: Column<ReconciledAccount> = {
  title: "Earlier, dated later",
  look: "num",
  content: ({ carried }) => (hasAmount(carried) ? figure(carried) : ""),
}

/** A late entry comes after those of later months, whose movements are then in its running balance. */
const earlyNote = ({ early, providerAt, running }: ReconciledAccount, timeZone: string): string | null =>
  hasAmount(early) && providerAt !== null
    ? `Running balance after its entry of ${dayText(providerAt, timeZone)}: ${grouped(running)}, of which ${grouped(early)} is of later months, as their entries stand before it.`
    : null

/** `timeZone` is the book's. */
export const proofSection = (accounts: ReadonlyArray<ReconciledAccount>, timeZone: string): Html => {
  const untied = accounts.filter(({ tiesOut }) => !tiesOut)
  const carries = accounts.some(({ carried }) => hasAmount(carried))
  const ordered = [...untied, ...accounts.filter(({ tiesOut }) => tiesOut)]
  return section(
    "The proof",
    untied.length === 0
      ? "Per account of the provider: the books' closing balance, and what the books date later, are what the provider's statement says of all that occurred by the end of the month."
      : `${count(untied.length)} of ${counted(accounts.length, "account")} ${untied.length === 1 ? "does" : "do"} not tie out.`,
    table({
      columns: [
        {
          title: "Account",
          look: "head",
          content: ({ accountId, balance }) =>
            balance === null
              ? accountId
              : html`${breakable(balance.account.name)}<br><code class="soft">${accountId}</code>`,
        },
        { title: "Cur", content: ({ currency }) => currency },
        { title: "Opening per books", look: "num", content: ({ opening }) => figure(opening) },
        { title: "Closing per books", look: "num", content: ({ closing }) => figure(closing) },
        {
          title: "Dated later",
          look: "num",
          content: ({ datedLater }) => (hasAmount(datedLater) ? figure(datedLater) : ""),
        },
        ...(carries ? [carriedColumn] : []),
        { title: "Provider's balance", look: "num", content: ({ provider }) => figure(provider) },
        {
          title: "Difference",
          look: "num",
          content: ({ difference, tiesOut }) =>
            html`<span class="tick ${tiesOut ? "good" : "bad"}">${figure(difference)} ${tiesOut ? "✓" : "✗"}</span>`,
        },
      ],
      note: (account) => earlyNote(account, timeZone),
      rows: ordered.slice(0, shownRows.accounts),
      total: accounts.length,
      file: "account-reconciliation.csv",
      none: "The provider lists no account.",
    }),
  )
}
