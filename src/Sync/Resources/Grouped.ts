/**
 * Consecutive pages that are committed together. What a page says is unchanged by it: the group is one longer page. Groups
 * are counted from the checkpoint, so that a run that is started again makes the same ones.
 */
import { Chunk, Option, Stream } from "effect"
import type { Page } from "../../Partner.ts"

const joined = <A>(pages: ReadonlyArray<Page<A>>, first: Page<A>): Page<A> => {
  const last = pages.at(-1) ?? first
  const endCursor = pages.reduce(
    (before, page) => Option.orElse(page.endCursor, () => before),
    Option.none<string>(),
  )
  return {
    rows: pages.flatMap((page) => page.rows),
    hasNextPage: last.hasNextPage,
    // A last page that does not say where it ends is asked for again by the cursor that it was asked with.
    endCursor,
    askedWith: first.askedWith,
    requestedAt: last.requestedAt,
    // When the group began to be read: what came into being later may not be in it.
    servedAt: first.servedAt,
  }
}

/** Groups of up to `size` pages. Where reading fails, the pages before the failure still make a group. */
export const grouped =
  (size: number) =>
  <A, E, R>(pages: Stream.Stream<Page<A>, E, R>): Stream.Stream<Page<A>, E, R> =>
    size === 1
      ? pages
      : pages.pipe(
          Stream.grouped(size),
          Stream.map((group) => {
            const all = Chunk.toReadonlyArray(group)
            const [first] = all
            return first === undefined ? Option.none<Page<A>>() : Option.some(joined(all, first))
          }),
          Stream.filterMap((page) => page),
        )
