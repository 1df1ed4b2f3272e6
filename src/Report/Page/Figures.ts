/** Amounts, names and bounded tables for a person. Amounts stay exact texts. */
import { type Html, html } from "../../Common/Html.ts"
import { grouped } from "../../Common/MinorUnits.ts"
import { count } from "../../Common/Text.ts"

/** `12,345.60`; empty where there is no amount. */
export const figure = (amount: string | null): Html => html`${amount === null ? "" : grouped(amount)}`

/** With its currency: `12,345.60 EUR`. */
export const sum = (amount: string, currency: string): Html =>
  html`${grouped(amount)} <span class="cur">${currency}</span>`

/** `withdrawal_return` → `withdrawal return`. */
export const words = (name: string): string => name.replaceAll("_", " ")

/** A name that may break after the colons and underscores of its parts. */
export const breakable = (name: string): Html =>
  html`${name.split(/(?<=[:_])/).map((part, at) => (at === 0 ? html`${part}` : html`<wbr>${part}`))}`

export interface Column<R> {
  readonly title: string
  /** `num`: right-aligned figures; `free`: text of any length; `head`: what the row is about. */
  readonly look?: "num" | "free" | "head" | "nowrap"
  readonly content: (row: R) => Html | string | null
}

const cell = <R>({ content, look, title }: Column<R>, row: R): Html =>
  look === "head"
    ? html`<th scope="row">${content(row)}</th>`
    : look === undefined
      ? html`<td data-label="${title}">${content(row)}</td>`
      : html`<td class="${look}" data-label="${title}">${content(row)}</td>`

export interface Bounded<R> {
  readonly columns: ReadonlyArray<Column<R>>
  readonly rows: ReadonlyArray<R>
  /** Text of any length, on a line of its own below the row: a column would be too narrow on paper. */
  readonly note?: (row: R) => string | null
  /** The number of all rows; `file` has the rest. */
  readonly total: number
  readonly file: string
  readonly foot?: Html
  /** The text where there are no rows. */
  readonly none: string
}

const lines = <R>({ columns, note }: Bounded<R>, row: R): Html => {
  const text = note?.(row) ?? null
  const cells = columns.map((column) => cell(column, row))
  return text === null
    ? html`<tr>${cells}</tr>\n`
    : html`<tr class="noted">${cells}</tr>\n<tr class="note"><td class="free" colspan="${String(columns.length)}">${text}</td></tr>\n`
}

/** A table of the rows that the page shows, with a note of how many more there are in which file. */
export const table = <R>(bounded: Bounded<R>): Html => {
  const { columns, file, foot, none, rows, total } = bounded
  if (total === 0) return html`<p class="empty">${none}</p>`
  const more = total - rows.length
  return html`<div class="wide" tabindex="0"><table class="stack"><thead><tr>${columns.map(
    ({ look, title }) => html`<th scope="col" class="${look === "num" ? "num" : "text"}">${title}</th>`,
  )}</tr></thead>
<tbody>${rows.map((row) => lines(bounded, row))}</tbody>${foot ?? html``}</table></div>
${more > 0 ? html`<p class="more">${count(rows.length)} of ${count(total)} are shown; ${count(more)} more stand in ${file}.</p>` : html``}`
}

export const section = (title: string, lede: string, body: Html | ReadonlyArray<Html>): Html =>
  html`<section><h2>${title}</h2><p class="lede">${lede}</p>${body}</section>\n`
