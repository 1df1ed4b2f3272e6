/** `mirror.entries_of_transaction`, and the names by which a receivable may refer to an entry's movement. */
import { randomUUID } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Database } from "../../src/Database.ts"
import { addEntry, openAccount, openBook, query, services } from "./Books.ts"

/** The planner has no statistics of new tables; each look-up must cost at most a scan of the book. */
layer(services, { excludeTestServices: true })("the entries of a transaction", (it) => {
  it.effect("that a receivable names by one of them are those of its movement on that account", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const { bookId } = book
      const [sold, bought] = [yield* openAccount(book), yield* openAccount(book, "EUR")]
      const of = { type: "CONVERSION", id: randomUUID() }
      const [one, other, leg] = [
        yield* addEntry(sold, { type: "DEBIT", amount: "60", of }),
        yield* addEntry(sold, { type: "DEBIT", amount: "40", of }),
        yield* addEntry(bought, { type: "CREDIT", amount: "90", of }),
      ]
      const entries = (tx: string) =>
        Effect.map(
          query<{ id: string }>(
            (sql) =>
              sql`select e.id from mirror.entries_of_transaction(${bookId}, ${tx}) as e (id) order by 1`,
          ),
          (found) => found.map(({ id }) => id),
        )
      expect(yield* entries(one)).toEqual([one, other].sort())
      expect(yield* entries(leg)).toEqual([leg])
      expect(yield* entries(of.id)).toEqual([one, other, leg].sort())
      const names = yield* query<{ name: string }>(
        (sql) =>
          sql`select t.name from mirror.transactions_of_entry(${bookId}, ${leg}) as t (name) order by 1`,
      )
      expect(names.map(({ name }) => name)).toEqual([leg, of.id].sort())
    }),
  )

  it.effect("are found with few scans where the planner has no statistics", () =>
    Effect.gen(function* () {
      const account = yield* openAccount(yield* openBook)
      const { bookId } = account.book
      const entries = 120
      for (let at = 0; at < entries; at++)
        yield* addEntry(account, { type: "CREDIT", amount: "1", of: { type: "PAYOUT", id: randomUUID() } })
      const database = yield* Database
      const looked = yield* database.transaction(
        Effect.gen(function* () {
          yield* query(
            (
              sql,
            ) => sql`select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
              set_config('enable_mergejoin', 'off', true)`,
          )
          yield* query(
            (sql) => sql`
              select e.entry_id, (select count(*) from mirror.entries_of_transaction(${bookId}, e.entry_id::text)),
                (select count(*) from mirror.transactions_of_entry(${bookId}, e.entry_id))
              from mirror.statement_entries e where e.book_id = ${bookId}`,
          )
          return yield* query(
            (sql) => sql<Array<{ rows: bigint }>>`
              select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::bigint as rows
              from pg_stat_xact_user_tables where relname like 'statement_entries%'`,
          )
        }),
      )
      expect(Number(looked[0]?.rows)).toBeLessThan(8 * entries * entries)
    }),
  )
})
