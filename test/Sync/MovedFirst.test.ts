/** Cash that a person moved elsewhere before a receivable named it belongs to the receivable once it does. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { reclassify } from "../../src/Reclassify.ts"
import { services } from "../support/BookServices.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { lending, move, orgDeposit } from "./Lending.ts"
import { at, loan, paid, standing, surfaces, tx, unexplained } from "./Loaned.ts"
import { id } from "./Partnership.ts"
import { findings, postings, sync } from "./Runs.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("Cash that a person booked elsewhere", (it) => {
  it.scoped("goes on to loan clearing when a receivable names it later, and nothing is left over", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const run = sync(service.url, surfaces)
      const disbursedTransaction = tx(move(held, "", { type: "DEBIT", amount: 1000, on: at(2) }), 2)
      held.receivables = [loan({ disbursedTransaction })]
      held.deposits = [orgDeposit(700, "1025.00", { createdAt: at(20) })]
      const deposit = { relatedType: "DEPOSIT", relatedId: id(700) }
      const entry = move(held, "", { type: "CREDIT", amount: 1025, on: at(20), ...deposit })
      yield* run
      const to = { to: "2990", name: Option.some("Liabilities:Customers"), reason: "Prepaid", who: "jane" }
      yield* reclassify({ id: entry, ...to }).pipe(Effect.provide(services))
      expect(yield* standing).toContain("other -1025")
      held.clock = at(21)
      held.receivables = [paid(id(700), { disbursedTransaction })]
      yield* run
      expect(yield* standing).toEqual(["cash 25", "interest_income -25"])
      expect((yield* postings).slice(-3)).toEqual([
        "reclassification deposits_clearing 1025, other -1025",
        "reclassification other 1025, loan_clearing -1025",
        "repayment loan_clearing 1025, receivable_principal -1000, receivable_interest -25",
      ])
      expect(yield* findings).toEqual([])
      expect(yield* unexplained).toEqual([])
    }),
  )
})
