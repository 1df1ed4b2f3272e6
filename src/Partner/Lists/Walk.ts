/**
 * Pages one after another, as they are asked for. A night reads thousands of lists of a page or two each: a stream of Effect's takes as long
 * to set up as the rest of such a reading, so a walk is two effects.
 */
import { Effect, Option } from "effect"

/** One reading of a list. */
export interface Walk<P, E> {
  /** The next page, none behind the last one. Whoever asks for it is done with the page before. */
  readonly next: Effect.Effect<Option.Option<P>, E>
  /** Ends the reading, wherever it is: nothing is under way any more, and no answer takes any room. */
  readonly close: Effect.Effect<void>
}

/** Begins a reading, which asks for nothing until its first page is wanted. */
export type Walks<P, E> = () => Walk<P, E>

/** Hands over page after page, up to the last one or to the one for which `isEnough` says so. */
export const forEachPageUntil = <P, E, E2, R>(
  begin: Walks<P, E>,
  isEnough: (page: P) => Effect.Effect<boolean, E2, R>,
): Effect.Effect<void, E | E2, R> =>
  Effect.acquireUseRelease(
    Effect.sync(begin),
    ({ next }) => {
      const goOn: Effect.Effect<void, E | E2, R> = Effect.flatMap(
        next,
        (page): Effect.Effect<void, E | E2, R> =>
          Option.isNone(page)
            ? Effect.void
            : Effect.flatMap(isEnough(page.value), (enough) => (enough ? Effect.void : goOn)),
      )
      return goOn
    },
    ({ close }) => close,
  )

/** Hands over all pages, one after the other. */
export const forEachPage = <P, E, E2, R>(
  begin: Walks<P, E>,
  each: (page: P) => Effect.Effect<unknown, E2, R>,
): Effect.Effect<void, E | E2, R> => forEachPageUntil(begin, (page) => Effect.as(each(page), false))
