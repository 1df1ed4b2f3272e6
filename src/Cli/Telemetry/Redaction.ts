/**
 * What of spans and log lines leaves the process. Of a span: its name, its times, its place in the tree and the attributes
 * that are listed; of a line, from info on: its text and the annotations that are listed; of an error what it is and not
 * what it says. And no more of them than an allowance admits.
 */
import { Cause, type Context, Exit, HashMap, Logger, LogLevel, Option, Tracer } from "effect"
import { errorOf, kindOf } from "../../Common/ErrorKind.ts"
import type { Allowance } from "./Allowance.ts"

/** Attributes and annotations that may leave. Whatever else a library or we ourselves note on a span or a line stays. */
const listed: ReadonlySet<string> = new Set(["connection", "run"])

/** A span that is not exported; what happens within it belongs to the nearest span that is. */
class Unkept implements Tracer.Span {
  readonly _tag = "Span"
  readonly name: string
  readonly parent: Option.Option<Tracer.AnySpan>
  readonly context: Context.Context<never>
  readonly spanId: string
  readonly traceId: string
  readonly status: Tracer.SpanStatus
  readonly attributes: ReadonlyMap<string, unknown> = new Map()
  readonly links: ReadonlyArray<Tracer.SpanLink> = []
  readonly sampled = false
  readonly kind = "internal"

  constructor(
    name: string,
    parent: Option.Option<Tracer.AnySpan>,
    context: Context.Context<never>,
    startTime: bigint,
  ) {
    this.name = name
    this.parent = parent
    this.context = context
    const { spanId, traceId } = Option.getOrElse(parent, () => ({ spanId: "", traceId: "" }))
    this.spanId = spanId
    this.traceId = traceId
    this.status = { _tag: "Started", startTime }
  }

  end(): void {}
  attribute(): void {}
  event(): void {}
  addLinks(): void {}
}

const withoutContent = (exit: Exit.Exit<unknown, unknown>): Exit.Exit<unknown, unknown> => {
  if (Exit.isSuccess(exit)) return Exit.void
  return Cause.isInterruptedOnly(exit.cause) ? exit : Exit.fail(kindOf(errorOf(exit.cause)))
}

/** The span, made to keep only what is listed. Events are log lines, which are sent as such. */
const guarded = (span: Tracer.Span): Tracer.Span => {
  const end = span.end.bind(span)
  const attribute = span.attribute.bind(span)
  return Object.assign(span, {
    end: (endTime: bigint, exit: Exit.Exit<unknown, unknown>) => end(endTime, withoutContent(exit)),
    attribute: (key: string, value: unknown) => (listed.has(key) ? attribute(key, value) : undefined),
    event: () => undefined,
  })
}

/** Exports spans as far as the allowance admits them; below one that is left out, all are. */
export const redactedTracer = (inner: Tracer.Tracer, allowance: Allowance): Tracer.Tracer =>
  Tracer.make({
    context: (run, fiber) => inner.context(run, fiber),
    span: (name, parent, context, _links, startTime, kind) =>
      Option.exists(parent, ({ sampled }) => !sampled) || !allowance.admits(name, performance.now())
        ? new Unkept(name, parent, context, startTime)
        : guarded(inner.span(name, parent, context, [], startTime, kind)),
  })

export const redactedLogger = (inner: Logger.Logger<unknown, void>, allowance: Allowance) =>
  Logger.make<unknown, void>((options) => {
    if (LogLevel.lessThan(options.logLevel, LogLevel.Info)) return
    if (!allowance.admits("line", performance.now())) return
    const allowed = HashMap.filter(options.annotations, (_, name) => listed.has(name))
    const annotations = Cause.isEmpty(options.cause)
      ? allowed
      : HashMap.set(allowed, "error", kindOf(errorOf(options.cause)))
    inner.log({ ...options, annotations, cause: Cause.empty })
  })
