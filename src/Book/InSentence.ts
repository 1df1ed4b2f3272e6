/** Books in a sentence: a connection may have thousands. */
import { firstNames } from "../Common/Text.ts"

/** Books that a sentence names; the rest is counted. */
const mostNamed = 20

export const inSentence = (codes: ReadonlyArray<string>): string => firstNames(codes, mostNamed)

/** `ORG, C1 and 3 more`. */
export const booksInSentence = (books: ReadonlyArray<{ readonly code: string }>): string =>
  inSentence(books.map(({ code }) => code))
