import { type Html, html } from "../../Common/Html.ts"
import { grouped } from "../../Common/MinorUnits.ts"
import { count, counted } from "../../Common/Text.ts"
import { clockText, spanText } from "../../Common/Time.ts"
import { failingText } from "../../Reconcile/ReadStates.ts"
import { needsAttention, openParts, tiesOut } from "../../Reconcile/TieOut.ts"
import type { Balance, BookStanding } from "../Overview/BookStandings.ts"
import { listedBooks, type Snapshot } from "../Overview.ts"

const balanceText = ({ amount, currency }: Balance): Html =>
  html`<span class="amount">${grouped(amount)}<i>${currency}</i></span>`

/** Why a book does not tie out, or another remark. */
const remark = (book: BookStanding): string =>
  [
    ...(book.off > 0 ? [`${count(book.off)} of ${counted(book.accounts, "account")} off`] : []),
    ...(book.unread > 0 ? [`${counted(book.unread, "statement")} not read to the end yet`] : []),
    ...openParts(book),
    ...(book.otherWarnings > 0 ? [counted(book.otherWarnings, "warning")] : []),
  ].join(", ")

const state = (book: BookStanding): Html =>
  tiesOut(book)
    ? book.reading.failing > 0
      ? html`<span class="tag late">what was read ties out</span>`
      : html`<span class="tag good">ties out</span>`
    : needsAttention(book)
      ? html`<span class="tag bad">does not tie out</span>`
      : html`<span class="tag late">cash ties out</span>`

const readText = ({ isRead, reading }: BookStanding): string => {
  if (!isRead) return "left out by the settings"
  return reading.lag === null ? "never whole" : `${spanText(reading.lag)} ago`
}

const bookRow = (book: BookStanding, balances: ReadonlyArray<Balance>, severalConnections: boolean): Html =>
  html`<tr><td class="lead">${book.code}${severalConnections ? html` <span class="soft">${book.connection}</span>` : html``}</td>
<td data-label="State"><span>${state(book)} <span class="soft">${remark(book)}</span></span></td>
<td class="num" data-label="Accounts">${count(book.accounts)}</td>
<td class="num" data-label="Entries">${count(book.entries)}</td>
<td data-label="Read">${readText(book)}</td>
<td data-label="Closed">${book.closedThrough === null ? "no month" : `through ${book.closedThrough}`}</td>
<td class="num" data-label="Balance"><span>${balances.map(balanceText)}</span></td></tr>`

const moreText = (books: ReadonlyArray<BookStanding>): string => {
  const hidden = books.slice(listedBooks)
  const off = hidden.filter((book) => !tiesOut(book)).length
  const how =
    off === 0 ? "all of which tie out" : `${count(off)} of which ${off === 1 ? "does" : "do"} not tie out`
  return `and ${counted(hidden.length, "more book")}, ${how}.`
}

/** The worst first, a bounded list. */
export const booksSection = ({ balances, books }: Snapshot): Html => {
  if (books.length === 0) return html``
  const severalConnections = new Set(books.map(({ connection }) => connection)).size > 1
  const rows = books
    .slice(0, listedBooks)
    .map((book) => bookRow(book, balances.get(book.code) ?? [], severalConnections))
  return html`<section><h2>Books <small>${count(books.length)}</small></h2>
<table class="stack"><thead><tr><th>Book</th><th>State</th><th class="num">Accounts</th><th class="num">Entries</th><th>Read</th><th>Closed</th><th class="num">Balance</th></tr></thead>
<tbody>${rows}</tbody></table>
${books.length > listedBooks ? html`<p class="more">${moreText(books)}</p>` : html``}</section>`
}

/** Books of which something cannot be read, the longest first: what, and since when. A bounded list. */
export const unreadSection = ({ books }: Snapshot, timeZone: string): Html => {
  const failing = books
    .flatMap(({ code, connection, reading }) =>
      reading.failingSince === null ? [] : [{ code, connection, reading, since: reading.failingSince }],
    )
    .sort((a, b) => a.since - b.since)
  if (failing.length === 0) return html``
  const more = failing.length - listedBooks
  return html`<section><h2>Not readable <small>${counted(failing.length, "book")}</small></h2>
<table class="stack"><thead><tr><th>Book</th><th>What</th><th>Since</th></tr></thead>
<tbody>${failing
    .slice(0, listedBooks)
    .map(
      ({ code, connection, reading, since }) =>
        html`<tr><td class="lead">${code} <span class="soft">${connection}</span></td><td class="long" data-label="What">${failingText(reading)}</td><td data-label="Since">${clockText(since, timeZone)}</td></tr>`,
    )}</tbody></table>
${more > 0 ? html`<p class="more">and ${counted(more, "more book")}.</p>` : html``}</section>`
}
