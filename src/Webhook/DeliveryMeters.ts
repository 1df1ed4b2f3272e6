/** What became of the deliveries, as counters of this process: for /metrics and the telemetry. */
import { Metric, MetricLabel } from "effect"
import { type Verdict, verdicts } from "./Receiver.ts"

const deliveries = Metric.counter("tieout_deliveries_total", {
  description: "Deliveries to the webhook path, refused ones too, by what they came to.",
  incremental: true,
})

/** The counters of one connection; all of them are there from the start, so that the first refusal is seen as a rise. */
export class Meters {
  private readonly labels: ReadonlyMap<Verdict, ReadonlyArray<MetricLabel.MetricLabel>>

  constructor(connection: string) {
    const own = MetricLabel.make("connection", connection)
    this.labels = new Map(verdicts.map((verdict) => [verdict, [own, MetricLabel.make("verdict", verdict)]]))
    for (const labels of this.labels.values()) deliveries.unsafeUpdate(0, labels)
  }

  counted(verdict: Verdict): void {
    deliveries.unsafeUpdate(1, this.labels.get(verdict) ?? [])
  }
}
