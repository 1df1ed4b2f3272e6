/** Rows that one statement reads for several books, by book. */
import type { Sql } from "../Database/Client.ts"
import { plainArray } from "../Database/TextArray.ts"

/** Rows of several books. */
export interface ByBook<A> {
  /** In the order in which they were read; empty if the book has none. */
  readonly of: (book: { readonly bookId: number }) => ReadonlyArray<A>
}

export const byBook = <A extends { readonly bookId: number }>(rows: ReadonlyArray<A>): ByBook<A> => {
  const found = new Map<number, Array<A>>()
  for (const row of rows) {
    const own = found.get(row.bookId)
    if (own === undefined) found.set(row.bookId, [row])
    else own.push(row)
  }
  return { of: ({ bookId }) => found.get(bookId) ?? [] }
}

/** The right side of a condition on `book_id`: the planner estimates better with a single value than with a list. */
export const isIn = (sql: Sql, bookIds: ReadonlyArray<number>) => {
  const [first, ...more] = bookIds
  return first !== undefined && more.length === 0
    ? sql`= ${first}`
    : sql`= any (${plainArray(sql, bookIds.map(String), "int4")})`
}

/** The books as a relation `k`, for look-ups in each. */
export const booksIn = (sql: Sql, bookIds: ReadonlyArray<number>) =>
  sql`unnest(${plainArray(sql, bookIds.map(String), "int4")}) as k (book_id)`

/** The value that was read for a requested book; it is a defect if there is none. */
export const ofBook = <A>(found: ReadonlyMap<number, A>, bookId: number): A => {
  const own = found.get(bookId)
  if (own === undefined) throw new Error(`nothing was read of book ${bookId}`)
  return own
}
