/** Amounts, names and bounded tables as a person reads them. Amounts stay exact texts. */
import { type Html, html } from "../../Common/Html.ts"
import { grouped } from "../../Common/MinorUnits.ts"
import { count } from "../../Common/Text.ts"

/** `12,345.60`; nothing where there is no amount. */
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
  readonly of: (row: R) => Html | string | null
}

const cell = <R>({ look, of, title }: Column<R>, row: R): Html =>
  look === "head"
    ? html`<th scope="row">${of(row)}</th>`
    : look === undefined
      ? html`<td data-label="${title}">${of(row)}</td>`
      : html`<td class="${look}" data-label="${title}">${of(row)}</td>`

export interface Bounded<R> {
  readonly columns: ReadonlyArray<Column<R>>
  readonly rows: ReadonlyArray<R>
  /** Text of any length, in a line of its own below the row: a column of it would be too narrow on paper. */
  readonly note?: (row: R) => string | null
  /** How many there are in all; the rest stand in `file`. */
  readonly of: number
  readonly file: string
  readonly foot?: Html
  /** What to say where there are none. */
  readonly none: string
}

const lines = <R>({ columns, note }: Bounded<R>, row: R): Html => {
  const text = note?.(row) ?? null
  const cells = columns.map((column) => cell(column, row))
  return text === null
    ? html`<tr>${cells}</tr>\n`
    : html`<tr class="noted">${cells}</tr>\n<tr class="note"><td class="free" colspan="${String(columns.length)}">${text}</td></tr>\n`
}

/** A table of the rows that the page shows, and how many more there are where. */
export const table = <R>(bounded: Bounded<R>): Html => {
  const { columns, file, foot, none, of, rows } = bounded
  if (of === 0) return html`<p class="empty">${none}</p>`
  const more = of - rows.length
  return html`<div class="wide" tabindex="0"><table class="stack"><thead><tr>${columns.map(
    ({ look, title }) => html`<th scope="col" class="${look === "num" ? "num" : "text"}">${title}</th>`,
  )}</tr></thead>
<tbody>${rows.map((row) => lines(bounded, row))}</tbody>${foot ?? html``}</table></div>
${more > 0 ? html`<p class="more">${count(rows.length)} of ${count(of)} are shown; ${count(more)} more stand in ${file}.</p>` : html``}`
}

export const section = (title: string, lede: string, body: Html | ReadonlyArray<Html>): Html =>
  html`<section><h2>${title}</h2><p class="lede">${lede}</p>${body}</section>\n`
