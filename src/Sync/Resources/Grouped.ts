/**
 * Groups consecutive pages that are committed together: a group acts as one longer page. Groups are counted from the
 * checkpoint, so a run that is started again makes the same ones.
 */
import { Effect, Either, Option, Stream } from "effect"
import type { Page } from "../../Partner.ts"

/** Pages that act as one. */
export interface Group<A> extends Page<A> {
  /** The last of its pages that has rows: what it was asked with, and how many. Undefined where none has any. */
  readonly lastFilled: { readonly askedWith: Option.Option<string>; readonly rows: number } | undefined
}

const joined = <A>(pages: ReadonlyArray<Page<A>>, first: Page<A>): Group<A> => {
  const last = pages.at(-1) ?? first
  const filled = pages.findLast((page) => page.rows.length > 0)
  const endCursor = pages.reduce(
    (before, page) => Option.orElse(page.endCursor, () => before),
    Option.none<string>(),
  )
  return {
    rows: pages.flatMap((page) => page.rows),
    hasNextPage: last.hasNextPage,
    // A last page without an end cursor will be requested again by the cursor that it was requested with.
    endCursor,
    askedWith: first.askedWith,
    requestedAt: last.requestedAt,
    // When reading the group began: rows that were created later may not be in it.
    servedAt: first.servedAt,
    lastFilled: filled && { askedWith: filled.askedWith, rows: filled.rows.length },
  }
}

/**
 * Groups of up to `size` pages; a large one ends its group. Where reading fails, the pages before the failure still make a
 * group. Requests nothing beyond a group's last page before the group has been dealt with, since its answers may take room
 * until then.
 */
export const grouped =
  (size: number) =>
  <A, E, R>(pages: Stream.Stream<Page<A>, E, R>): Stream.Stream<Group<A>, E, R> =>
    size === 1
      ? Stream.map(pages, (page): Group<A> => joined([page], page))
      : Stream.unwrapScoped(
          Effect.map(Stream.toPull(pages), (pull) => {
            const pulled: Array<Page<A>> = []
            // Why no page came after the last group.
            let ended: Option.Option<E> | undefined
            const next: Effect.Effect<Group<A>, Option.Option<E>, R> = Effect.gen(function* () {
              const group: Array<Page<A>> = []
              while (ended === undefined && group.length < size) {
                if (pulled.length === 0) {
                  const found = yield* Effect.either(pull)
                  if (Either.isLeft(found)) {
                    ended = found.left
                    break
                  }
                  pulled.push(...found.right)
                }
                const page = pulled.shift()
                if (page === undefined) continue
                group.push(page)
                if (page.isLarge === true || !page.hasNextPage) break
              }
              const [first] = group
              if (first !== undefined) return joined(group, first)
              return yield* Effect.fail(ended ?? Option.none<E>())
            })
            return Stream.repeatEffectOption(next)
          }),
        )
