/** The sheets on the page: bounded, with the most important columns. */

import { type Html, html } from "../../Common/Html.ts"
import { print } from "../../Common/MinorUnits.ts"
import { counted } from "../../Common/Text.ts"
import { dayText } from "../../Common/Time.ts"
import type { differenceSheet } from "../DifferenceSheet.ts"
import type { ExceptionRow } from "../Exceptions.ts"
import type { lateSheet } from "../LateSheet.ts"
import type { AgeingRow } from "../Receivables/Ageing.ts"
import type { Row, Written } from "../Sheet.ts"
import type { CurrencyTotal, trialBalanceSheet } from "../TrialBalanceSheet.ts"
import { breakable, figure, section, table, words } from "./Figures.ts"

/** How many rows of a sheet the page shows. */
export const shownRows = {
  accounts: 60,
  trialBalance: 120,
  conversions: 40,
  ageing: 40,
  exceptions: 60,
  late: 40,
  rates: 60,
  results: 30,
}

const totalsFoot = (totals: ReadonlyArray<CurrencyTotal>): Html =>
  html`<tfoot>${totals.map(
    ({ closing, credit, currency, debit, opening, scale }) =>
      html`<tr><th scope="row" colspan="2">Total</th><td data-label="Cur">${currency}</td>${[
        { label: "Opening", minor: opening },
        { label: "Debit", minor: debit },
        { label: "Credit", minor: credit },
        { label: "Closing", minor: closing },
      ].map(
        ({ label, minor }) => html`<td class="num" data-label="${label}">${figure(print(minor, scale))}</td>`,
      )}</tr>`,
  )}</tfoot>`

export const trialBalanceSection = (
  sheet: Written<typeof trialBalanceSheet.columns>,
  totals: ReadonlyArray<CurrencyTotal>,
): Html =>
  section(
    "Trial balance",
    "Opening and closing are signed, debit positive; debits and credits are the month's. Every posting stands in gl-detail.csv, every kind in roll-forward.csv.",
    table({
      columns: [
        { title: "Code", look: "nowrap", content: (row) => row.account_code },
        { title: "Account", look: "head", content: (row) => breakable(row.account_name ?? "") },
        { title: "Cur", content: (row) => row.currency },
        { title: "Opening", look: "num", content: (row) => figure(row.opening) },
        { title: "Debit", look: "num", content: (row) => figure(row.debit) },
        { title: "Credit", look: "num", content: (row) => figure(row.credit) },
        { title: "Closing", look: "num", content: (row) => figure(row.closing) },
      ],
      rows: sheet.first.slice(0, shownRows.trialBalance),
      total: sheet.rows,
      file: sheet.name,
      foot: totalsFoot(totals),
      none: "The book has no accounts yet.",
    }),
  )

export const ageingSection = (sheet: Written<Record<keyof AgeingRow, "text" | "figure">>): Html =>
  sheet.rows === 0
    ? html``
    : section(
        "Receivables by age",
        "What the books hold of each at the end of the month. The interface states no due date, so the age is counted from the day of issue; nor does it say since when interest runs, so that is dated by the day on which it became known.",
        table({
          columns: [
            {
              title: "Receivable",
              look: "head",
              content: (row) => html`${row.client}<br><code class="soft">${row.receivable}</code>`,
            },
            { title: "Cur", content: (row) => row.currency ?? null },
            { title: "Issued", look: "nowrap", content: (row) => row.issue_date ?? null },
            { title: "Status", content: (row) => row.status ?? null },
            { title: "Principal", look: "num", content: (row) => figure(row.principal ?? null) },
            { title: "Interest", look: "num", content: (row) => figure(row.interest ?? null) },
            { title: "0–30 days", look: "num", content: (row) => figure(row.days_0_30 ?? null) },
            { title: "31–60", look: "num", content: (row) => figure(row.days_31_60 ?? null) },
            { title: "61–90", look: "num", content: (row) => figure(row.days_61_90 ?? null) },
            { title: "Over 90", look: "num", content: (row) => figure(row.days_over_90 ?? null) },
          ],
          note: (row) => row.remark ?? null,
          rows: sheet.first,
          total: sheet.rows,
          file: sheet.name,
          none: "None.",
        }),
      )

