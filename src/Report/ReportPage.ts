/** `report.html`: one self-contained page, for the screen and for paper. */
import type { KeptClose } from "../Close/CloseRecords.ts"
import { type Html, html } from "../Common/Html.ts"
import { count, counted } from "../Common/Text.ts"
import type { ConversionRow } from "./Conversions/ConversionsSheet.ts"
import type { DailyBalances } from "./Daily.ts"
import type { differenceSheet } from "./DifferenceSheet.ts"
import type { ExceptionRow } from "./Exceptions.ts"
import type { lateSheet } from "./LateSheet.ts"
import type { Materiality } from "./Materiality.ts"
import type { comparisonSheet } from "./MonthComparison.ts"
import type { InFlight, Waiting } from "./OpenItemsSheet.ts"
import { type BasePage, baseSection } from "./Page/BaseCurrency.ts"
import { balancesSection, feesSection, flowsSection, hatch } from "./Page/Charts.ts"
import { conversionsSection } from "./Page/Conversions.ts"
import { comparisonSection, openItemsSection } from "./Page/Items.ts"
import { proofSection } from "./Page/ProofSection.ts"
import { policy, style } from "./Page/ReportStyle.ts"
import {
  ageingSection,
  differenceSection,
  exceptionsSection,
  lateSection,
  trialBalanceSection,
} from "./Page/Tables.ts"
import type { AgeingRow } from "./Receivables/Ageing.ts"
import type { ReconciledAccount } from "./Reconciliation.ts"
import type { AccountBalance } from "./ReportBalances.ts"
import type { ReportScope } from "./ReportScope.ts"
import { type State, standingOf } from "./ReportState.ts"
import type { Row, Written } from "./Sheet.ts"
import type { CurrencyTotal, trialBalanceSheet } from "./TrialBalanceSheet.ts"

type Sheet<R> = Written<Record<keyof R, "text" | "figure">>

export interface PageContent {
  readonly scope: ReportScope
  readonly state: State
  readonly waiting: Waiting
  readonly materiality: Materiality
  /** ISO 8601 in UTC. */
  readonly createdAt: string
  readonly version: string
  readonly balances: ReadonlyArray<AccountBalance>
  readonly totals: ReadonlyArray<CurrencyTotal>
  readonly accounts: ReadonlyArray<ReconciledAccount>
  readonly daily: ReadonlyArray<DailyBalances>
  readonly trialBalance: Written<typeof trialBalanceSheet.columns>
  readonly comparison: Written<typeof comparisonSheet.columns>
  /** None: the month is not valued in the base currency. */
  readonly base: BasePage | null
  readonly conversions: Sheet<ConversionRow>
  readonly ageing: Sheet<AgeingRow>
  readonly exceptions: Sheet<ExceptionRow>
  /** How many of the exceptions are movements that the service has not completed. */
  readonly notCompleted: number
  readonly inFlight: InFlight
  readonly late: Written<typeof lateSheet.columns>
  readonly difference: ReadonlyArray<Row<typeof differenceSheet.columns>> | null
  readonly files: ReadonlyArray<{ readonly name: string; readonly rows: number; readonly sha256: string }>
}

/** `2026-10` → `October 2026`. */
const monthName = (period: string): string =>
  new Intl.DateTimeFormat("en-GB", { month: "long", year: "numeric", timeZone: "UTC" }).format(
    new Date(`${period}-01T00:00:00Z`),
  )

const fact = (name: string, value: string): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>`

const seal = (state: State, waiting: Waiting): Html => {
  const { draft, text, word } = standingOf(state, waiting)
  return html`<p class="seal ${draft ? "bad" : "good"}"><b>${word}</b><span>${text}</span></p>`
}

const heading = ({ createdAt, scope, state, version, waiting }: PageContent): Html => {
  const { asOf, book, month, period } = scope
  return html`<header><div><p class="kicker">Close package</p><h1>${monthName(period)}</h1><p>${book.name} · ${book.code}</p></div>${seal(state, waiting)}</header>
<dl class="facts">${fact("Connection", book.connection)}${fact("Time zone", month.timeZone)}${fact("Made", `${createdAt.slice(0, 19).replace("T", " ")} UTC`)}${asOf === null ? html`` : fact("As of", asOf)}${fact("Tieout", version)}</dl>`
}

const closeText = ({ close }: State): Html =>
  close === null
    ? html``
    : html`<p>Closed on ${close.at.slice(0, 10)} at ${close.at.slice(11, 16)} UTC by <b>${close.who}</b>${close.reason === null ? "" : ` (${close.reason})`}, as close ${close.sequence} of the book, over ${counted(close.entries, "journal entry", "journal entries")}.</p>
