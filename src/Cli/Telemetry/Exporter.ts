/** Traces, metrics and logs over OTLP as JSON. Loaded only where a collector is named. */
import * as OtlpLogger from "@effect/opentelemetry/OtlpLogger"
import * as OtlpMetrics from "@effect/opentelemetry/OtlpMetrics"
import * as OtlpSerialization from "@effect/opentelemetry/OtlpSerialization"
import * as OtlpTracer from "@effect/opentelemetry/OtlpTracer"
import { Duration, Effect, Layer, Logger, Redacted } from "effect"
import { productVersion } from "../../Common/Package.ts"
import { Allowance } from "./Allowance.ts"
import { redactedLogger, redactedTracer } from "./Redaction.ts"
import { delivery } from "./TelemetryDelivery.ts"

export interface TelemetryOptions {
  /** Below it are `v1/traces`, `v1/metrics` and `v1/logs`. */
  readonly endpoint: URL
  /** Sent with every request; they may hold the collector's key. */
  readonly headers: Redacted.Redacted<Readonly<Record<string, string>>>
  readonly serviceName: string
  /** Takes secrets out of a line of the log. */
  readonly hide: (text: string) => string
}

/** Every five seconds, and at the end, when each kind gets one more second. */
const exportInterval = Duration.seconds(5)
const shutdownTimeout = Duration.seconds(1)
const window = Duration.toMillis(exportInterval)

/**
 * The spans kept until they are sent. Operations have some 400 names: the first twenty of each within five seconds show what a
 * sync does, however many pages it reads, in 2 MB at most.
 */
const spansAllowed = { each: 20, all: 2_000, window }
const linesAllowed = { each: 500, all: 500, window }

export const exporting = ({ endpoint, headers, hide, serviceName }: TelemetryOptions): Layer.Layer<never> => {
  const base = endpoint.href.replace(/\/*$/, "")
  const options = (kind: "traces" | "metrics" | "logs") => ({
    url: `${base}/v1/${kind}`,
    headers: Redacted.value(headers),
    resource: { serviceName, serviceVersion: productVersion() },
    exportInterval,
    shutdownTimeout,
  })
  const tracer = Layer.unwrapScoped(
    Effect.map(OtlpTracer.make(options("traces")), (made) =>
      Layer.setTracer(redactedTracer(made, new Allowance(spansAllowed))),
    ),
  )
  const logger = Logger.addScoped(
    Effect.map(OtlpLogger.make({ ...options("logs"), excludeLogSpans: true }), (made) =>
      redactedLogger(made, new Allowance(linesAllowed), hide),
    ),
  )
  return Layer.mergeAll(tracer, logger, OtlpMetrics.layer(options("metrics"))).pipe(
    Layer.provide(OtlpSerialization.layerJson),
    Layer.provide(delivery),
  )
}
