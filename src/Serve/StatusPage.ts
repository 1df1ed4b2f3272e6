/** The status page: one document, no script, nothing to load. */

import { type Html, html } from "../Common/Html.ts"
import { count } from "../Common/Text.ts"
import { clockText, spanText } from "../Common/Time.ts"
import { unreadFor } from "../Reconcile/ReadStates.ts"
import type { Snapshot } from "./Overview.ts"
import { eventsSection, exportsSection, jobsSection, runsSection } from "./Page/Activity.ts"
import { booksSection, unreadSection } from "./Page/BooksSection.ts"
import { findingsSection, quarantineSection } from "./Page/FindingsSection.ts"
import { frame } from "./Page/Frame.ts"
import { type Verdict, verdictOf } from "./Verdict.ts"

export interface PageSettings {
  readonly connections: ReadonlyArray<string>
  readonly timeZone: string
  /** Milliseconds. */
  readonly staleAfter: number
  /** When the schedule is due next, epoch milliseconds; null: there is none. */
  readonly nextRun: number | null
  readonly version: string
  /** Whether the page offers files to its reader. */
  readonly downloads: boolean
  /** Whether the reader has signed in, and so can sign out. */
  readonly session: boolean
}

/** A tick, a cross, an exclamation mark, a dash: shapes that say the same as the colours. */
const shapes: Readonly<Record<Verdict["tone"], string>> = {
  good: "M10 17.5l4.5 4.5 8-10",
  bad: "M11 11l10 10M21 11l-10 10",
  late: "M16 9v9M16 22.6v.1",
  none: "M10 16h12",
}

const verdictSection = ({ sentence, tone }: Verdict): Html =>
  html`<section class="verdict is-${tone}" role="status"><svg viewBox="0 0 32 32" aria-hidden="true"><circle cx="16" cy="16" r="15"/><path d="${shapes[tone]}"/></svg><p>${sentence}</p></section>`

const fact = (name: string, value: string): Html => html`<div><dt>${name}</dt><dd>${value}</dd></div>`

const factsSection = ({ at, books, connections }: Snapshot, { nextRun, timeZone }: PageSettings): Html => {
  const sum = (countOf: (book: Snapshot["books"][number]) => number) =>
    books.reduce((total, book) => total + countOf(book), 0)
  const accounts = sum((book) => book.accounts)
  const lags = books.map(({ reading }) => unreadFor(reading))
  const starts = connections.flatMap(({ last }) => (last === null ? [] : [last.startedAt]))
  const entries = books.reduce((total, book) => total + book.entries, 0n)
  return html`<section class="facts"><dl>${[
    fact(
      "Accounts that tie out",
      `${count(accounts - sum((book) => book.off + book.beingRead))} of ${count(accounts)}`,
    ),
    fact("Entries booked", count(entries)),
    fact("Oldest stream read", lags.length === 0 ? "never" : `${spanText(Math.max(...lags))} ago`),
    fact("Last run", starts.length === 0 ? "none" : `${spanText((at - Math.max(...starts)) / 1_000)} ago`),
    fact("Next run", nextRun === null ? "not scheduled" : clockText(nextRun, timeZone)),
  ]}</dl></section>`
}

const signOut = html`<form method="post" action="/logout"><button>Sign out</button><button name="everywhere" value="yes">Sign out everywhere</button></form>`

export const statusPage = (snapshot: Snapshot, settings: PageSettings): string => {
  const { connections, staleAfter, timeZone, version } = settings
  const verdict = verdictOf(snapshot, connections, staleAfter)
  return frame(
    `Tieout: ${verdict.sentence}`,
    html`<header><b>Tieout</b><span>as of ${clockText(snapshot.at, timeZone)}</span></header>
<main>${verdictSection(verdict)}
${factsSection(snapshot, settings)}
${booksSection(snapshot)}
${unreadSection(snapshot, timeZone)}
${findingsSection(snapshot, timeZone)}
${quarantineSection(snapshot)}
${runsSection(snapshot, timeZone)}
${jobsSection(snapshot)}
${eventsSection(snapshot, timeZone)}
${exportsSection(snapshot, settings)}</main>
<footer>Times are those of ${timeZone}. Tieout ${version} · <a href="/metrics">metrics</a>${settings.session ? signOut : html``}</footer>`,
  )
}
