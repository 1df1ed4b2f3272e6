/** A repayment whose deposit cannot be read at first: its amount is known only together with its fee. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestDatabase } from "../support/TestDatabase.ts"
import { lending, move, orgDeposit } from "./Lending.ts"
import { at, loan, paid, standing, surfaces, tx, unexplained } from "./Loaned.ts"
import { id } from "./Partnership.ts"
import { findings, sync } from "./Runs.ts"

for (const name of ["the statement entry", "the deposit", "the transaction hash"])
  layer(TestDatabase.layer, { excludeTestServices: true })(`A repayment named by ${name}`, (it) => {
    it.scoped("has paid its amount less the fee, once the fee is known", () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending()
        const run = sync(service.url, surfaces)
        const disbursedTransaction = tx(move(held, "", { type: "DEBIT", amount: 1000, on: at(2) }), 2)
        const deposit = { relatedType: "DEPOSIT", relatedId: id(700) }
        const entry = move(held, "", { type: "CREDIT", amount: 1025, on: at(20), ...deposit })
        const txId = name === "the deposit" ? id(700) : name === "the statement entry" ? entry : "0xab"
        held.receivables = [loan({ repaymentAmount: "1030.00", disbursedTransaction })]
        yield* run
        held.clock = at(21)
        held.receivables = [paid(txId, { disbursedTransaction })]
        yield* run
        expect(yield* standing).not.toContain("fees 5")
        held.deposits = [
          orgDeposit(700, "1030.00", {
            createdAt: at(20),
            fee: { amount: "5.00", currency: "USD" },
            transactionHash: "0xAB",
          }),
        ]
        yield* run
        expect(yield* standing).toEqual(["cash 25", "fees 5", "interest_income -30"])
        expect(yield* findings).toEqual([])
        expect(yield* unexplained).toEqual([])
      }),
    )
  })
