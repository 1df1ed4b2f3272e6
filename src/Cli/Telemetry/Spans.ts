/**
 * Which spans are kept, and what of them may leave the process: their names, times and places in the tree, the attributes
 * that are listed, and of an error what it is and not what it says.
 */
import { Cause, type Context, Exit, Option, Tracer } from "effect"
import { errorOf, kindOf } from "../../Common/ErrorKind.ts"
import type { Allowance } from "./Allowance.ts"
import { isShown } from "./Shown.ts"

/** A span that nobody will see; whatever happens within it belongs to the nearest span that is kept. */
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

/** The span with its ways in narrowed. Events are log lines, which are sent as such. */
const guarded = (span: Tracer.Span): Tracer.Span => {
  const end = span.end.bind(span)
  const attribute = span.attribute.bind(span)
  return Object.assign(span, {
    end: (endTime: bigint, exit: Exit.Exit<unknown, unknown>) => end(endTime, withoutContent(exit)),
    attribute: (key: string, value: unknown) => (isShown(key) ? attribute(key, value) : undefined),
    event: () => undefined,
  })
}

/** Keeps spans as far as is allowed; below one that is not kept, none is. */
export const sparing = (inner: Tracer.Tracer, allowance: Allowance): Tracer.Tracer =>
  Tracer.make({
    context: (run, fiber) => inner.context(run, fiber),
    span: (name, parent, context, _links, startTime, kind) =>
      Option.exists(parent, ({ sampled }) => !sampled) || !allowance.admits(name, performance.now())
        ? new Unkept(name, parent, context, startTime)
        : guarded(inner.span(name, parent, context, [], startTime, kind)),
  })
