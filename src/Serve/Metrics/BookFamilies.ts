/** The metrics of the books: what they hold, and how far they were read. */
import { unreadFor } from "../../Reconcile/ReadStates.ts"
import type { Snapshot } from "../Overview.ts"
import type { Family, Sample } from "./Family.ts"

/** The most books with a series of their own, the furthest behind first; the others count in their connection's figure. */
const booksListed = 500

/** A figure of each book, added up for each connection. */
export const byConnection = (
  snapshot: Snapshot,
  countOf: (book: Snapshot["books"][number]) => number,
): ReadonlyArray<Sample> => {
  const sums = new Map<string, number>(snapshot.connections.map(({ connection }) => [connection, 0]))
  for (const book of snapshot.books)
    sums.set(book.connection, (sums.get(book.connection) ?? 0) + countOf(book))
  return [...sums].map(([connection, value]) => ({ labels: { connection }, value }))
}

export const readingFamilies = (snapshot: Snapshot): ReadonlyArray<Family> => {
  const { books } = snapshot
  const known = books.map(({ code, connection, reading }) => ({ code, connection, lag: unreadFor(reading) }))
  const worst = new Map<string, number>()
  for (const { connection, lag } of known) worst.set(connection, Math.max(worst.get(connection) ?? 0, lag))
  const failing = books.flatMap(({ code, connection, reading: { failingSince } }) =>
    failingSince === null ? [] : [{ code, connection, failingSince }],
  )
  const longest = [...failing].sort((a, b) => a.failingSince - b.failingSince).slice(0, booksListed)
  const own = [...known].sort((a, b) => b.lag - a.lag).slice(0, booksListed)
  return [
    {
      name: "tieout_stream_lag_seconds",
      help: `Seconds since the stream of a book that was read longest ago was read to its end; the ${booksListed} books that are most behind.`,
      type: "gauge",
      samples: own.map(({ code, connection, lag }) => ({
        labels: { connection, book: code },
        value: lag,
      })),
    },
    {
      name: "tieout_lag_seconds",
      help: "Seconds since the stream of any of a connection's books that was read longest ago was read to its end.",
      type: "gauge",
      samples: [...worst].map(([connection, value]) => ({ labels: { connection }, value })),
    },
    {
      name: "tieout_books_unread",
      help: "Books of which a stream cannot be read: its last read failed.",
      type: "gauge",
      samples: byConnection(snapshot, ({ reading }) => (reading.failing > 0 ? 1 : 0)),
    },
    {
      name: "tieout_streams_unread",
      help: "Streams (lists and statements) whose last read failed.",
      type: "gauge",
      samples: byConnection(snapshot, ({ reading }) => reading.failing),
    },
    {
      name: "tieout_book_unread_since_timestamp_seconds",
      help: `Since when a stream of a book cannot be read, Unix time; the ${booksListed} books of which that is longest ago.`,
      type: "gauge",
      samples: longest.map(({ code, connection, failingSince }) => ({
        labels: { connection, book: code },
        value: failingSince / 1_000,
      })),
    },
  ]
}

export const bookFamilies = (snapshot: Snapshot): ReadonlyArray<Family> => [
  {
    name: "tieout_entries_total",
    help: "Statement entries that are booked.",
    type: "counter",
    samples: byConnection(snapshot, ({ entries }) => Number(entries)),
  },
  {
    name: "tieout_accounts",
    help: "Accounts of the service.",
    type: "gauge",
    samples: byConnection(snapshot, ({ accounts }) => accounts),
  },
  {
    name: "tieout_accounts_off",
    help: "Accounts that do not tie out.",
    type: "gauge",
    samples: byConnection(snapshot, ({ off }) => off),
  },
]
