/**
 * Groups consecutive pages that are committed together: a group acts as one longer page. Groups are counted from the
 * checkpoint, so a run that is started again makes the same ones.
 */
import { Effect, Option } from "effect"
import type { Page } from "../../Partner/Lists/Page.ts"
import type { Walks } from "../../Partner/Lists/Walk.ts"

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
    askedAt: first.askedAt,
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
  <A, E>(begin: Walks<Page<A>, E>): Walks<Group<A>, E> =>
  () => {
    const { close, next } = begin()
    /** Why no page came after the last group. */
    let failure = Option.none<E>()
    const groupOf = (pages: ReadonlyArray<Page<A>>): Option.Option<Group<A>> =>
      Option.map(Option.fromNullable(pages[0]), (first) => joined(pages, first))
    const gathered = (pages: ReadonlyArray<Page<A>>): Effect.Effect<Option.Option<Group<A>>, E> =>
      Effect.matchEffect(next, {
        onFailure: (error) => {
          if (pages.length === 0) return Effect.fail(error)
          failure = Option.some(error)
          return Effect.succeed(groupOf(pages))
        },
        onSuccess: (found) => {
          if (Option.isNone(found)) return Effect.succeed(groupOf(pages))
          const { value: page } = found
          const more = [...pages, page]
          return more.length === size || page.isLarge === true || !page.hasNextPage
            ? Effect.succeed(groupOf(more))
            : gathered(more)
        },
      })
    return {
      close,
      next: Effect.suspend(() => (Option.isSome(failure) ? Effect.fail(failure.value) : gathered([]))),
    }
  }