<p>Hash of the journal, chained to the close before: <code>${close.hash}</code></p>${
        close.recordHash === null
          ? ""
          : html`
<p>Hash of this record (who, when, why, what was accepted), chained to the record before: <code>${close.recordHash}</code></p>`
      }`

/** Who answers for the month: the person who closed it, and the one who approved the close. */
const signOff = ({ scope: { asOf, book }, state: { approval, close } }: PageContent): Html => {
  if (close === null) return html``
  // What is approved now was not approved then.
  const advice =
    asOf === null ? html`<br>tieout close approve ${close.period} --book ${book.code} --by NAME` : html``
  const signed = (
    what: string,
    name: string,
    { at, databaseUser, osUser }: Pick<KeptClose, "at" | "databaseUser" | "osUser">,
    more: Html,
  ) =>
    html`<div><dt>${what}</dt><dd><b>${name}</b><br>${at.slice(0, 10)} ${at.slice(11, 16)} UTC<br>logged in as ${osUser}, ${databaseUser} at the database${more}</dd></div>`
  return html`<section><h2>Sign-off</h2><dl class="signed">${signed("Closed by", close.who, close, html``)}${
    approval === null
      ? html`<div><dt>Approved by</dt><dd><b class="bad">closed, not approved</b>${advice}</dd></div>`
      : signed(
          "Approved by",
          approval.name,
          approval,
          html`${approval.twoPersons ? "; two persons were asked for" : ""}<br><code>${approval.hash}</code>`,
        )
  }</dl></section>`
}

const stateSection = ({ accounts, state, totals }: PageContent): Html => {
  const draft = state.reasons.length > 0
  const untied = accounts.filter(({ tiesOut }) => !tiesOut).length
  const proof =
    untied === 0
      ? `${counted(accounts.length, "account")}: the books are the provider's balance, difference 0.`
      : `${count(untied)} of ${counted(accounts.length, "account")} ${untied === 1 ? "does" : "do"} not tie out.`
  const uneven = totals.filter(({ credit, debit }) => debit !== credit).length
  const even = uneven === 0 ? "Debits equal credits in every currency." : "Debits and credits differ."
  return html`<div class="state ${draft ? "is-draft" : "is-closed"}">${
    draft
      ? html`<p><b class="bad">This is a draft.</b> Not for the record, because:</p><ul>${state.reasons.map((reason) => html`<li>${reason}</li>`)}</ul>`
      : html``
  }${closeText(state)}<p>${proof} ${even}</p></div>`
}

const filesSection = ({ files }: PageContent): Html =>
  html`<section><h2>Files</h2><p class="lede">What this page sums up; manifest.json holds the same digests.</p>
<div class="wide" tabindex="0"><table><thead><tr><th scope="col">File</th><th scope="col" class="num">Rows</th><th scope="col">SHA-256</th></tr></thead>
<tbody>${files.map(({ name, rows, sha256 }) => html`<tr><th scope="row">${name}</th><td class="num">${count(rows)}</td><td><code>${sha256}</code></td></tr>`)}</tbody></table></div></section>`

/** If the month is not valued, the page says how to value it, unless there is nothing to value. */
const unvalued = ({ balances, scope: { asOf, book, period } }: PageContent): Html => {
  if (balances.every(({ movements, opening }) => opening === 0n && movements.length === 0)) {
    return html`<section><h2>Base currency</h2><p class="empty">Nothing stands in the books or moved in the month, so there is nothing to value.</p></section>`
  }
  const when = asOf === null ? "" : ` --as-of ${asOf}`
  return html`<section><h2>Base currency</h2><p class="empty">The month is not valued: tieout report ${period} --book ${book.code}${when} --base does that, by the rates that were imported${asOf === null ? "" : " by then"}.</p></section>`
}

/** The sections of the page, by their names in its index; empty ones are left out. */
const partsOf = (content: PageContent): ReadonlyArray<readonly [string, Html]> => {
  const { balances, base, difference, materiality, scope } = content
  const cash = balances.filter(
    ({ account, movements, opening }) => account.role === "cash" && (opening !== 0n || movements.length > 0),
  )
  const parts: ReadonlyArray<readonly [string, Html]> = [
    ["Sign-off", signOff(content)],
    ["The proof", proofSection(content.accounts, scope.month.timeZone)],
    ["Exceptions", exceptionsSection(content.exceptions, content.notCompleted)],
    ["Open items", openItemsSection(content.inFlight, materiality)],
    ["Month before", comparisonSection(content.comparison, materiality)],
    ["Base currency", base === null ? unvalued(content) : baseSection(base)],
    [
      "Since then",
      difference === null || scope.asOf === null ? html`` : differenceSection(difference, scope.asOf),
    ],
    ["Balances", balancesSection(content.daily, cash.length, scope.period)],
    ["Flows", flowsSection(balances)],
    ["Fees", feesSection(balances)],
    ["Trial balance", trialBalanceSection(content.trialBalance, content.totals)],
    ["Conversions", conversionsSection(content.conversions)],
    ["Receivables", ageingSection(content.ageing)],
    ["Late entries", lateSection(content.late, scope.month.timeZone)],
    ["Files", filesSection(content)],
  ]
  return parts.filter(([, { text }]) => text !== "")
}

const anchor = (name: string): string => name.toLowerCase().replaceAll(" ", "-")

export const reportPage = (content: PageContent): string => {
  const { scope } = content
  const draft = content.state.reasons.length > 0
  const parts = partsOf(content)
  return html`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${draft ? "DRAFT: " : ""}${scope.book.code} ${scope.period}, close package</title>
<meta name="viewport" content="width=device-width,initial-scale=1"><meta name="robots" content="noindex">${style}</head>
<body><main>${heading(content)}
${stateSection(content)}${hatch}
<nav aria-label="Contents">${parts.map(([name]) => html`<a href="#${anchor(name)}">${name}</a> `)}</nav>
${parts.map(([name, body]) => html`<div id="${anchor(name)}">${body}</div>\n`)}
<footer>Every figure stands in the files beside this page, and is exact. Currencies are never added together.</footer></main></body></html>
`.text
}