/** A finding's number or an account's code stays whole; a UUID breaks where the column ends. */
const shortId = /^\S{1,12}$/

/** `waiting`: how many of all rows are movements that wait to be completed. */
export const exceptionsSection = (
  sheet: Written<Record<keyof ExceptionRow, "text" | "figure">>,
  waiting: number,
) => {
  // These are only counted: open items show them, unless a rule has sent them to income or expenses.
  const rows = sheet.first.filter(({ severity }) => severity !== "note")
  return section("Exceptions", "What does not tie out, what is open, and what was answered for.", [
    table({
      columns: [
        { title: "What", look: "head", content: (row) => row.what ?? null },
        {
          title: "Severity",
          content: (row) =>
            row.severity === "blocking" ? html`<span class="bad">blocking</span>` : (row.severity ?? null),
        },
        {
          title: "Id",
          content: (row) =>
            html`<code class="${shortId.test(row.id ?? "") ? "nowrap" : "id"}">${row.id ?? row.subject}</code>`,
        },
        {
          title: "Amount",
          look: "num",
          content: (row) =>
            row.amount === null
              ? ""
              : html`${figure(row.amount ?? null)} <span class="cur">${row.currency}</span>`,
        },
        {
          title: "Message",
          look: "free",
          content: (row) =>
            row.who === null
              ? (row.message ?? null)
              : html`${row.message}<br><span class="soft">${row.who}: ${row.reason}</span>`,
        },
      ],
      rows: rows.slice(0, shownRows.exceptions),
      total: sheet.rows - waiting,
      file: sheet.name,
      none: "None.",
    }),
    waiting === 0
      ? html``
      : html`<p class="more">${counted(waiting, "movement")} that the service has not completed ${waiting === 1 ? "stands" : "stand"} in exceptions.csv.</p>`,
  ])
}

/** `timeZone` is the book's, by which its months are. */
export const lateSection = (sheet: Written<typeof lateSheet.columns>, timeZone: string): Html =>
  section(
    "Late entries",
    "What the service reported of a month after that was closed: the books date it to the first open day.",
    table({
      columns: [
        { title: "Number", look: "nowrap", content: (row) => row.journal_number },
        {
          title: "Occurred",
          look: "nowrap",
          content: ({ occurred_at: at }) => (at === null ? null : dayText(at, timeZone)),
        },
        { title: "Dated", look: "nowrap", content: (row) => row.effective_date },
        { title: "Late for", look: "nowrap", content: (row) => row.late_for },
        { title: "What", content: (row) => words(row.kind ?? "") },
        { title: "Account", content: (row) => breakable(row.account_name ?? "") },
        { title: "Description", look: "free", content: (row) => row.description },
        {
          title: "Amount",
          look: "num",
          content: (row) => html`${figure(row.amount)} <span class="cur">${row.currency}</span>`,
        },
      ],
      rows: sheet.first,
      total: sheet.rows,
      file: sheet.name,
      none: "None: everything is dated in the month that it happened in.",
    }),
  )

type DifferenceRow = Row<typeof differenceSheet.columns>

export const differenceSection = (rows: ReadonlyArray<DifferenceRow>, asOf: string): Html => {
  const changed = rows.filter(({ postings_since: postings }) => postings !== "0")
  return section(
    "Since then",
    `What the books say of the month now that they did not say at ${asOf}.`,
    table({
      columns: [
        { title: "Code", look: "nowrap", content: (row) => row.account_code },
        { title: "Account", look: "head", content: (row) => breakable(row.account_name ?? "") },
        { title: "Cur", content: (row) => row.currency },
        { title: "Closing then", look: "num", content: (row) => figure(row.closing_then) },
        { title: "Closing now", look: "num", content: (row) => figure(row.closing_now) },
        { title: "Difference", look: "num", content: (row) => figure(row.difference) },
      ],
      rows: changed.slice(0, shownRows.trialBalance),
      total: changed.length,
      file: "difference.csv",
      none: "Nothing: the books say the same now.",
    }),
  )
}
