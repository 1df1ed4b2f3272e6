import { type Html, html } from "../../Common/Html.ts"
import { count, counted } from "../../Common/Text.ts"
import { clockText, durationText, spanText } from "../../Common/Time.ts"
import type { BatchState } from "../../Export/Batch/Kept/States.ts"
import { type InboxOverview, inState } from "../Overview/InboxEvents.ts"
import type { BatchRow } from "../Overview/RecentBatches.ts"
import type { ConnectionRuns, RunRow } from "../Overview/Runs.ts"
import type { Snapshot } from "../Overview.ts"
import { runsChart } from "./RunsChart.ts"

const tones: Readonly<Record<string, string>> = {
  done: "good",
  failed: "bad",
  abandoned: "bad",
  stopped: "late",
}

const stateTag = ({ exitCode, state }: RunRow): Html =>
  html`<span class="tag ${tones[state] ?? "plain"}">${state === "done" && exitCode === 3 ? "done, see findings" : state}</span>`

const connectionRow = ({ connection, last, lastSuccessAt }: ConnectionRuns, at: number, timeZone: string) =>
  html`<tr><td class="lead">${connection}</td>
<td data-label="Last sync"><span>${last === null ? "none" : html`${stateTag(last)} ${clockText(last.startedAt, timeZone)}`}</span></td>
<td class="num" data-label="Took">${last === null || last.seconds === null ? "" : durationText(last.seconds)}</td>
<td class="num" data-label="Last success">${lastSuccessAt === null ? "never" : `${spanText((at - lastSuccessAt) / 1_000)} ago`}</td></tr>`

export const runsSection = ({ at, connections, runs }: Snapshot, timeZone: string): Html => {
  if (runs.length === 0) return html``
  return html`<section><h2>Runs</h2>${runsChart(runs, timeZone)}
<table class="stack"><thead><tr><th>Connection</th><th>Last sync</th><th class="num">Took</th><th class="num">Last success</th></tr></thead>
<tbody>${connections.map((row) => connectionRow(row, at, timeZone))}</tbody></table></section>`
}

/** The jobs that wait for workers; nothing if none do. */
export const jobsSection = ({ jobs }: Snapshot): Html => {
  if (jobs.length === 0) return html``
  const rows = jobs.map(
    ({ active, connection, dead, oldest, waiting }) =>
      html`<tr><td class="lead">${connection}</td><td class="num" data-label="Waiting">${count(waiting)}</td><td class="num" data-label="Under way">${count(active)}</td>
<td class="num" data-label="Given up">${dead > 0 ? html`<span class="bad">${count(dead)}</span>` : count(dead)}</td>
<td class="num" data-label="Oldest waits">${oldest === null ? "" : spanText(oldest)}</td></tr>`,
  )
  return html`<section><h2>Books for workers</h2>
<table class="stack"><thead><tr><th>Connection</th><th class="num">Waiting</th><th class="num">Under way</th><th class="num">Given up</th><th class="num">Oldest waits</th></tr></thead><tbody>${rows}</tbody></table></section>`
}

const eventStates: Readonly<Record<string, readonly [tone: string, text: string]>> = {
  done: ["good", "done"],
  failed: ["late", "tried again"],
  dead: ["bad", "given up"],
  poison: ["bad", "unreadable"],
}

const eventTag = (state: string): Html => {
  const [tone, text] = eventStates[state] ?? ["late", "waits"]
  return html`<span class="tag ${tone}">${text}</span>`
}

/** Events that stay as they are until a person acts. */
const troubledEvents = ({ counts }: InboxOverview): Html => {
  const dead = inState(counts, "dead")
  const poison = inState(counts, "poison")
  const parts = [
    ...(dead > 0 ? [`${counted(dead, "event was", "events were")} given up`] : []),
    ...(poison > 0 ? [`${counted(poison, "event")} cannot be read`] : []),
  ]
  return parts.length === 0
    ? html``
    : html`<p><span class="bad">${parts.join(" and ")}.</span> <code>tieout webhook events --state ${dead > 0 ? "dead" : "poison"}</code></p>`
}

export const eventsSection = ({ inbox }: Snapshot, timeZone: string): Html => {
  if (inbox === null) return html``
  const rows = inbox.recent.map(
    ({ connection, eventType, receivedAt, state }) =>
      html`<tr><td class="lead">${eventType}</td><td data-label="Connection">${connection}</td><td data-label="Received">${clockText(receivedAt, timeZone)}</td>
<td data-label="State">${eventTag(state)}</td></tr>`,
  )
  return html`<section><h2>Webhook events <small>${count(inbox.depth)} waiting</small></h2>
${troubledEvents(inbox)}${
  rows.length === 0
    ? html`<p class="empty">None yet.</p>`
    : html`<table class="stack"><thead><tr><th>Event</th><th>Connection</th><th>Received</th><th>State</th></tr></thead><tbody>${rows}</tbody></table>`
}</section>`
}

const batchTones: Readonly<Record<BatchState, string>> = {
  preview: "late",
  committed: "good",
  acknowledged: "good",
  superseded: "plain",
}

interface Offered {
  readonly timeZone: string
  /** Whether the files can be downloaded. */
  readonly downloads: boolean
}

/** An as-of batch has no state that counts: nobody is to take it for one to import. */
const batchTag = ({ asOf, state }: BatchRow, timeZone: string): Html =>
  asOf === null
    ? html`<span class="tag ${batchTones[state]}">${state}</span>`
    : html`<span><span class="tag late">as of ${clockText(asOf, timeZone)}</span> <span class="soft">not to be imported</span></span>`

const batchRow = (row: BatchRow, { downloads, timeZone }: Offered) => {
  const { baseCurrency, batch, code, committedAt, complete, entries, files, scope } = row
  return html`<tr><td class="lead">${code} <span class="soft when">${scope}${baseCurrency === null ? "" : ` in ${baseCurrency}`}, batch ${batch}</span></td>
<td data-label="Made"><span><span class="when">${clockText(committedAt, timeZone)}</span>${complete ? html`` : html` <span class="tag late">incomplete</span>`}</span></td>
<td data-label="State">${batchTag(row, timeZone)}</td>
<td class="num" data-label="Entries">${count(entries)}</td>
<td class="files">${files.map(({ name }) =>
    downloads ? html`<a href="/exports/${code}/${batch}/${name}">${name}</a> ` : html`${name} `,
  )}</td></tr>`
}

export const exportsSection = ({ batches }: Snapshot, offered: Offered): Html => {
  if (batches.length === 0) return html``
  return html`<section><h2>Exports <small>the last ${count(batches.length)}</small></h2>
<table class="stack"><thead><tr><th>Book</th><th>Made</th><th>State</th><th class="num">Entries</th><th>Files</th></tr></thead>
<tbody>${batches.map((batch) => batchRow(batch, offered))}</tbody></table></section>`
}
