/**
 * Sends traces, metrics and logs to an OpenTelemetry collector where `OTEL_EXPORTER_OTLP_ENDPOINT` names one; without it
 * nothing of this is loaded. The variables are those of https://opentelemetry.io/docs/specs/otel/protocol/exporter/.
 */
import { Effect, Either, Layer, Redacted } from "effect"

type Variables = Readonly<Record<string, string | undefined>>

const endpointOf = ({ OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED }: Variables): string | undefined => {
  const endpoint = OTEL_EXPORTER_OTLP_ENDPOINT?.trim()
  return endpoint === "" || OTEL_SDK_DISABLED?.trim().toLowerCase() === "true" ? undefined : endpoint
}

const decoded = (text: string): Either.Either<string, unknown> =>
  Either.try(() => decodeURIComponent(text.trim()))

/** `key=value,key=value`, percent-encoded; anything else is left out. */
export const headersOf = (text: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    text.split(",").flatMap((pair) => {
      const equals = pair.indexOf("=")
      const name = pair.slice(0, Math.max(equals, 0)).trim().toLowerCase()
      const value = Either.getOrElse(decoded(pair.slice(equals + 1)), () => "")
      return /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\x20-\x7e]+$/.test(value) ? [[name, value]] : []
    }),
  )

/** Whether spans are exported: creating spans that nobody reads costs a sync a tenth of its time. */
export const isTraced = (variables: Variables): boolean => endpointOf(variables) !== undefined

/** Ends with the command, once everything is delivered or dropped. */
export const telemetry = (variables: Variables, hide: (text: string) => string): Layer.Layer<never> => {
  const endpoint = endpointOf(variables)
  if (endpoint === undefined) return Layer.empty
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint)) {
    return Layer.effectDiscard(
      Effect.logWarning(
        "OTEL_EXPORTER_OTLP_ENDPOINT is no address of http or https, such as http://localhost:4318: no telemetry is sent.",
      ),
    )
  }
  return Layer.unwrapEffect(
    Effect.map(
      Effect.promise(() => import("./Telemetry/Exporter.ts")),
      ({ exporting }) =>
        exporting({
          endpoint: new URL(endpoint),
          headers: Redacted.make(headersOf(variables.OTEL_EXPORTER_OTLP_HEADERS ?? "")),
          hide,
          serviceName: variables.OTEL_SERVICE_NAME?.trim() || "tieout",
        }),
    ),
  )
}
