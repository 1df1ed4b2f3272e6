/**
 * What deserves a look, the largest of each currency first: open items, and accounts that moved differently from the month
 * before.
 */
import { type Html, html } from "../../Common/Html.ts"
import { count, counted } from "../../Common/Text.ts"
import { type Materiality, type Weighed, weighed } from "../Materiality.ts"
import type { ComparisonRow, comparisonSheet } from "../MonthComparison.ts"
import { type InFlight, type OpenItemRow, openItemsSheet } from "../OpenItemsSheet.ts"
import type { Written } from "../Sheet.ts"
import { breakable, figure, section, table, words } from "./Figures.ts"

/** Of each currency. */
const mostItems = 10
const mostChanges = 8

/** The note about rows that a table of the largest leaves out. */
const leftOut = ({ material, shown, small }: Weighed<unknown>, file: string): Html => {
  const parts = [
    ...(material > shown.length ? [counted(material - shown.length, "smaller one")] : []),
    ...(small > 0 ? [`${count(small)} up to reconcile.materiality`] : []),
  ]
  return parts.length === 0
    ? html``
    : html`<p class="more">Not shown: ${parts.join(" and ")}; all stand in ${file}.</p>`
}

const itemText = (row: OpenItemRow): Html => {
  const what = [words((row.item_type ?? "").toLowerCase()), row.status].filter(Boolean).join(", ")
  return html`${what}<br><code class="id">${row.item_id}</code>`
}

const account = (code: string | null, name: string | null): Html =>
  html`<span class="nowrap">${code}</span> ${breakable(name ?? "")}`

/** Without counterparties and references, which are in the file. */
export const openItemsSection = ({ count: all, first }: InFlight, materiality: Materiality): Html => {
  const file = openItemsSheet.name
  const large = weighed(
    first,
    ({ amount, currency }) => ({ amount: amount ?? "0", currency: currency ?? "" }),
    materiality,
    mostItems,
  )
  const cut =
    all > first.length
      ? html`<p class="more">Of the first ${count(first.length)} of ${count(all)} items.</p>`
      : html``
  return section(
    "Open items",
    `What is in flight at the end of the month, the largest of each currency first. Of what every balance-sheet account beside cash is made, ${file} says.`,
    [
      table({
        columns: [
          {
            title: "Account",
            look: "head",
            content: (row) => account(row.account_code ?? null, row.account_name ?? null),
          },
          { title: "Since", look: "nowrap", content: (row) => row.since ?? "" },
          { title: "What", look: "free", content: itemText },
          { title: "Days", look: "num", content: (row) => row.age_days ?? "" },
          {
            title: "Amount",
            look: "num",
            content: (row) => html`${figure(row.amount ?? null)} <span class="cur">${row.currency}</span>`,
          },
        ],
        rows: large.shown,
        total: large.shown.length,
        file,
        none: all === 0 ? "Nothing is in flight." : "Nothing in flight is material.",
      }),
      leftOut(large, file),
      cut,
    ],
  )
}

export const comparisonSection = (
  sheet: Written<typeof comparisonSheet.columns>,
  materiality: Materiality,
): Html => {
  const large = weighed<ComparisonRow>(
    sheet.first,
    ({ change, currency }) => ({ amount: change ?? "0", currency: currency ?? "" }),
    materiality,
    mostChanges,
  )
  return section(
    "Against the month before",
    "What moved on each account, net, debit positive: the accounts of each currency that changed most.",
    [
      table({
        columns: [
          {
            title: "Account",
            look: "head",
            content: (row) => account(row.account_code, row.account_name),
          },
          { title: "Cur", content: (row) => row.currency },
          { title: "Month before", look: "num", content: (row) => figure(row.month_before) },
          { title: "This month", look: "num", content: (row) => figure(row.month) },
          { title: "Change", look: "num", content: (row) => figure(row.change) },
        ],
        rows: large.shown,
        total: large.shown.length,
        file: sheet.name,
        none: "Nothing changed materially from the month before.",
      }),
      leftOut(large, sheet.name),
      sheet.rows > sheet.first.length
        ? html`<p class="more">Of the first ${counted(sheet.first.length, "account")} of ${count(sheet.rows)}.</p>`
        : html``,
    ],
  )
}
