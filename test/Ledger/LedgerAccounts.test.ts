/** Ledger accounts that several statements need at the same time. */
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Fiber, Layer, Option } from "effect"
import type { Book } from "../../src/Book.ts"
import * as Money from "../../src/Common/Money.ts"
import { Database } from "../../src/Database.ts"
import type { Line } from "../../src/Ledger/JournalEntry.ts"
import { Accounts } from "../../src/Ledger/LedgerAccounts.ts"
import type { Role } from "../../src/Ledger/Role.ts"
import { Settings } from "../../src/Settings.ts"
import { statement } from "../support/statement.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const line = (role: Role): Line => ({
  role,
  currency: "USD",
  amount: Money.fromTrusted("1"),
  partnerAccountId: null,
  rule: null,
})

layer(
  Accounts.Default.pipe(
    Layer.provide(Settings.from({ variables: {} })),
    Layer.provideMerge(TestDatabase.layer),
  ),
)("Ledger accounts", (it) => {
  it.effect("are made by two transactions that need the same ones in another order", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const accounts = yield* Accounts
      yield* statement(
        "insert into mirror.books (connection, code, name) values ('default', 'ORG', 'Organization')",
      )
      const book: Book = {
        bookId: 1,
        connection: "default",
        clientId: Option.none(),
        code: "ORG",
        name: "Organization",
      }
      // Holds an account that is not committed yet, so that others wait for it.
      const holding = (role: string) =>
        Effect.gen(function* () {
          const held = yield* Deferred.make<void>()
          const released = yield* Deferred.make<void>()
          const fiber = yield* Effect.fork(
            database.transaction(
              Effect.gen(function* () {
                yield* statement(
                  `insert into ledger.accounts (book_id, role, currency, code, name) values (1, '${role}', 'USD', '1', 'Held')`,
                )
                yield* Deferred.succeed(held, undefined)
                yield* Deferred.await(released)
              }),
            ),
          )
          yield* Deferred.await(held)
          return { release: Effect.zipRight(Deferred.succeed(released, undefined), Fiber.join(fiber)) }
        })
      const waiting = (count: number): Effect.Effect<void, unknown, Database> =>
        statement("select 1 from pg_locks where not granted").pipe(
          Effect.flatMap(({ length }) => (length >= count ? Effect.void : waiting(count))),
        )
      const suspense = yield* holding("suspense")
      const trading = yield* holding("trading")
      const lines = [line("fees"), line("suspense"), line("deposits_clearing")]
      const others = [line("deposits_clearing"), line("trading"), line("fees")]
      const one = yield* Effect.fork(accounts.idsOf(book, lines, database.transaction))
      yield* waiting(1)
      const other = yield* Effect.fork(accounts.idsOf(book, others, database.transaction))
      yield* waiting(2)
      yield* suspense.release
      yield* trading.release
      const [fees, , clearing] = yield* Fiber.join(one)
      const [sameClearing, , sameFees] = yield* Fiber.join(other)
      expect([sameFees, sameClearing]).toEqual([fees, clearing])
    }),
  )

  it.effect("are remembered for one run: the database may be a restored one by the next", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const accounts = yield* Accounts
      yield* statement(
        "insert into mirror.books (connection, code, name) values ('restored', 'ORG-2', 'Organization')",
      )
      const book: Book = {
        bookId: 2,
        connection: "restored",
        clientId: Option.none(),
        code: "ORG-2",
        name: "Organization",
      }
      const before = yield* accounts.idsOf(book, [line("fees"), line("trading")], database.transaction)
      // As in a copy that was made before either was there, and made them in another order.
      for (const sql of [
        "alter table ledger.accounts disable trigger user",
        "delete from ledger.accounts where book_id = 2",
        `insert into ledger.accounts (book_id, account_id, role, currency, code, name) overriding system value
          values (2, ${before[1]}, 'fees', 'USD', '1', 'Fees'), (2, ${before[0]}, 'trading', 'USD', '2', 'Trading')`,
        "alter table ledger.accounts enable trigger user",
      ])
        yield* statement(sql)
      yield* accounts.follow([book], database.transaction)
      const now = yield* accounts.idsOf(book, [line("fees"), line("trading")], database.transaction)
      expect(now).toEqual([...before].reverse())
    }),
  )
})
