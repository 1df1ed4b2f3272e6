/** Books of which something cannot be read: what, and since when. */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import { counted } from "../../Common/Text.ts"
import { failingText, readStates, unreadBooks } from "../../Reconcile/ReadStates.ts"

export interface UnreadBook {
  readonly connection: string
  readonly book: string
  readonly what: string
  /** ISO 8601. */
  readonly since: string
}

/** Those of them that cannot be read, the longest first. */
export const unreadOf = Effect.fn("Cli.unread")(function* (books: ReadonlyArray<Book>) {
  const states = yield* readStates(books.map(({ bookId }) => bookId))
  return unreadBooks(states).map(({ book, since }): UnreadBook => {
    const at = `${new Date(since).toISOString().slice(0, 19)}Z`
    return { connection: book.connection, book: book.code, what: failingText(book), since: at }
  })
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
