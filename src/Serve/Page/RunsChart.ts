/** The durations of the last runs as bars, the oldest on the left. */

import { type Html, html } from "../../Common/Html.ts"
import { clockText, durationText } from "../../Common/Time.ts"
import { runStates } from "../../Database/Tables/Sync.ts"
import { charted, type RunRow } from "../Overview/Runs.ts"

const width = 1_000
const height = 100
const gap = 4
/** The smallest bar, so that a run of a tenth of a second is visible. */
const least = 3

const stateClass = (state: string): string => runStates.find((known) => known === state) ?? "running"

/** Right-aligned bars, with heights in proportion to the longest run. */
export const runsChart = (runs: ReadonlyArray<RunRow>, timeZone: string): Html => {
  const longest = Math.max(...runs.map(({ seconds }) => seconds ?? 0), 0.001)
  const step = width / charted
  const bars = [...runs].reverse().map((run, index) => {
    const tall = Math.max(least, ((run.seconds ?? 0) / longest) * (height - 6))
    const x = width - (runs.length - index) * step + gap / 2
    return html`<rect class="${stateClass(run.state)}" x="${x.toFixed(1)}" y="${(height - 1 - tall).toFixed(1)}" width="${(step - gap).toFixed(1)}" height="${tall.toFixed(1)}" rx="2"><title>${run.command} ${run.connection}, ${clockText(run.startedAt, timeZone)}: ${run.state}${run.seconds === null ? "" : `, ${durationText(run.seconds)}`}</title></rect>`
  })
  const failed = runs.filter(({ state }) => state === "failed" || state === "abandoned").length
  const last = runs.length === 1 ? "last run" : `last ${runs.length} runs`
  const label = `Durations of the ${last}, the longest ${durationText(longest)}; ${failed} failed`
  return html`<svg class="chart" viewBox="0 0 ${width} ${height}" preserveAspectRatio="none" role="img" aria-label="${label}">
<line x1="0" y1="${height - 0.5}" x2="${width}" y2="${height - 0.5}"/>${bars}</svg>
<div class="legend"><span>The ${last}, the newest on the right</span><span>longest ${durationText(longest)}</span><span>${failed === 0 ? "none failed" : `${failed} failed`}</span></div>`
}
