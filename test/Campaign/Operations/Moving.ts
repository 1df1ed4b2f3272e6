/** A person moves what stands in suspense to an account of their own. */
import { Effect, Layer, Option } from "effect"
import type { Book } from "../../../src/Book.ts"
import { Database } from "../../../src/Database.ts"
import { Ledger } from "../../../src/Ledger.ts"
import { Resources } from "../../../src/Mirror/Resources.ts"
import { reclassify } from "../../../src/Reclassify.ts"
import { Reconcile } from "../../../src/Reconcile.ts"
import { PostingFacts } from "../../../src/Sync/PostingFacts.ts"
import type { Operation } from "../History.ts"
import type { Site } from "../Site.ts"

const services = Layer.mergeAll(Ledger.Default, Reconcile.Default, Resources.Default, PostingFacts.Default)

interface Standing {
  readonly book: number
  readonly entry: string
}

const inSuspense = (books: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.suspense",
      (sql) => sql<Array<Standing>>`
        select e.book_id as book, e.source_id as entry
        from ledger.journal_entries e
        join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
        join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id and a.role = 'suspense'
        where e.book_id = any (${`{${books.map(({ bookId }) => bookId).join(",")}}`}::integer[])
        group by 1, 2 having sum(p.amount) <> 0 order by min(e.occurred_at), 2`,
    ),
  )

interface Moved extends Standing {
  readonly times: number
}

const movedByHand = (books: ReadonlyArray<Book>) =>
  Effect.flatMap(Database, (database) =>
    database.query(
      "Campaign.moved",
      (sql) => sql<Array<Moved>>`
        select book_id as book, source_id as entry, count(*)::integer as times from ledger.journal_entries
        where book_id = any (${`{${books.map(({ bookId }) => bookId).join(",")}}`}::integer[]) and source_type = 'manual'
        group by 1, 2`,
    ),
  ).pipe(Effect.orDie)

export const move = (site: Site, books: ReadonlyArray<Book>, nth: number, code: string) =>
  Effect.gen(function* () {
    const found = yield* inSuspense(books)
    const one = found[found.length === 0 ? 0 : nth % found.length]
    if (one === undefined) return "nothing stands in suspense"
    yield* reclassify({ id: one.entry, to: code, name: Option.some("Moved"), reason: "known", who: "jane" })
    site.reclassified.push({ bookId: one.book, entryId: one.entry, code })
    return `${one.entry} to ${code}`
  }).pipe(Effect.provide(services))

/** Of moves by processes that were killed nobody knows whether they were made: what was is the books' to say. */
export const noteMoved = (site: Site, books: ReadonlyArray<Book>, operation: Operation) =>
  operation.do !== "reclassify"
    ? Effect.void
    : Effect.map(movedByHand(books), (found) => {
        const known = (one: Moved): number =>
          site.reclassified.filter(({ bookId, entryId }) => bookId === one.book && entryId === one.entry)
            .length
        for (const one of found) {
          if (known(one) >= one.times) continue
          site.reclassified.push({ bookId: one.book, entryId: one.entry, code: operation.code })
        }
      })
