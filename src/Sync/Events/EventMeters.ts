/** How soon events take effect, for /metrics and the telemetry. */
import { Metric, MetricBoundaries, MetricLabel } from "effect"

/** Seconds: the shortest below the length of a round, the longest as long as an outage of the service. */
const boundaries = MetricBoundaries.fromIterable([0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 1_800, 7_200])

const latency = Metric.histogram(
  "tieout_event_to_post_seconds",
  boundaries,
  "Seconds from an event's receipt until what it brings about is posted, numbered and reconciled.",
)

/** Counts events of one connection whose effect is in the books, each by the seconds that it took. */
export const meterEvents = (connection: string, seconds: ReadonlyArray<number>): void => {
  const labels = [MetricLabel.make("connection", connection)]
  for (const each of seconds) latency.unsafeUpdate(Math.max(0, each), labels)
}
