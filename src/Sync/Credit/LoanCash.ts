/** The cash of receivables: which transactions have news, and where their money stands. */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import { nullable, text, uuid } from "../../Database/Columns.ts"
import { textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import { resourceKey } from "../../Ledger/Movements.ts"
import { subjectsOf } from "../../Ledger/Subjects.ts"
import { Resources } from "../../Mirror/Resources.ts"
import { Run } from "../../Run.ts"
import { Pages } from "../Statements/StatementPage.ts"

export const loanCash = Effect.gen(function* () {
  const database = yield* Database
  const resources = yield* Resources
  const pages = yield* Pages

  /**
   * Transactions not searched for yet, and those of a movement whose entry or resource a later run has read: a fee that has
   * become known changes the amount paid.
   */
  const due = Effect.fn("Sync.Loans.due")(function* (book: Book, since: number) {
    return yield* database.rows(
      "Sync.Loans.due",
      { receivable_id: uuid, tx_id: text },
      (sql) => sql`
          with fresh as (
            select entry_id, related_id from mirror.statement_entries
            where book_id = ${book.bookId} and run_id > ${since}),
          movements as (
            select related_id as id from fresh where related_id is not null
            union
            select resource_id from mirror.resources where book_id = ${book.bookId} and run_id > ${since}),
          names as (
            select entry_id::text as tx_id from fresh
            union
            select id::text from movements
            union
            select e.entry_id::text from movements m
            join mirror.statement_entries e on e.book_id = ${book.bookId} and e.related_id = m.id
            union
            select lower(r.transaction_hash) from movements m
            join mirror.resources r on r.book_id = ${book.bookId} and r.resource_id = m.id
              and r.transaction_hash is not null)
          select receivable_id, tx_id from mirror.receivable_transactions
          where book_id = ${book.bookId} and not sought
          union
          select t.receivable_id, t.tx_id from names n
          join mirror.receivable_transactions t on t.book_id = ${book.bookId} and t.tx_id = n.tx_id
          where exists (select from mirror.receivable_transactions x where x.book_id = ${book.bookId})
          order by 1, 2`,
    )
  })

  /** Moves the cash legs of the transactions to loan clearing, where they stand elsewhere. */
  const link = Effect.fn("Sync.Loans.link")(function* (book: Book, txIds: ReadonlyArray<string>) {
    const run = yield* Run
    const named = yield* database.rows(
      "Sync.Loans.named",
      { entry_id: uuid, related_id: nullable(uuid) },
      (sql) => sql`
          with wanted as (select unnest(${textArray(sql, txIds)}) as tx_id),
          ids as (select mirror.uuid_or_null(tx_id) as id from wanted)
          select e.entry_id, e.related_id from mirror.statement_entries e
          where e.book_id = ${book.bookId} and not e.held
            and (e.entry_id in (select id from ids) or e.related_id in (select id from ids)
              or e.related_id in (select r.resource_id from mirror.resources r join wanted w
                                  on lower(r.transaction_hash) = w.tx_id where r.book_id = ${book.bookId}))`,
    )
    const related = [...new Set(named.flatMap(({ related_id: id }) => (id === null ? [] : [id])))]
    const entries = named.filter(({ related_id: id }) => id === null).map(({ entry_id: id }) => id)
    const booked = yield* subjectsOf(book, related, entries)
    const found = yield* resources.find(book, related, run.startedAt)
    const markSought = database.execute(
      "Sync.Loans.sought",
      (sql) => sql`
          update mirror.receivable_transactions set sought = true
          where book_id = ${book.bookId} and tx_id = any (${textArray(sql, txIds)}) and not sought`,
    )
    yield* pages.absorb(
      book,
      {
        fresh: [],
        booked,
        opens: false,
        hydrated: {
          read: [],
          missing: [],
          resources: new Map(
            found.map(({ resource }) => [resourceKey(resource.resourceType, resource.id), resource]),
          ),
        },
      },
      Effect.asVoid(markSought),
    )
  })

  return { due, link }
})
