/** What a check must leave apart: books from each other, accounts without an item, months that are closed. */
import { expect, it, layer } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { closing } from "../../Close/Months.ts"
import { client, lending } from "../../Sync/Lending.ts"
import { credit, debit, deposit, id, partnership } from "../../Sync/Partnership.ts"
import { findings, rows, sync } from "../../Sync/Runs.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { addEntry, mischief, openAccount, openBook, payout, query, reconciled, services } from "../Books.ts"

layer(services)("the balance of an account without an open item", (it) => {
  it.effect("is a finding of a full check, and of each later one until it is explained", () =>
    Effect.gen(function* () {
      const book = yield* openBook
      const account = yield* openAccount(book)
      yield* addEntry(account, { type: "CREDIT", amount: "10.00", of: payout })
      expect(yield* reconciled(book, true)).toEqual([])
      yield* query(
        (sql) => sql`
          insert into ledger.accounts (book_id, role, currency, code, name)
          values (${book.bookId}, 'suspense', 'USD', '1090', 'Suspense') returning account_id`,
      )
      const suspense = (amount: number) =>
        mischief(
          (sql) => sql`
            insert into ledger.balances as b (book_id, account_id, period, debit, credit)
            select a.book_id, a.account_id, '2026-10-01', ${amount}, 0 from ledger.accounts a
            where a.book_id = ${book.bookId} and a.role = 'suspense'
            on conflict (book_id, account_id, period) do update set debit = excluded.debit`,
        )
      yield* suspense(3)
      const named = (found: ReadonlyArray<{ check_name: string; message: string }>) =>
        found.filter(({ check_name: name }) => name === "open-items").map(({ message }) => message)
      const expected = ["The balance of 1090 is 3.00 USD; its open items add up to 0.00 USD."]
      expect(named(yield* reconciled(book, true))).toEqual(expected)
      expect(named(yield* reconciled(book))).toEqual(expected)
      yield* suspense(0)
      expect(yield* reconciled(book)).toEqual([])
    }),
  )
})

describe("rows that could not be understood", () => {
  it.scopedLive("are a finding in each book, where the same list of several books has some", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2)] })
      const list = client(1).clientId
      held.interfere = (path, response) => {
        if (!/^\/clients\/[^/]+\/accounts(\?|$)/.test(path)) return false
        const bad = { accountId: path.includes(String(list)) ? id(71) : id(72), currency: 7 }
        response.writeHead(200, {
          "content-type": "application/json",
          date: new Date(held.clock).toUTCString(),
        })
        response.end(JSON.stringify({ items: [bad], pageInfo: { hasNextPage: false } }))
        return true
      }
      yield* sync(service.url, { TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client]}}" })
      expect(
        yield* rows(`
          select b.code || ' ' || f.subject_id as found from reconcile.open_findings f join mirror.books b using (book_id)
          where f.check_name = 'quarantine' order by 1`),
      ).toEqual([{ found: "C1 accounts" }, { found: "C2 accounts" }])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

describe("an entry of amount zero", () => {
  it.scopedLive("is a warning until its month is closed", () =>
    Effect.gen(function* () {
      const at = (day: string) => ({ occurredAt: `${day}T12:00:00Z` })
      const { service } = yield* partnership({
        balance: "12.00",
        statement: [
          { ...credit(11, "10.00", "10.00", id(111)), ...at("2026-08-10") },
          { ...debit(12, "0", "10.00"), ...at("2026-08-11") },
          { ...credit(13, "2.00", "12.00", id(113)), ...at("2026-09-10") },
        ],
        deposits: [
          deposit(111, "10.00", { createdAt: "2026-08-10T11:00:00Z" }),
          deposit(113, "2.00", { createdAt: "2026-09-10T11:00:00Z" }),
        ],
      })
      yield* sync(service.url)
      expect(yield* findings).toEqual(["zero-entry warning"])
      expect(yield* closing("2026-08")).toMatchObject([{ state: "closed" }])
      yield* sync(service.url)
      expect(yield* findings).toEqual([])
      yield* sync(service.url, {}, true)
      expect(yield* findings).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
