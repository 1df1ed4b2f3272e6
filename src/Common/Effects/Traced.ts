/** Spans that cost nothing while nobody traces. */
import { Effect, FiberRef } from "effect"
import type { YieldWrap } from "effect/Utils"

/** Runs an effect in a span of that name, if anybody traces. */
export const inSpan =
  (name: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(FiberRef.get(FiberRef.currentTracerEnabled), (enabled) =>
      enabled ? Effect.withSpan(effect, name, { captureStackTrace: false }) : effect,
    )

/** `Effect.fn` for what is called for every page and every book: its span is a good part of what it costs. */
export const traced =
  (name: string) =>
  <Eff extends YieldWrap<Effect.Effect<unknown, unknown, unknown>>, A, Args extends Array<unknown>>(
    body: (...args: Args) => Generator<Eff, A, never>,
  ) => {
    const run = Effect.fnUntraced(body)
    return (...args: Args) => inSpan(name)(run(...args))
  }
