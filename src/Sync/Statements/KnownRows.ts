/** What is mirrored of the entries that the rows of a statement name. */
import { Effect, Either, Option } from "effect"
import type { Book } from "../../Book.ts"
import { isUuid } from "../../Common/Uuid.ts"
import { refuseElsewhere, StatementEntries } from "../../Mirror/StatementEntries.ts"
import type { Row } from "../../Partner/Lists/Page.ts"
import type { StatementEntry } from "../../Partner.ts"

/** Gives the function that looks them up, those of rows that could not be understood as well. It fails where a row that was is another account's. */
export const knownRows = Effect.map(
  StatementEntries,
  (entries) => (book: Book, accountId: string, rows: ReadonlyArray<Row<StatementEntry>>) =>
    Effect.gen(function* () {
      const read = rows.flatMap((row) => (Either.isRight(row) ? [row.right.entryId] : []))
      const known = yield* entries.known(book, read)
      yield* refuseElsewhere(accountId, known)
      const garbled = rows
        .flatMap((row) => (Either.isLeft(row) ? Option.toArray(row.left.id) : []))
        .filter(isUuid)
      if (garbled.length === 0) return known
      const found = [...(yield* entries.known(book, garbled))]
      return new Map([...found.filter(([, { entry }]) => entry.accountId === accountId), ...known])
    }),
)
