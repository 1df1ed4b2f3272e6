import { Option } from "effect"
import { isoTextOrNull } from "../Database/Tables/ColumnTypes.ts"
import { runs } from "../Database/Tables/Sync.ts"

export type Fact = readonly [label: string, value: string]

/** One step on the way back from a figure to what the service said. */
export interface Step {
  /** What it is: `journal entry ORG-2026-10-000007`. */
  readonly title: string
  /** Label and value, in reading order. */
  readonly facts: ReadonlyArray<Fact>
}

export const stepsOf = (found: ReadonlyArray<{ readonly step: Step }>): ReadonlyArray<Step> =>
  found.map(({ step }) => step)

/** A note of how many more there are than those that are listed; none where all are. `more`: "further findings about it", by number. */
export const furtherSteps = (
  total: bigint,
  listed: number,
  more: (number: bigint) => string,
  facts: Step["facts"],
): ReadonlyArray<Step> => {
  const further = total - BigInt(listed)
  return further > 0n ? [{ title: `and ${more(further)}`, facts }] : []
}

/** A fact, or none where the value is null. */
export const factsIfKnown = (label: string, value: string | null): ReadonlyArray<Fact> =>
  Option.match(Option.fromNullable(value), { onNone: () => [], onSome: (text) => [[label, text]] })

/** What `runText` says of the run that is joined to a row. */
export const runColumns = { command: runs.command, startedAt: isoTextOrNull(runs.startedAt) }

/** `run 12 (sync) of 2026-10-01T03:30:00Z` */
export const runText = ({
  command,
  runId,
  startedAt,
}: {
  readonly runId: number | null
  readonly command: string | null
  readonly startedAt: string | null
}): string | null => {
  if (runId === null) return null
  return command === null ? `run ${runId}` : `run ${runId} (${command}) of ${startedAt ?? "?"}`
}
