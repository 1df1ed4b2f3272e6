/** A receivable that names one transaction more than once: what is kept does not follow from what else stands on its page. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { lending, receivable } from "../Sync/Lending.ts"
import { surfaces, tx } from "../Sync/Loaned.ts"
import { id } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a transaction that a receivable names several times",
  (it) => {
    it.scoped("is its disbursement, or else the earliest of its repayments, beside whatever others", () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending()
        const many = Array.from({ length: 40 }, (_, at) => (at * 17) % 40)
        held.receivables = many.map((at) =>
          receivable({
            receivableId: id(900 + at),
            status: "ACTIVE",
            disbursedTransaction: tx(`both-${at}`, 6),
            repaymentTransactions: [
              tx(`often-${at}`, 15),
              tx(`often-${at}`, 9),
              tx(`both-${at}`, 3),
              tx(`often-${at}`, 12),
            ],
          }),
        )
        yield* sync(service.url, surfaces)
        expect(
          yield* rows(`
          select split_part(tx_id, '-', 1) as name, purpose, extract(day from tx_timestamp)::integer as day, count(*)::integer as times
          from mirror.receivable_transactions group by 1, 2, 3 order by 1, 2, 3`),
        ).toEqual([
          { name: "both", purpose: "disbursement", day: 6, times: 40 },
          { name: "often", purpose: "repayment", day: 9, times: 40 },
        ])
      }),
    )
  },
)
