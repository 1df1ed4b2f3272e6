import type { BatchState } from "../../Export/States.ts"
import { count } from "../../Terminal/Text.ts"
import { type Html, html } from "../Html.ts"
import type { BatchRow } from "../Overview/Batches.ts"
import type { ConnectionRuns, RunRow } from "../Overview/Runs.ts"
import type { Snapshot } from "../Overview.ts"
import { clockText, durationText, spanText } from "../Time.ts"
import { runsChart } from "./Chart.ts"

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
<td class="num" data-label="Took">${last === null ? "" : durationText(last.seconds)}</td>
<td class="num" data-label="Last success">${lastSuccessAt === null ? "never" : `${spanText((at - lastSuccessAt) / 1_000)} ago`}</td></tr>`

export const runsSection = ({ at, connections, runs }: Snapshot, timeZone: string): Html => {
  if (runs.length === 0) return html``
  return html`<section><h2>Runs</h2>${runsChart(runs, timeZone)}
<table class="stack"><thead><tr><th>Connection</th><th>Last sync</th><th class="num">Took</th><th class="num">Last success</th></tr></thead>
<tbody>${connections.map((row) => connectionRow(row, at, timeZone))}</tbody></table></section>`
}

export const eventsSection = ({ inbox }: Snapshot, timeZone: string): Html => {
  if (inbox === null) return html``
  const rows = inbox.recent.map(
    ({ connection, eventType, processedAt, receivedAt }) =>
      html`<tr><td class="lead">${eventType}</td><td data-label="Connection">${connection}</td><td data-label="Received">${clockText(receivedAt, timeZone)}</td>
<td data-label="State">${processedAt === null ? html`<span class="tag late">waits</span>` : html`<span class="tag good">done</span>`}</td></tr>`,
  )
  return html`<section><h2>Webhook events <small>${count(inbox.depth)} waiting</small></h2>
${
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

const batchRow = (
  { batch, code, committedAt, complete, entries, files, scope, state }: BatchRow,
  timeZone: string,
) =>
  html`<tr><td class="lead">${code} <span class="soft">${scope}, batch ${batch}</span></td>
<td data-label="Made"><span>${clockText(committedAt, timeZone)}${complete ? html`` : html` <span class="tag late">incomplete</span>`}</span></td>
<td data-label="State"><span class="tag ${batchTones[state]}">${state}</span></td>
<td class="num" data-label="Entries">${count(entries)}</td>
<td class="files">${files.map(({ name }) => html`<a href="/exports/${code}/${batch}/${name}">${name}</a> `)}</td></tr>`

export const exportsSection = ({ batches }: Snapshot, timeZone: string): Html => {
  if (batches.length === 0) return html``
  return html`<section><h2>Exports <small>the last ${count(batches.length)}</small></h2>
<table class="stack"><thead><tr><th>Book</th><th>Made</th><th>State</th><th class="num">Entries</th><th>Files</th></tr></thead>
<tbody>${batches.map((batch) => batchRow(batch, timeZone))}</tbody></table></section>`
}
