/** The legs of a loan whose cash had not come, as they stood at a close or at an instant, whatever has come since. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { lending, move } from "../Sync/Lending.ts"
import { loan, surfaces, tx } from "../Sync/Loaned.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { closePeriod } from "../support/Closing.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const cash = (index: number) => `e0000000-0000-4000-8000-${String(index).padStart(12, "0")}`

const legs = (through: string, knownAt = "infinity") =>
  rows(`
    select i.since::text || ' ' || trim_scale(i.amount)::text as line
    from ledger.open_items(1, '${through}', '${knownAt}') i
    join ledger.accounts a on a.book_id = 1 and a.account_id = i.account_id and a.role = 'loan_clearing'
    order by 1`).pipe(Effect.map((found) => found.map(({ line }) => line)))

const now = rows("select clock_timestamp()::text as at").pipe(Effect.map(([row]) => String(row?.at)))

layer(TestDatabase.layer, { excludeTestServices: true })("legs of a loan", (it) => {
  it.scoped("stand apart up to a closed month and an instant, after their cash has come", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      held.receivables = [
        loan({
          disbursedTransaction: tx(cash(1), 2),
          repaymentTransactions: [tx(cash(2), 4)],
          currentPrincipal: "0.00",
          repaymentAmount: "0.00",
          status: "PAID",
        }),
      ]
      yield* sync(service.url, surfaces)
      const apart = ["2026-10-02 -1000", "2026-10-04 1000"]
      expect(yield* legs("infinity")).toEqual(apart)
      yield* rows(closePeriod(1, "2026-10"))
      const then = yield* now
      expect(yield* legs("2026-10-01")).toEqual(apart)
      move(held, "", { type: "DEBIT", amount: 1000, on: "2026-10-02T12:00:00Z" })
      move(held, "", { type: "CREDIT", amount: 1000, on: "2026-10-04T12:00:00Z" })
      yield* sync(service.url, surfaces)
      expect(yield* legs("infinity")).toEqual([])
      expect(yield* legs("infinity", then)).toEqual(apart)
      expect(yield* legs("2026-10-01")).toEqual(apart)
    }),
  )
})
