import { Data, Effect, Option } from "effect"
import { allBooks, heldBooks } from "../Book.ts"

/** There is no book of that code or client, or no book at all yet: exit code 2. */
export class UnknownBook extends Data.TaggedError("UnknownBook")<{ readonly message: string }> {}

/** The book of that code or client, or all books that have accounts. */
export const chooseBooks = Effect.fn("Book.choose")(function* (
  connection: Option.Option<string>,
  wanted: Option.Option<string>,
) {
  const books = yield* allBooks(connection)
  const ofConnection = Option.match(connection, {
    onNone: () => "",
    onSome: (name) => ` of connection ${name}`,
  })
  if (books.length === 0) {
    return yield* new UnknownBook({
      message: `There are no books${ofConnection} yet: run \`tieout sync\` first.`,
    })
  }
  if (Option.isNone(wanted)) {
    const held = yield* heldBooks(books)
    return held.length > 0 ? held : books
  }
  const name = wanted.value.toLowerCase()
  const chosen = books.filter(
    ({ clientId, code }) => code.toLowerCase() === name || Option.contains(clientId, name),
  )
  if (chosen.length > 0) return chosen
  const known = books.slice(0, 20).map(({ code }) => code)
  const more = books.length > known.length ? ` … (${books.length} in all)` : ""
  return yield* new UnknownBook({
    message: `There is no book ${wanted.value}${ofConnection}: known are ${known.join(", ")}${more}.`,
  })
})
