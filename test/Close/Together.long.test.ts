/** Several books close in one transaction, each by its own evidence. */
import { expect, layer } from "@effect/vitest"
import { Deferred, Effect, Either, Fiber, Option } from "effect"
import { approve } from "../../src/Close/Approval.ts"
import { Database } from "../../src/Database.ts"
import { client, clientId, lending, move } from "../Sync/Lending.ts"
import { loan, paid, tx } from "../Sync/Loaned.ts"
import { bookIdOf, rows, sync } from "../Sync/Runs.ts"
import { closePeriod } from "../support/Closing.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { someoneWaits } from "./LockWait.ts"
import { bridging, checking, closing } from "./Months.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("the months of several books", (it) => {
  it.scoped("close together; a blocked book stays open, and a month without entries closes, too", () =>
    Effect.gen(function* () {
      const variables = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }
      const { held, service } = yield* lending({
        clients: [client(1), client(2), client(3), client(4)],
        clock: "2026-11-02T00:00:00Z",
      })
      for (const [index, amount] of [
        [1, 10],
        [2, 20],
        [3, 30],
      ] as const) {
        move(held, clientId(index), { type: "CREDIT", amount, on: "2026-10-05T12:00:00Z" })
        // An entry without a resource is an adjustment, which stands in suspense.
        move(held, clientId(index), { type: "DEBIT", amount, on: "2026-10-06T12:00:00Z" })
      }
      yield* sync(service.url, variables)
      const found = yield* rows(`select b.code, 'F' || f.finding_id as id from reconcile.findings f
        join mirror.books b using (book_id) where f.closed_at is null and f.check_name = 'adjustment' order by 1, 2`)
      const accept = found
        .filter(({ code }) => code !== "C2")
        .map(({ id }) => ({ id: String(id), reason: "looked at" }))
      const results = (yield* closing("2026-10", { accept, variables })).filter(({ book }) => book !== "ORG")
      expect(
        results.map(({ accepted, book, entries, state }) => [book, state, entries, accepted.length]),
      ).toEqual([
        ["C1", "closed", 2n, 2],
        ["C2", "blocked", null, 0],
        ["C3", "closed", 2n, 2],
        ["C4", "closed", 0n, 0],
      ])
      expect(results.find(({ book }) => book === "C2")?.blockers.map(({ id }) => id)).toEqual(
        found.filter(({ code }) => code === "C2").map(({ id }) => id),
      )
      expect(new Set(results.map(({ hash }) => hash)).size).toBe(4)
      // Each hash is that of its own book's journal alone, as a check of that book computes it.
      expect(yield* checking("2026-10")).toEqual([])
      const balances = yield* rows(`select b.code, count(*)::integer as accounts, sum(x.balance)::text as sum
        from ledger.close_balances x join mirror.books b using (book_id) where b.code <> 'ORG' group by b.code order by b.code`)
      expect(balances).toEqual([
        { code: "C1", accounts: 2, sum: "0.00" },
        { code: "C3", accounts: 2, sum: "0.00" },
      ])
      const again = yield* closing("2026-10", {
        accept: found.map(({ id }) => ({ id: String(id), reason: "looked at" })),
        variables,
      })
      expect(again.flatMap(({ book, state }) => (book === "ORG" ? [] : [`${book} ${state}`]))).toEqual([
        "C1 already closed",
        "C2 closed",
        "C3 already closed",
        "C4 already closed",
      ])
      expect(yield* checking("2026-10")).toEqual([])
      // Signed off in one go, but for a book that was before; nothing is left for a third time.
      const approving = (book: Option.Option<string>) =>
        approve({ period: "2026-10", book, name: "Ada Jones", twoPersons: false })
      yield* approving(Option.some("C2"))
      const approved = yield* approving(Option.none())
      expect(approved.flatMap(({ book }) => (book === "ORG" ? [] : [book]))).toEqual(["C1", "C3", "C4"])
      expect((yield* Effect.flip(approving(Option.none()))).message).toContain("of C1 was approved already")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a book that was blocked the month before", (it) => {
  it.scoped("keeps no other from closing the next one either, and is told which comes first", () =>
    Effect.gen(function* () {
      const variables = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }
      const { held, service } = yield* lending({
        clients: [client(1), client(2)],
        clock: "2026-11-02T00:00:00Z",
      })
      // An entry without a resource is an adjustment, which stands in suspense and blocks its month.
      move(held, clientId(2), { type: "CREDIT", amount: 20, on: "2026-09-05T12:00:00Z" })
      yield* sync(service.url, variables)
      const states = (found: Effect.Effect.Success<ReturnType<typeof closing>>) =>
        found.flatMap(({ book, state }) => (book === "ORG" ? [] : [`${book} ${state}`]))
      expect(states(yield* closing("2026-09", { variables }))).toEqual(["C1 closed", "C2 blocked"])
      const next = yield* closing("2026-10", { variables })
      expect(states(next)).toEqual(["C1 closed", "C2 blocked"])
      expect(next.find(({ book }) => book === "C2")?.blockers).toEqual([
        {
          id: null,
          what: "2026-10 of book C2 cannot be closed while 2026-09 is open: months close in order.",
          hint: "tieout close 2026-09 --book C2",
        },
      ])
      // Where no other can be closed it is refused, as of one book alone.
      expect((yield* Effect.flip(closing("2026-10", { variables }))).message).toBe(
        "2026-10 of book C2 cannot be closed while 2026-09 is open: months close in order. First: tieout close 2026-09 --book C2",
      )
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("two closes of the same months at once", (it) => {
  const variables = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }

  const threeClients = Effect.gen(function* () {
    const { service } = yield* lending({
      clients: [client(1), client(2), client(3)],
      clock: "2026-11-02T00:00:00Z",
    })
    yield* sync(service.url, variables)
  })

  /** Somebody closes October of a book in plain SQL, and the command that closes that of `book`, or of all, waits for it. */
  const whileAnotherCloses = (code: string, book?: string) =>
    Effect.gen(function* () {
      const database = yield* Database
      const [locked, go] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const id = yield* bookIdOf(code)
      const other = yield* Effect.fork(
        database.transaction(
          Effect.gen(function* () {
            yield* database.query("Test.lock", (sql) => sql`select 1 from ledger.locks for update`)
            yield* Deferred.succeed(locked, undefined)
            yield* Deferred.await(go)
            yield* database.query("Test.close", (sql) => sql.unsafe(closePeriod(id, "2026-10")))
          }),
        ),
      )
      yield* Deferred.await(locked)
      const close = yield* Effect.fork(
        Effect.either(closing("2026-10", { variables, ...(book === undefined ? {} : { book }) })),
      )
      yield* someoneWaits
      yield* Deferred.succeed(go, undefined)
      yield* Fiber.join(other)
      return yield* Fiber.join(close)
    })

  it.scoped("close what the other one has not, and say what it has", () =>
    Effect.gen(function* () {
      yield* threeClients
      const results = Either.getOrThrow(yield* whileAnotherCloses("C1"))
      expect(results.flatMap(({ book, state }) => (book === "ORG" ? [] : [`${book} ${state}`]))).toEqual([
        "C1 already closed",
        "C2 closed",
        "C3 closed",
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped("are refused where the other one has closed all, as they are a moment later", () =>
    Effect.gen(function* () {
      yield* threeClients
      const refused = yield* whileAnotherCloses("C2", "C2")
      const later = yield* Effect.either(closing("2026-10", { variables, book: "C2" }))
      expect([refused, later].map((one) => Either.isLeft(one) && one.left.message)).toEqual(
        Array.from({ length: 2 }, () => expect.stringContaining("2026-10 of book C2 is closed already")),
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("the months of books with late entries", (it) => {
  it.scoped("close by their own bridges, late entries and earlier closes", () =>
    Effect.gen(function* () {
      const variables = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }
      const { held, service } = yield* lending({
        clients: [client(1), client(2), client(3)],
        clock: "2026-10-02T00:00:00Z",
      })
      const earn = (index: number, amount: number, on: string) =>
        move(held, clientId(index), { type: "CREDIT", amount, on: `${on}T12:00:00Z` })
      for (const index of [1, 2, 3]) earn(index, index * 10, "2026-09-05")
      const open = rows(`select 'F' || f.finding_id as id from reconcile.open_findings f`)
      const closeAll = Effect.fnUntraced(function* (period: string) {
        yield* sync(service.url, variables)
        const accept = (yield* open).map(({ id }) => ({ id: String(id), reason: "looked at" }))
        const results = yield* closing(period, { accept, variables })
        return results.filter(({ book }) => book !== "ORG")
      })
      const september = yield* closeAll("2026-09")
      expect(september.map(({ state }) => state)).toEqual(["closed", "closed", "closed"])
      // The service shows entries of September in two books only after that month is closed.
      held.clock = "2026-11-02T00:00:00Z"
      earn(2, 7, "2026-09-20")
      earn(3, 8, "2026-09-21")
      earn(3, 9, "2026-09-22")
      for (const index of [1, 2, 3]) earn(index, index * 100, "2026-10-05")
      const october = yield* closeAll("2026-10")
      expect(october.map(({ book, state }) => `${book} ${state}`)).toEqual(
        ["C1", "C2", "C3"].map((book) => `${book} closed`),
      )
      expect(october.map(({ bridge }) => bridge?.lateHere.map(({ amount }) => amount))).toEqual([
        [],
        ["7.00"],
        ["8.00", "9.00"],
      ])
      // Each bridge is what its book alone would have, and comes after the close of its own book.
      const alone = (yield* bridging("2026-10")).filter(({ book }) => book !== "ORG")
      expect(october.map(({ bridge }) => bridge)).toEqual(alone)
      expect(alone.map(({ accounts }) => accounts.map(({ lateHere }) => lateHere))).toEqual([
        ["0.00"],
        ["7.00"],
        ["17.00"],
      ])
      expect(october.map(({ previousHash }) => previousHash)).toEqual(september.map(({ hash }) => hash))
      expect((yield* bridging("2026-09")).flatMap(({ lateElsewhere }) => lateElsewhere.length)).toContain(2)
      expect(yield* checking("2026-10")).toEqual([])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("the gates of several books", (it) => {
  it.scoped("say of each what is in its own way", () =>
    Effect.gen(function* () {
      const variables = { TIEOUT_CONNECTIONS: "{default: {surfaces: [organization, client, credit]}}" }
      const { held, service } = yield* lending({ clients: [client(1), client(2), client(3)] })
      for (const index of [1, 2, 3])
        move(held, clientId(index), { type: "CREDIT", amount: index, on: "2026-10-05T12:00:00Z" })
      // A loan that was paid out and repaid by transactions that no statement shows: two legs in the organization's book.
      held.receivables = [loan({ disbursedTransaction: tx("PAYOUT-1", 2) })]
      yield* sync(service.url, variables)
      held.clock = "2026-11-02T00:00:00Z"
      const transactions = {
        disbursedTransaction: tx("PAYOUT-1", 2),
        repaymentTransactions: [tx("REPAY-1", 20)],
      }
      held.receivables = [paid("REPAY-1", transactions)]
      yield* sync(service.url, variables)
      // The second book has wrong turnovers; in the third an entry waits for its number.
      yield* unruled(`update ledger.balances b set debit = debit + 1 from ledger.accounts a, mirror.books k
        where a.book_id = b.book_id and a.account_id = b.account_id and a.role = 'cash' and k.book_id = b.book_id
          and k.code = 'C2'`)
      yield* unruled(`insert into ledger.unnumbered (book_id, entry_id)
        select e.book_id, e.entry_id from ledger.journal_entries e join mirror.books k using (book_id)
        where k.code = 'C3'`)
      const results = yield* closing("2026-10", { dryRun: true, variables })
      const found = results.map(({ blockers, book, notes }) => [
        book,
        blockers.filter(({ what }) => what.startsWith("loan-in-transit")).length,
        blockers.filter(({ what }) => what.startsWith("bridge")).length,
        notes.filter((note) => /^1 journal entry gets its number before the close\.$/.test(note)).length,
      ])
      expect(found.toSorted()).toEqual([
        ["C1", 0, 0, 0],
        ["C2", 0, 1, 0],
        ["C3", 0, 0, 1],
        ["ORG", 2, 0, 0],
      ])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("the gate of a client's book alone", (it) => {
  it.scoped("also asks for the lists of the organization", () =>
    Effect.gen(function* () {
      const variables = { TIEOUT_CONNECTIONS: "{default: {surfaces: [client]}}" }
      const { held, service } = yield* lending({ clients: [client(4)], clock: "2026-10-20T00:00:00Z" })
      move(held, clientId(4), { type: "CREDIT", amount: 4, on: "2026-10-05T12:00:00Z" })
      yield* sync(service.url, variables)
      const results = yield* closing("2026-10", { book: "C4", dryRun: true, variables })
      // The evidence of the list of clients is kept in the organization's book.
      const unread = results.flatMap(({ blockers }) =>
        blockers.flatMap(({ what }) => /^stream-unread: The list of (\w+)/.exec(what)?.[1] ?? []),
      )
      expect(unread.toSorted()).toEqual(["accounts", "clients"])
    }),
  )
})
