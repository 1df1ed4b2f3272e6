/** The counters of this process: Effect's metrics with our prefix. */
import { Metric, type MetricPair, MetricState } from "effect"
import { type Family, type Labels, type Sample, valueText } from "./Family.ts"

const prefix = "tieout_"

const histogramSamples = (
  labels: Labels,
  state: MetricState.MetricState.Histogram,
): ReadonlyArray<Sample> => {
  // Effect's last bucket holds everything; its boundary is the largest number, not infinity.
  const within = [...state.buckets].filter(([boundary]) => boundary < Number.MAX_VALUE)
  return [
    ...within.map(
      ([boundary, value]): Sample => ({
        suffix: "_bucket",
        labels: { ...labels, le: valueText(boundary) },
        value,
      }),
    ),
    { suffix: "_bucket", labels: { ...labels, le: "+Inf" }, value: state.count },
    { suffix: "_sum", labels, value: state.sum },
    { suffix: "_count", labels, value: state.count },
  ]
}

const read = ({ metricKey, metricState }: MetricPair.MetricPair.Untyped): Family | undefined => {
  const labels = Object.fromEntries(metricKey.tags.map(({ key, value }) => [key, value]))
  const base = {
    name: metricKey.name,
    help: metricKey.description._tag === "Some" ? metricKey.description.value : metricKey.name,
  }
  if (MetricState.isCounterState(metricState)) {
    return { ...base, type: "counter", samples: [{ labels, value: Number(metricState.count) }] }
  }
  if (MetricState.isGaugeState(metricState)) {
    return { ...base, type: "gauge", samples: [{ labels, value: Number(metricState.value) }] }
  }
  if (MetricState.isHistogramState(metricState)) {
    return { ...base, type: "histogram", samples: histogramSamples(labels, metricState) }
  }
  return undefined
}

/** One family per name, with any labels, in order of names. */
export const processFamilies = (): ReadonlyArray<Family> => {
  const families = new Map<string, Family>()
  for (const pair of Metric.unsafeSnapshot()) {
    if (!pair.metricKey.name.startsWith(prefix)) continue
    const family = read(pair)
    if (family === undefined) continue
    const samples = [...(families.get(family.name)?.samples ?? []), ...family.samples]
    families.set(family.name, { ...family, samples })
  }
  return [...families.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
}
