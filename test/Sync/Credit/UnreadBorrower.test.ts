/** Loans of a client whose book was not read to its end. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../../Partner/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { client, clientId, lending, move } from "../Lending.ts"
import { at, borrower, loan, paid, tx } from "../Loaned.ts"
import { postings, rows, sync } from "../Runs.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("Loans of a client that the list left out", (it) => {
  it.scoped("wait where the client's statement cannot be read, as those of a listed client do", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const out = move(held, clientId(1), { type: "CREDIT", amount: 1000, on: at(2) })
      held.receivables = [loan({ disbursedTransaction: tx(out, 2) })]
      yield* sync(service.url, borrower)
      const before = yield* postings
      // The statement that has the cash of the repayment fails.
      const back = move(held, clientId(1), { type: "DEBIT", amount: 1025, on: at(20) })
      held.receivables = [paid(back)]
      held.clock = at(21)
      held.interfere = (path, response) => {
        if (!path.includes("/statement") || !path.startsWith("/clients/")) return false
        json(response, { code: "odd" }, 400)
        return true
      }
      const tried = (clients: typeof held.clients) =>
        Effect.suspend(() => {
          held.clients = clients
          return Effect.zipRight(Effect.either(sync(service.url, borrower)), postings)
        })
      expect(yield* tried([client(1)])).toEqual(before)
      expect(yield* tried([])).toEqual(before)

      held.interfere = () => false
      yield* sync(service.url, borrower)
      expect((yield* postings).filter((line) => String(line).startsWith("repayment"))).toEqual([
        "repayment loan_payable 1000, interest_payable 25, loan_clearing -1025",
      ])
    }),
  )
})

const isClients = (path: string): boolean => path.split("?")[0] === "/clients"

layer(TestDatabase.layer, { excludeTestServices: true })("The book of a borrower", (it) => {
  const codes = rows("select code, name from mirror.books where client_id is not null order by code")

  it.scoped(
    "has its client's code, though the list of clients could not be read, or is older than the loan",
    () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending()
        const out = move(held, clientId(1), { type: "CREDIT", amount: 1000, on: at(2) })
        held.receivables = [loan({ disbursedTransaction: tx(out, 2) })]
        held.interfere = (path, response) => {
          if (!isClients(path)) return false
          json(response, { code: "odd" }, 400)
          return true
        }
        yield* Effect.either(sync(service.url, borrower))
        expect(yield* codes).toEqual([])

        // The client is approved right after the list was read.
        let asked = 0
        held.interfere = (path, response) => {
          if (!isClients(path) || asked++ > 0) return false
          json(response, { items: [], pageInfo: { hasNextPage: false } })
          return true
        }
        yield* Effect.either(sync(service.url, borrower))
        expect(yield* codes).toEqual([{ code: "C1", name: "Client 1 Ltd" }])
        expect(asked).toBe(2)

        yield* sync(service.url, borrower)
        expect((yield* postings).filter((line) => String(line).startsWith("disbursement")).length).toBe(1)
      }),
  )

  it.scoped(
    "has the beginning of the client's identifier, where no list has the client; the list is asked once",
    () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending()
        held.clients = []
        held.receivables = [
          loan({ status: "PENDING" }),
          loan({ receivableId: clientId(7), clientId: clientId(2), status: "PENDING" }),
        ]
        let asked = 0
        held.interfere = (path) => {
          if (isClients(path)) asked++
          return false
        }
        yield* Effect.either(sync(service.url, borrower)).pipe(Effect.provide(TestDatabase.layer))
        expect(asked).toBe(2)
      }),
  )
})
