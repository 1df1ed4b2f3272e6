/** What dates a loan's entries: the proof names whoever changed it. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { lending, move } from "../Sync/Lending.ts"
import { at, loan, paid, surfaces, tx } from "../Sync/Loaned.ts"
import { sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { tried } from "./Falsehood.ts"
import { found, proof } from "./Filled.ts"

const mischief: ReadonlyArray<readonly [statement: string, name: string, named: string]> = [
  [
    "update mirror.receivables set served_at = served_at - interval '1 hour'",
    "entry-source",
    "accrual of a receivable on 2026-10-05 12:00:00+00, when the service answered with no version of it",
  ],
  [
    "update mirror.receivables set issue_date = issue_date - interval '1 hour'",
    "receivables",
    "the service said otherwise",
  ],
  [
    "update mirror.receivable_transactions set tx_id = tx_id || 'x' where purpose = 'repayment'",
    "receivables",
    "is named by version 2 and kept nowhere",
  ],
  [
    "update mirror.receivable_transactions set tx_timestamp = tx_timestamp + interval '1 day'",
    "receivables",
    "which does not say so",
  ],
  [
    "delete from mirror.receivable_transactions where purpose = 'disbursement'",
    "receivables",
    "is named by version 1 and kept nowhere",
  ],
  ["update mirror.statement_entries set currency = 'EUR'", "cash-lines", "of EUR; the books say USD"],
]

layer(TestDatabase.layer, { excludeTestServices: true })("the proof of a loan's books", (it) => {
  it.scoped("names changed data that date its entries", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const first = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
      held.receivables = [loan({ disbursedTransaction: tx(first, 2) })]
      yield* sync(service.url, surfaces)
      const back = move(held, "", { type: "CREDIT", amount: 1025, on: at(20) })
      held.clock = "2026-11-02T00:00:00Z"
      held.receivables = [paid(back, { disbursedTransaction: tx(first, 2) })]
      yield* sync(service.url, surfaces)
      expect(yield* proof).toMatchObject({ ok: true, wrong: [] })
      for (const [statement, name, named] of mischief) {
        const { look: wrong = [], written } = yield* tried("unruled", statement, found)
        expect([statement, written > 0]).toEqual([statement, true])
        expect(wrong.filter((line) => line.startsWith(`${name}: `)).join("\n")).toContain(named)
      }
    }),
  )
})
