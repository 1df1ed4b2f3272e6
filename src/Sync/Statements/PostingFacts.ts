/** The facts about a book that posting needs, taken from the mirror before movements are posted. */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import { traced } from "../../Common/Effects/Traced.ts"
import { nullable, text } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import type { BookFacts } from "../../Ledger/Facts.ts"
import type { Resource, StatementEntry } from "../../Partner.ts"

const noTransactions: ReadonlySet<string> = new Set()

const made = Effect.gen(function* () {
  const database = yield* Database
  let destinations: ReadonlyMap<string, string> = new Map()
  let lends = false

  /** Called when the lists that they come from have been read, before movements are posted. */
  const refresh = traced("Sync.PostingFacts.refresh")(function* (book: Book) {
    // One query for both: the row without an id says whether the book has loans.
    const rows = yield* database.rows(
      "Sync.PostingFacts.refresh",
      { id: nullable(text), label: text },
      (sql) => sql`
          select item_id as id, label from mirror.reference_items
          where book_id = ${book.bookId} and kind = 'destination' and current and label is not null
          union all
          select null, '' where exists (
            select 1 from mirror.receivable_transactions where book_id = ${book.bookId})`,
    )
    destinations = new Map(rows.flatMap(({ id, label }) => (id === null ? [] : [[id, label]])))
    lends = rows.some(({ id }) => id === null)
  })

  const loanTransactionsOf = Effect.fn("Sync.PostingFacts.loanTransactionsOf")(function* (
    book: Book,
    entries: ReadonlyArray<StatementEntry>,
    resources: Iterable<Resource>,
  ) {
    const names = new Set<string>()
    for (const entry of entries) {
      names.add(entry.entryId)
      if (Option.isSome(entry.relatedResourceId)) names.add(entry.relatedResourceId.value)
    }
    for (const { transactionHash } of resources)
      if (Option.isSome(transactionHash)) names.add(transactionHash.value.toLowerCase())
    const rows = yield* database.rows(
      "Sync.PostingFacts.loanTransactions",
      { tx_id: text },
      (sql) => sql`
          select tx_id from mirror.receivable_transactions
          where book_id = ${book.bookId} and tx_id = any (${textArray(sql, [...names])})`,
    )
    return new Set(rows.map(({ tx_id: id }) => id))
  })

  /** The facts for these entries and their resources. */
  const factsOf = (
    book: Book,
    entries: ReadonlyArray<StatementEntry>,
    resources: ReadonlyMap<string, Resource>,
  ) =>
    lends
      ? Effect.map(
          loanTransactionsOf(book, entries, resources.values()),
          (loanTransactions): BookFacts => ({ destinations, loanTransactions }),
        )
      : Effect.succeed<BookFacts>({ destinations, loanTransactions: noTransactions })

  return { refresh, factsOf }
})

export class PostingFacts extends Effect.Service<PostingFacts>()("tieout/Sync/PostingFacts", {
  effect: made,
}) {
  static readonly made = Effect.map(made, (parts) => new PostingFacts(parts))
}
