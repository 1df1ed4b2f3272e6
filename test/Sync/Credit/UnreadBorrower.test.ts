/** Loans of a client whose book was not read to its end. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { json } from "../../Partner/Service.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { client, clientId, lending, move } from "../Lending.ts"
import { at, borrower, loan, paid, tx } from "../Loaned.ts"
import { postings, sync } from "../Runs.ts"

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
