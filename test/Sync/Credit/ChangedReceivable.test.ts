/** Receivables of which a later answer says another currency or another client than the one before. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { client, clientId, creditAccount, lending, move, receivable } from "../Lending.ts"
import { at, borrower, surfaces, tx } from "../Loaned.ts"
import { findings, postings, rows, sync } from "../Runs.ts"

/** What a book holds, by role and currency. */
const held = (code: string) =>
  rows(`
    select a.role || ' ' || trim_scale(sum(t.debit - t.credit))::text || ' ' || a.currency as line from ledger.balances t
    join ledger.accounts a on a.book_id = t.book_id and a.account_id = t.account_id
    join mirror.books b on b.book_id = t.book_id where b.code = '${code}'
    group by a.role, a.currency having sum(t.debit - t.credit) <> 0 order by 1`).pipe(
    Effect.map((found) => found.map(({ line }) => line)),
  )

const unposted = rows("select 1 from mirror.receivables where not posted")

const said = rows(`
  select message from reconcile.findings where closed_at is null and check_name = 'receivable-state'`).pipe(
  Effect.map((found) => found.map(({ message }) => String(message))),
)

const fresh = TestDatabase.layer

layer(TestDatabase.layer, { excludeTestServices: true })("A receivable that changes its currency", (it) => {
  it.scoped("is a finding, and none of the other currency's amounts are booked as the first one's", () =>
    Effect.gen(function* () {
      const { held: service, service: served } = yield* lending()
      const run = sync(served.url, surfaces)
      service.receivables = [receivable({ status: "ACTIVE", repaymentAmount: "1050.00" })]
      yield* run
      const before = yield* held("ORG")
      service.clock = at(9)
      service.receivables = [
        receivable({
          status: "ACTIVE",
          currency: "EUR",
          currentPrincipal: "400.00",
          repaymentAmount: "410.00",
        }),
      ]
      yield* run
      expect(yield* held("ORG")).toEqual(before)
      expect(yield* said).toEqual([
        "The receivable of 1000.00 EUR is ACTIVE: it was in USD before. The books keep what they hold in USD. The service says 400.00 EUR of principal and 410.00 EUR to be repaid.",
      ])
      // The first currency is stated again: what happened meanwhile is booked.
      service.clock = at(10)
      service.receivables = [
        receivable({ status: "ACTIVE", currentPrincipal: "400.00", repaymentAmount: "420.00" }),
      ]
      yield* run
      expect(yield* said).toEqual([])
      expect(yield* held("ORG")).toEqual([
        "interest_income -50 USD",
        "loan_clearing -370 USD",
        "receivable_interest 20 USD",
        "receivable_principal 400 USD",
      ])
    }),
  )

  it.scoped("stops no sync where the first currency cannot hold the other one's amounts", () =>
    Effect.gen(function* () {
      const { held: service, service: served } = yield* lending()
      const run = sync(served.url, surfaces)
      const yen = { status: "ACTIVE", currency: "JPY", initialPrincipal: "1000", repaymentAmount: "1000" }
      service.receivables = [receivable({ ...yen, currentPrincipal: "1000" })]
      yield* run
      service.receivables = [receivable({ ...yen, currency: "USD", currentPrincipal: "999.50" })]
      yield* run
      expect(yield* held("ORG")).toEqual(["loan_clearing -1000 JPY", "receivable_principal 1000 JPY"])
      expect(yield* said).toHaveLength(1)
    }).pipe(Effect.provide(fresh)),
  )

  it.scoped("is compared with the credit accounts in the currency in which the books hold it", () =>
    Effect.gen(function* () {
      const { held: service, service: served } = yield* lending()
      const run = sync(served.url, surfaces)
      service.receivables = [receivable({ status: "ACTIVE" })]
      service.creditAccounts = [creditAccount("1000.00", "1000.00")]
      yield* run
      service.receivables = [receivable({ status: "ACTIVE", currency: "EUR" })]
      service.creditAccounts = [{ ...creditAccount("1000.00", "1000.00"), currency: "EUR" }]
      yield* run
      expect((yield* findings).filter((line) => line !== "loan-in-transit warning")).toEqual([
        "credit-totals blocking",
        "credit-totals blocking",
        "receivable-state blocking",
      ])
    }).pipe(Effect.provide(fresh)),
  )

  it.scoped(
    "is taken back by a cancellation, whatever its currency, and is booked in one before it is lent",
    () =>
      Effect.gen(function* () {
        const { held: service, service: served } = yield* lending()
        const run = sync(served.url, surfaces)
        service.receivables = [receivable({ currency: "EUR" })]
        yield* run
        service.receivables = [receivable({ status: "ACTIVE" })]
        yield* run
        expect(yield* held("ORG")).toEqual(["loan_clearing -1000 USD", "receivable_principal 1000 USD"])
        expect(yield* said).toEqual([])
        service.receivables = [receivable({ status: "CANCELED", currency: "EUR" })]
        yield* run
        expect(yield* held("ORG")).toEqual([])
        expect(yield* findings).toEqual([])
      }).pipe(Effect.provide(fresh)),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "A borrower's receivable that changes its client",
  (it) => {
    for (const [from, to] of [
      [1, 2],
      [2, 1],
    ] as const)
      it.scoped(`leaves the book of client ${from} and stands in that of client ${to} alone`, () =>
        Effect.gen(function* () {
          const { held: service, service: served } = yield* lending({ clients: [client(1), client(2)] })
          const run = sync(served.url, borrower)
          const of = (index: number, over = {}) =>
            receivable({ clientId: clientId(index), status: "ACTIVE", repaymentAmount: "1050.00", ...over })
          const loan = [
            "interest_expense 50 USD",
            "interest_payable -50 USD",
            "loan_clearing 1000 USD",
            "loan_payable -1000 USD",
          ]
          service.receivables = [of(from)]
          yield* run
          expect(yield* held(`C${from}`)).toEqual(loan)
          service.clock = at(9)
          service.receivables = [of(to)]
          yield* run
          expect(yield* held(`C${from}`)).toEqual([])
          expect(yield* held(`C${to}`)).toEqual(loan)
          yield* run
          expect(yield* unposted).toEqual([])
          const settled = yield* postings
          yield* run
          expect(yield* postings).toEqual(settled)
          // And back again, paid meanwhile.
          service.clock = at(12)
          service.receivables = [
            of(from, { status: "PAID", currentPrincipal: "0.00", repaymentAmount: "0.00" }),
          ]
          yield* run
          expect(yield* held(`C${to}`)).toEqual([])
          expect((yield* held(`C${from}`)).filter((line) => String(line).includes("payable"))).toEqual([])
          yield* run
          expect(yield* unposted).toEqual([])
        }).pipe(Effect.provide(fresh)),
      )

    it.scoped("leaves cash that was paid out on it in loan clearing, as a finding", () =>
      Effect.gen(function* () {
        const { held: service, service: served } = yield* lending({ clients: [client(1), client(2)] })
        const run = sync(served.url, borrower)
        const loan = move(service, clientId(1), { type: "CREDIT", amount: 1000, on: at(2) })
        const over = { status: "ACTIVE", disbursedTransaction: tx(loan, 2) }
        service.receivables = [receivable(over)]
        yield* run
        expect(yield* held("C1")).toEqual(["cash 1000 USD", "loan_payable -1000 USD"])
        service.receivables = [receivable({ ...over, clientId: clientId(2) })]
        yield* run
        expect(yield* held("C1")).toEqual(["cash 1000 USD", "loan_clearing -1000 USD"])
        expect(yield* held("C2")).toEqual(["loan_clearing 1000 USD", "loan_payable -1000 USD"])
        expect((yield* findings).filter((line) => String(line).startsWith("loan-clearing"))).toHaveLength(1)
      }).pipe(Effect.provide(fresh)),
    )
  },
)
