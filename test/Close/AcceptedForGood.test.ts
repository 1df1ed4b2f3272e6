/** What is accepted once and cannot be put right: it stays accepted as long as nothing about it changes. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { lending, move, receivable } from "../Sync/Lending.ts"
import { surfaces } from "../Sync/Loaned.ts"
import { id, partnership } from "../Sync/Partnership.ts"
import { findings, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { closing, movement } from "./Months.ts"

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a completed deposit of which a part went back",
  (it) => {
    it.scoped("stays accepted for later months, until more of it goes back", () =>
      Effect.gen(function* () {
        const { deposit, entry } = movement(11, "10.00", "10.00", "2026-09-05")
        const back = (index: number, amount: string, balanceAfter: string, day: string) => ({
          ...movement(index, amount, balanceAfter, day).entry,
          type: "DEBIT",
          relatedResourceId: id(111),
        })
        const { held, service } = yield* partnership({
          balance: "7.00",
          statement: [entry, back(12, "3.00", "7.00", "2026-09-06")],
          deposits: [deposit],
        })
        yield* sync(service.url)
        expect(yield* findings).toEqual(["movement-entries blocking"])
        const [blocked] = yield* closing("2026-09")
        const finding = blocked?.blockers[0]?.id ?? ""
        const accept = [{ id: finding, reason: "The bank kept it" }]
        expect((yield* closing("2026-09", { accept }))[0]?.state).toBe("closed")

        const [preview] = yield* closing("2026-10", { dryRun: true })
        expect(preview?.blockers).toEqual([])
        expect(preview?.accepted.map(({ id: of, reason }) => [of, reason])).toEqual([
          [finding, "The bank kept it"],
        ])

        held.statement.push(back(13, "1.00", "6.00", "2026-10-07"))
        held.balance = "6.00"
        yield* sync(service.url)
        const [again] = yield* closing("2026-10", { dryRun: true })
        expect(again?.blockers.map(({ id: of }) => of)).toEqual([finding])
      }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("interest that was paid too little", (it) => {
  it.scoped("stays accepted for later months, since nothing of it can be reclassified", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const on = (day: string) => `2026-09-${day}T12:00:00Z`
      const out = move(held, "", { type: "DEBIT", amount: 1000, on: on("02") })
      const lent = receivable({
        status: "ACTIVE",
        issueDate: on("01"),
        repaymentAmount: "1025.00",
        disbursedTransaction: { txId: out, txTimestamp: on("02") },
      })
      held.receivables = [lent]
      held.clock = on("03")
      yield* sync(service.url, surfaces)
      const back = move(held, "", { type: "CREDIT", amount: 1010, on: on("20") })
      held.clock = "2026-11-20T12:00:00Z"
      const repaymentTransactions = [{ txId: back, txTimestamp: on("20") }]
      held.receivables = [
        { ...lent, status: "PAID", currentPrincipal: "0", repaymentAmount: "0", repaymentTransactions },
      ]
      yield* sync(service.url, surfaces)
      const [blocked] = yield* closing("2026-09", { variables: surfaces })
      expect(blocked?.blockers.map(({ what }) => what)).toEqual([
        `loan-clearing: The repayment of receivable ${id(900)}: 1025.00 USD was due, 1010.00 USD was paid: 15.00 USD too little.`,
      ])
      const accept = [{ id: blocked?.blockers[0]?.id ?? "", reason: "Waived" }]
      const [closed] = yield* closing("2026-09", { accept, variables: surfaces })
      expect(closed?.state).toBe("closed")

      const [later] = yield* closing("2026-10", { dryRun: true, variables: surfaces })
      expect(later?.blockers).toEqual([])
      expect(later?.accepted.map(({ reason }) => reason)).toEqual(["Waived"])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a repayment that was too much", (it) => {
  it.scoped("is accepted for one month alone: what stands in loan clearing can be reclassified", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const on = (day: string) => `2026-09-${day}T12:00:00Z`
      const out = move(held, "", { type: "DEBIT", amount: 1000, on: on("02") })
      const disbursedTransaction = { txId: out, txTimestamp: on("02") }
      const terms = { issueDate: on("01"), disbursedTransaction }
      held.receivables = [receivable({ status: "ACTIVE", repaymentAmount: "1025.00", ...terms })]
      held.clock = on("03")
      yield* sync(service.url, surfaces)
      const back = move(held, "", { type: "CREDIT", amount: 1040, on: on("20") })
      held.clock = "2026-11-20T12:00:00Z"
      const repaymentTransactions = [{ txId: back, txTimestamp: on("20") }]
      const paid = { status: "PAID", currentPrincipal: "0", repaymentAmount: "0", repaymentTransactions }
      held.receivables = [receivable({ ...terms, ...paid })]
      yield* sync(service.url, surfaces)
      const [blocked] = yield* closing("2026-09", { variables: surfaces })
      expect(blocked?.blockers.map(({ what }) => what)).toEqual([
        expect.stringContaining("15.00 USD too much, -15.00 USD stand in loan clearing."),
      ])
      const numbers = blocked?.blockers.map(({ id: number }) => number) ?? []
      const accept = numbers.map((number) => ({ id: number ?? "", reason: "It goes back" }))
      expect((yield* closing("2026-09", { accept, variables: surfaces }))[0]?.state).toBe("closed")

      const [later] = yield* closing("2026-10", { dryRun: true, variables: surfaces })
      expect(later?.blockers.map(({ id: number }) => number)).toEqual(numbers)
    }),
  )
})
