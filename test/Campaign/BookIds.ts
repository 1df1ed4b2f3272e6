import type { Book } from "../../src/Book.ts"

/** The identifiers of books, as a statement takes them: `any (${idsOf(books)}::integer[])`. */
export const idsOf = (books: ReadonlyArray<Pick<Book, "bookId">>): string =>
  `{${books.map(({ bookId }) => bookId).join(",")}}`
