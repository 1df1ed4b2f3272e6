/**
 * Redacts spans and log lines before they leave the process. A span keeps its name, times, place in the tree and the listed
 * attributes; a line (info and above) its text and the listed annotations; an error its kind but not its message. An allowance
 * limits how many leave.
 */
import { Cause, type Context, Exit, HashMap, Logger, LogLevel, Option, Tracer } from "effect"
import { errorOf, kindOf } from "../../Common/ErrorKind.ts"
import type { Allowance } from "./Allowance.ts"

/** The attributes and annotations that may leave; all others of a span or a line stay. */
const listed: ReadonlySet<string> = new Set(["connection", "run"])

/** A span that is not exported; its children belong to the nearest exported span. */
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

/** Wraps a span so that only the listed attributes are exported. Its events are log lines, which are exported as logs. */
const guarded = (span: Tracer.Span): Tracer.Span => {
  const end = span.end.bind(span)
  const attribute = span.attribute.bind(span)
  return Object.assign(span, {
    end: (endTime: bigint, exit: Exit.Exit<unknown, unknown>) => end(endTime, withoutContent(exit)),
    attribute: (key: string, value: unknown) => (listed.has(key) ? attribute(key, value) : undefined),
    event: () => undefined,
  })
}

/** Exports the spans that the allowance admits; leaves out all spans below one that it does not. */
export const redactedTracer = (inner: Tracer.Tracer, allowance: Allowance): Tracer.Tracer =>
  Tracer.make({
    context: (run, fiber) => inner.context(run, fiber),
    span: (name, parent, context, _links, startTime, kind) =>
      Option.exists(parent, ({ sampled }) => !sampled) || !allowance.admits(name, performance.now())
        ? new Unkept(name, parent, context, startTime)
        : guarded(inner.span(name, parent, context, [], startTime, kind)),
  })

export const redactedLogger = (
  inner: Logger.Logger<unknown, void>,
  allowance: Allowance,
  hide: (text: string) => string,
) =>
  Logger.make<unknown, void>((options) => {
    if (LogLevel.lessThan(options.logLevel, LogLevel.Info)) return
    if (!allowance.admits("line", performance.now())) return
    const allowed = HashMap.filter(options.annotations, (_, name) => listed.has(name))
    const annotations = Cause.isEmpty(options.cause)
      ? allowed
      : HashMap.set(allowed, "error", kindOf(errorOf(options.cause)))
    const parts = Array.isArray(options.message) ? options.message : [options.message]
    const message = parts.map((part: unknown) => (typeof part === "string" ? hide(part) : part))
    inner.log({ ...options, message, annotations, cause: Cause.empty })
  })
