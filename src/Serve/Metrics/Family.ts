/** A metric with its samples, and its text. Exposition format 0.0.4, as `Metrics.ts` says. */

export type Labels = Readonly<Record<string, string>>

export interface Sample {
  /** The suffix of the family's name: `_bucket`, `_sum` or `_count` of a histogram. */
  readonly suffix?: string
  readonly labels: Labels
  readonly value: number
}

export interface Family {
  readonly name: string
  readonly help: string
  readonly type: "gauge" | "counter" | "histogram"
  readonly samples: ReadonlyArray<Sample>
}

const helpText = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
const labelText = (text: string): string => helpText(text).replaceAll('"', '\\"')

const labelsText = (labels: Labels): string => {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${labelText(value)}"`)
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`
}

export const valueText = (value: number): string =>
  Number.isNaN(value) ? "NaN" : Number.isFinite(value) ? String(value) : value > 0 ? "+Inf" : "-Inf"

/** Empty where there is no sample. */
export const familyText = ({ help, name, samples, type }: Family): string =>
  samples.length === 0
    ? ""
    : [
        `# HELP ${name} ${helpText(help)}`,
        `# TYPE ${name} ${type}`,
        ...samples.map(
          ({ labels, suffix = "", value }) => `${name}${suffix}${labelsText(labels)} ${valueText(value)}`,
        ),
        "",
      ].join("\n")
