/** Results of runs, as counters of this process: for /metrics and the telemetry. */
import { Metric, MetricLabel } from "effect"

const runs = Metric.counter("tieout_runs_total", {
  description: "Runs that this process has ended, by how.",
  incremental: true,
})

const entries = Metric.counter("tieout_entries_read_total", {
  description: "New statement entries that this process has read and committed.",
  incremental: true,
})

/** A run of a connection has ended. */
export const meterRun = (connection: string, state: "done" | "failed" | "stopped", newEntries: number) => {
  const label = MetricLabel.make("connection", connection)
  runs.unsafeUpdate(1, [label, MetricLabel.make("state", state)])
  entries.unsafeUpdate(newEntries, [label])
}
