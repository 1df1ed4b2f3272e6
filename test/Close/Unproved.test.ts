/** What a run booked and did not prove, because it was stopped, is proved before a month closes. */
import { expect, layer } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { accounts, exchange } from "../Sync/Exchange.ts"
import { accountOf, client, clientId, creditAccount, lending, move } from "../Sync/Lending.ts"
import { at, borrower, loan, surfaces, tx } from "../Sync/Loaned.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing } from "./Months.ts"

/** Until there are so many rows. */
const count = (table: string, wanted: number) =>
  rows(`select 1 from ${table}`).pipe(
    Effect.delay("20 millis"),
    Effect.repeat({ until: (found) => found.length === wanted }),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("what a stopped run has booked late", (it) => {
  it.scoped("blocks the close of the month that it is dated to", () =>
    Effect.gen(function* () {
      const { held, service } = yield* exchange()
      yield* sync(service.url)
      expect(yield* closing("2026-09")).toMatchObject([{ state: "closed" }])
      held.moves = [{ on: "usd", at: "2026-09-20", amount: "250" }]
      // The other account gives no answer: the run has booked the entry of this one, and waits.
      held.interfere = (path) => path.startsWith(`/accounts/${accounts.eur.accountId}/statement`)
      const run = yield* Effect.fork(sync(service.url))
      yield* count("ledger.journal_entries", 1)
      yield* Fiber.interrupt(run)
      expect(yield* closing("2026-10")).toMatchObject([
        { state: "blocked", blockers: [{ check: "adjustment" }] },
      ])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a loan that a stopped run has read", (it) => {
  it.scoped("and did not book blocks the close of its month", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clock: "2026-11-01T12:00:00Z" })
      move(held, "", { type: "DEBIT", amount: 1000, on: at(2), relatedType: "PAYOUT" })
      held.creditAccounts = [creditAccount("0.00", "0.00")]
      yield* sync(service.url, surfaces)
      const [lent] = held.statements[""] ?? []
      held.receivables = [loan({ disbursedTransaction: tx(String(lent?.entryId), 2) })]
      held.creditAccounts = [creditAccount("1000.00", "1025.00")]
      const statement = `/accounts/${accountOf("")}/statement`
      held.interfere = (path) => path.startsWith(statement)
      const run = yield* Effect.fork(sync(service.url, surfaces))
      yield* count("mirror.receivables", 1)
      yield* Effect.repeat(
        Effect.delay(
          rows("select 1 from mirror.reference_items where kind = 'credit_account' and version = 2"),
          "20 millis",
        ),
        { until: (found) => found.length === 1 },
      )
      yield* Fiber.interrupt(run)
      const close = closing("2026-10", { variables: surfaces })
      const checks = Effect.map(close, ([book]) =>
        (book?.blockers ?? []).map(({ check }) => String(check)).sort(),
      )
      expect(yield* checks).toEqual(["credit-totals", "stream-unread"])
      held.interfere = () => false
      yield* sync(service.url, surfaces)
      expect(yield* close).toMatchObject([{ state: "closed" }])
    }),
  )
})

const oneWaits = {
  state: "blocked",
  blockers: [
    {
      check: "stream-unread",
      what: "stream-unread: 1 receivable was read and not booked: a complete sync books it.",
    },
  ],
}

layer(TestDatabase.layer, { excludeTestServices: true })(
  "without credit accounts, a loan that a stopped run has read",
  (it) => {
    it.scoped("blocks the close of its month as well", () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending({ clock: "2026-11-01T12:00:00Z" })
        const lent = move(held, "", { type: "DEBIT", amount: 1000, on: at(2), relatedType: "PAYOUT" })
        yield* sync(service.url, surfaces)
        held.receivables = [loan({ disbursedTransaction: tx(lent, 2) })]
        held.interfere = (path) => path.startsWith(`/accounts/${accountOf("")}/statement`)
        const run = yield* Effect.fork(sync(service.url, surfaces))
        yield* count("mirror.receivables", 1)
        yield* Fiber.interrupt(run)
        const close = closing("2026-10", { variables: surfaces })
        expect(yield* close).toMatchObject([oneWaits])
        held.interfere = () => false
        yield* sync(service.url, surfaces)
        expect(yield* close).toMatchObject([{ state: "closed" }])
      }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a borrower's loan that a stopped run has read",
  (it) => {
    it.scoped("blocks the close of its client's book, and of no other", () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending({
          clock: "2026-11-01T12:00:00Z",
          clients: [client(1), client(2)],
        })
        const lent = move(held, clientId(1), {
          type: "CREDIT",
          amount: 1000,
          on: at(2),
          relatedType: "PAYOUT",
        })
        yield* sync(service.url, borrower)
        held.receivables = [loan({ disbursedTransaction: tx(lent, 2) })]
        held.interfere = (path) => path.startsWith(`/accounts/${accountOf("")}/statement`)
        const run = yield* Effect.fork(sync(service.url, borrower))
        yield* count("mirror.receivables", 1)
        yield* Fiber.interrupt(run)
        const close = closing("2026-10", { variables: borrower, dryRun: true })
        expect(yield* close).toMatchObject([
          { book: "C1", ...oneWaits },
          { book: "C2", state: "closable" },
          { book: "ORG", state: "closable" },
        ])
        held.interfere = () => false
        yield* sync(service.url, borrower)
        expect((yield* close).map(({ state }) => state)).toEqual(["closable", "closable", "closable"])
      }),
    )
  },
)
