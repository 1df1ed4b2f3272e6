import { type Html, html } from "../../Common/Html.ts"
import { count, counted } from "../../Common/Text.ts"
import { clockText } from "../../Common/Time.ts"
import type { FindingRow, FindingStanding } from "../Overview/OpenFindings.ts"
import type { Snapshot } from "../Overview.ts"

const evidence = ({ evidence: { lines, withheld }, findingId }: FindingRow): Html =>
  html`<div class="evidence"><dl>${lines.map(
    ({ depth, name, value }) => html`<dt class="d${depth}">${name}</dt><dd>${value}</dd>`,
  )}</dl><p>${withheld > 0 ? `${counted(withheld, "more field")}: ` : "From the figure back to its source: "}<code>tieout explain ${findingId}</code></p></div>`

const finding = (found: FindingRow, timeZone: string): Html =>
  html`<details><summary><p>${found.message}</p><span class="soft">${found.code} · ${clockText(found.openedAt, timeZone)}</span></summary>${evidence(found)}</details>`

const tones: Readonly<Record<FindingStanding, string>> = {
  blocking: "bad",
  warning: "late",
  accepted: "plain",
}

/** One check's findings: the first few, and how many more there are. */
const group = (own: ReadonlyArray<FindingRow>, timeZone: string): Html => {
  const [first] = own
  if (first === undefined) return html``
  const more = first.ofCheck - own.length
  return html`<h3><span class="tag ${tones[first.standing]}">${first.standing}</span> ${first.check} <small>${count(first.ofCheck)}</small></h3>
${own.map((found) => finding(found, timeZone))}
${more > 0 ? html`<p class="more">and ${count(more)} more of this kind: <code>tieout reconcile</code> lists them.</p>` : html``}`
}

/** By check, blocking ones first and accepted ones last, a bounded list. */
export const findingsSection = ({ findingCounts, findings }: Snapshot, timeZone: string): Html => {
  const all = findingCounts.reduce((sum, row) => sum + row.count, 0)
  if (all === 0)
    return html`<section><h2>Findings</h2><p class="empty">Nothing is open: everything that was checked agrees.</p></section>`
  const keyOf = ({ check, standing }: FindingRow) => `${standing} ${check}`
  const keys = [...new Set(findings.map(keyOf))]
  return html`<section><h2>Findings <small>${count(all)} open</small></h2>
${keys.map((key) =>
  group(
    findings.filter((found) => keyOf(found) === key),
    timeZone,
  ),
)}</section>`
}

const quarantineListed = 20

/** How many rows of which stream wait, and why; never their content. */
export const quarantineSection = ({ quarantine }: Snapshot): Html => {
  if (quarantine.length === 0) return html``
  const all = quarantine.reduce((sum, { rows }) => sum + rows, 0)
  const more = quarantine.length - quarantineListed
  return html`<section><h2>Quarantine <small>${counted(all, "row")} that could not be understood</small></h2>
<table class="stack"><thead><tr><th>Stream</th><th class="num">Rows</th><th>Reason</th></tr></thead>
<tbody>${quarantine
    .slice(0, quarantineListed)
    .map(
      ({ connection, path, reason, rows, stream }) =>
        html`<tr><td class="lead">${stream} <span class="soft">${connection}</span></td><td class="num" data-label="Rows">${count(rows)}</td><td class="long">${reason} <code>${path}</code></td></tr>`,
    )}</tbody></table>
${more > 0 ? html`<p class="more">and ${counted(more, "more reason")}.</p>` : html``}</section>`
}
