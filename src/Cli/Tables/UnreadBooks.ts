/** Books of which something cannot be read: what, and since when. */
import { Clock, Effect } from "effect"
import type { Book } from "../../Book.ts"
import { counted } from "../../Common/Text.ts"
import { failingText, type ReadState, readStates, unreadBooks } from "../../Reconcile/ReadStates.ts"

export interface UnreadBook {
  readonly connection: string
  readonly book: string
  readonly what: string
  /** ISO 8601. */
  readonly since: string
}

const toSecond = (at: number): string => `${new Date(at).toISOString().slice(0, 19)}Z`

const failing = (states: ReadonlyArray<ReadState>): ReadonlyArray<UnreadBook> =>
  unreadBooks(states).map(
    ({ book, since }): UnreadBook => ({
      connection: book.connection,
      book: book.code,
      what: failingText(book),
      since: toSecond(since),
    }),
  )

const neverRead = (states: ReadonlyArray<ReadState>, now: number): ReadonlyArray<UnreadBook> =>
  states
    .filter((book) => book.failingSince === null && book.lag === null)
    .map(
      ({ code, connection, knownFor }): UnreadBook => ({
        connection,
        book: code,
        what: "it was never read whole",
        since: toSecond(now - knownFor * 1_000),
      }),
    )

const statesOf = (books: ReadonlyArray<Book>) => readStates(books.map(({ bookId }) => bookId))

/** Those of them that cannot be read, the longest first. */
export const unreadOf = (books: ReadonlyArray<Book>) => Effect.map(statesOf(books), failing)

/** With those that no run has read yet: `since` is when they became known. */
export const notReadOf = Effect.fn("Cli.notRead")(function* (books: ReadonlyArray<Book>) {
  const states = yield* statesOf(books)
  return [...failing(states), ...neverRead(states, yield* Clock.currentTimeMillis)]
})

const mostNamed = 10

export const unreadLines = (title: string, unread: ReadonlyArray<UnreadBook>): ReadonlyArray<string> => {
  if (unread.length === 0) return []
  const named = unread
    .slice(0, mostNamed)
    .map(({ book, since, what }) => `book ${book} (${what}, since ${since})`)
  const more = unread.length - mostNamed
  return [`${title}: ${[...named, ...(more > 0 ? [counted(more, "more book")] : [])].join("; ")}.`]
}
