/** What is asked of each account of a book does not read the entries of the others: one may have nearly all of them. */
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { allBooks } from "../../src/Book.ts"
import { accountStandings } from "../../src/Inquiry/AccountStandings.ts"
import { bookTieOuts } from "../../src/Reconcile/TieOut.ts"
import { Settings } from "../../src/Settings.ts"
import { rowsTouched } from "../support/RowsTouched.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

/** So many entries of one account, and an account without any for each twenty of them. */
const grow = (from: number, to: number) =>
  unruled(`
    insert into mirror.statement_entries (book_id, account_id, position, entry_id, type, amount, currency, balance_after, occurred_at, run_id)
    select book_id, md5('a0')::uuid, n, md5('e' || n)::uuid, 'CREDIT', 1, 'EUR', n, '2026-10-15T12:00:00Z', 1
    from mirror.books, generate_series(${from}, ${to}) n;
    insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw,
      last_balance, tail_read_at, run_id, entries)
    select book_id, md5('a' || n / 20)::uuid, 'EUR', 'SEPA', 'ACTIVE', 0, now(), '{}', 0, now(), 1, case when n < 20 then 1000000 else 0 end
    from mirror.books, generate_series(${from - 1}, ${to - 1}, 20) n;
    analyze`)

const touched = Effect.gen(function* () {
  const books = yield* allBooks(Option.none())
  return {
    accounts: yield* rowsTouched(accountStandings(books, { newEntries: new Map(), partly: new Set() })),
    book: yield* rowsTouched(bookTieOuts(null)),
  }
})

it.scoped(
  "of twice as many accounts beside twice as many entries, the server goes through twice as many rows",
  () =>
    Effect.gen(function* () {
      yield* unruled(`
      insert into mirror.books (connection, client_id, code, name) values ('default', null, 'ORG', 'Organization');
      insert into ledger.locks (book_id, time_zone) select book_id, 'UTC' from mirror.books on conflict do nothing`)
      yield* grow(1, 5000)
      const before = yield* touched
      yield* grow(5001, 10_000)
      const after = yield* touched
      expect(after.accounts).toBeLessThan(2.6 * before.accounts)
      expect(after.book).toBeLessThan(2.6 * before.book)
    }).pipe(Effect.provide(Layer.merge(Settings.from({ variables: {} }), TestDatabase.layer))),
)
