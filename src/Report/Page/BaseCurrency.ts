/** The base currency on the page: what exchange rates brought or cost, by which rates, and the trial balance. */
import { type Html, html } from "../../Common/Html.ts"
import { parse, print } from "../../Common/MinorUnits.ts"
import { counted } from "../../Common/Text.ts"
import { baseScale } from "../../Valuation/Rates/Rate.ts"
import type { BaseFigures } from "../Base/BaseFigures.ts"
import type { baseRatesSheet, baseResultsSheet, baseTrialBalanceSheet } from "../Base/BaseSheets.ts"
import { total } from "../ReportBalances.ts"
import type { Written } from "../Sheet.ts"
import { breakable, figure, section, table } from "./Figures.ts"
import { shownRows } from "./Tables.ts"

export interface BasePage {
  readonly figures: BaseFigures
  readonly trialBalance: Written<typeof baseTrialBalanceSheet.columns>
  readonly rates: Written<typeof baseRatesSheet.columns>
  readonly results: Written<typeof baseResultsSheet.columns>
}

const methods = { average: "at average cost", fifo: "first in, first out" }

/** What the kept valuation lacks, if anything. */
const behind = ({ later, overtaken }: BaseFigures): string => {
  const again = "tieout report --base values the month again."
  if (later > 0) {
    return ` ${counted(later, "entry", "entries")} came since and ${later === 1 ? "is" : "are"} not in it: ${again}`
  }
  return overtaken
    ? ` Its rates or settings have changed since, or those of a month before, and it has the former ones: ${again}`
    : ""
}

const ledeOf = (figures: BaseFigures): string => {
  const { currency, method, over } = figures
  return `The month as ${figures.overtaken ? "it was last valued" : "tieout export --base has it"}, in ${currency} at two decimals: cost ${methods[method]}${over ? ", balances in other currencies revalued at the month's end" : ", not revalued, since the month was not over"}.${behind(figures)}`
}

/** All results are in the base currency. */
const resultsFoot = ({ results }: BaseFigures): Html => {
  const sum = (of: "realized" | "unrealized") =>
    figure(print(total(results.map((row) => parse(row[of], baseScale))), baseScale))
  return html`<tfoot><tr><th scope="row">Total</th><td class="num" data-label="Realized">${sum("realized")}</td><td class="num" data-label="Unrealized">${sum("unrealized")}</td></tr></tfoot>`
}

/** Over all accounts, shown or not: they have one currency here. */
const balancesFoot = ({ balances }: BaseFigures): Html => {
  const columns = ["opening", "debit", "credit", "closing"] as const
  const labels = { opening: "Opening", debit: "Debit", credit: "Credit", closing: "Closing" }
  return html`<tfoot><tr><th scope="row" colspan="2">Total</th>${columns.map(
    (of) =>
      html`<td class="num" data-label="${labels[of]}">${figure(print(total(balances.map((one) => one[of])), baseScale))}</td>`,
  )}</tr></tfoot>`
}

const heading = (text: string): Html => html`<h3 class="apart">${text}</h3>`

export const baseSection = ({ figures, rates, results, trialBalance }: BasePage): Html => {
  const shown = rates.first.slice(0, shownRows.rates)
  return section("Base currency", ledeOf(figures), [
    heading("Realized and unrealized results by currency"),
    table({
      columns: [
        { title: "Currency", look: "head", content: (row) => row.currency },
        { title: `Realized, ${figures.currency}`, look: "num", content: (row) => figure(row.realized) },
        { title: `Unrealized, ${figures.currency}`, look: "num", content: (row) => figure(row.unrealized) },
      ],
      rows: results.first.slice(0, shownRows.results),
      total: results.rows,
      file: results.name,
      foot: resultsFoot(figures),
      none: "Exchange rates brought and cost nothing.",
    }),
    heading("Rates used"),
    table({
      columns: [
        { title: "Currency", look: "head", content: (row) => row.currency },
        { title: "Used for", content: (row) => row.used_for },
        { title: "Day", look: "nowrap", content: (row) => row.date ?? "" },
        { title: "Rate", look: "num", content: (row) => row.rate ?? "" },
        { title: "Source", content: (row) => row.source ?? "" },
        { title: "Lines", look: "num", content: (row) => row.lines ?? "" },
        { title: "Amount", look: "num", content: (row) => figure(row.amount) },
      ],
      note: (row) => (row.revaluation === null ? null : `${row.account_name}: ${row.revaluation}`),
      rows: shown,
      total: rates.rows,
      file: rates.name,
      none: "None: nothing was valued by the rate of a day.",
    }),
    heading(`Trial balance in ${figures.currency}`),
    table({
      columns: [
        { title: "Code", look: "nowrap", content: (row) => row.account_code },
        { title: "Account", look: "head", content: (row) => breakable(row.account_name ?? "") },
        { title: "Opening", look: "num", content: (row) => figure(row.opening) },
        { title: "Debit", look: "num", content: (row) => figure(row.debit) },
        { title: "Credit", look: "num", content: (row) => figure(row.credit) },
        { title: "Closing", look: "num", content: (row) => figure(row.closing) },
      ],
      rows: trialBalance.first.slice(0, shownRows.trialBalance),
      total: trialBalance.rows,
      file: trialBalance.name,
      foot: balancesFoot(figures),
      none: "The book has no accounts yet.",
    }),
  ])
}
