/** Rows of several books that one statement read, by their book. */
export interface ByBook<A> {
  /** In the order in which they were read; none where the book has none. */
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
