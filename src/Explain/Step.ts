import { Option } from "effect"

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

/** A fact, or none where the value is null. */
export const factsIfKnown = (label: string, value: string | null): ReadonlyArray<Fact> =>
  Option.match(Option.fromNullable(value), { onNone: () => [], onSome: (text) => [[label, text]] })

/** `run 12 (sync) of 2026-10-01T03:30:00Z` */
export const runText = (run: {
  readonly run_id: number | null
  readonly command: string | null
  readonly started_at: string | null
}): string | null => {
  if (run.run_id === null) return null
  return run.command === null
    ? `run ${run.run_id}`
    : `run ${run.run_id} (${run.command}) of ${run.started_at ?? "?"}`
}
