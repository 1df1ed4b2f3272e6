/** Metrics of the requests to the service, counted in this process: for /metrics and the telemetry. */
import { Metric, MetricLabel } from "effect"
import type { Attempt } from "./Attempt.ts"
import type { PartnerReason } from "./PartnerError.ts"

const requests = Metric.counter("tieout_requests_total", {
  description:
    "Requests sent to the service, retries included, by the answer's status; none: no whole answer.",
  incremental: true,
})

const retries = Metric.counter("tieout_retries_total", {
  description: "Requests that were sent again, by why.",
  incremental: true,
})

const rate = Metric.gauge("tieout_pace_requests_per_second", {
  description: "Requests per second that a connection allows itself, as whoever asked last has learned it.",
})

const concurrency = Metric.gauge("tieout_pace_concurrency", {
  description: "Requests that a connection lets be under way at once, as whoever asked last has learned it.",
})

type Labels = ReadonlyArray<MetricLabel.MetricLabel>

/** The service must not be able to invent labels, so everything that is not an HTTP status shares one. */
const statusOf = (attempt: Attempt): string => {
  const status = attempt.kind === "answer" ? attempt.status : attempt.failure.error.status
  if (status === undefined) return "none"
  return status >= 100 && status <= 599 ? String(status) : "other"
}

/** The pace as it is now. */
interface Paced {
  /** Requests per second. */
  readonly rate: number
  /** Requests at once. */
  readonly window: number
}

/** The counters of one connection. Each set of labels is one array that is reused, by which Effect finds a counter fastest. */
export class Meters {
  private readonly connection: Labels
  private readonly statuses = new Map<string, Labels>()
  private readonly causes = new Map<PartnerReason, Labels>()

  constructor(connection: string) {
    this.connection = [MetricLabel.make("connection", connection)]
  }

  /** One request has ended. */
  attempted(attempt: Attempt, paced: Paced): void {
    requests.unsafeUpdate(1, this.labelled(this.statuses, "status", statusOf(attempt)))
    rate.unsafeUpdate(paced.rate, this.connection)
    concurrency.unsafeUpdate(paced.window, this.connection)
  }

  /** A request is about to be sent again. */
  retried(cause: PartnerReason): void {
    retries.unsafeUpdate(1, this.labelled(this.causes, "cause", cause))
  }

  private labelled<A extends string>(known: Map<A, Labels>, key: string, value: A): Labels {
    const found = known.get(value)
    if (found !== undefined) return found
    const made = [...this.connection, MetricLabel.make(key, value)]
    known.set(value, made)
    return made
  }
}
