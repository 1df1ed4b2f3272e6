/** A resource may agree with its statement entries only later. Until then it is read again, even if it is final. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { TestDatabase } from "../support/TestDatabase.ts"
import { credit, debit, deposit, id, partnership } from "./Partnership.ts"
import { findings, postings, sync } from "./Runs.ts"

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a final resource that its entries do not fit",
  (it) => {
    it.scoped("is read again each night, and the late fee comes out of clearing when it is stated", () =>
      Effect.gen(function* () {
        const { held, service } = yield* partnership({
          balance: "16.00",
          statement: [
            credit(11, "10.00", "10.00", id(111)),
            credit(12, "2.00", "12.00", id(112)),
            credit(13, "4.00", "16.00", id(113)),
          ],
          deposits: [deposit(111, "10.00"), deposit(112, "2.00"), deposit(113, "4.00")],
        })
        yield* sync(service.url)
        expect(yield* findings).toEqual([])

        held.statement.push({
          ...debit(14, "0.50", "15.50"),
          relatedResourceType: "DEPOSIT",
          relatedResourceId: id(111),
        })
        held.balance = "15.50"
        yield* sync(service.url)
        expect(yield* findings).toEqual(["movement-entries blocking"])

        held.deposits[0] = deposit(111, "10.00", { fee: { amount: "0.50", currency: "USD" } })
        yield* sync(service.url)
        expect(yield* postings).toEqual([
          "deposit cash 10, deposits_clearing -10",
          "deposit cash 2, deposits_clearing -2",
          "deposit cash 4, deposits_clearing -4",
          "deposit_return deposits_clearing 0.5, cash -0.5",
          "reclassification fees 0.5, deposits_clearing -0.5",
        ])
        expect(yield* findings).toEqual([])
      }),
    )
  },
)
