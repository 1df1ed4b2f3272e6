/** Settings of receivables that change while the books hold some. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { closing } from "../Close/Months.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { lending, move } from "./Lending.ts"
import { at, borrower, loan, paid, second, standing, surfaces, tx } from "./Loaned.ts"
import { findings, rows, sync } from "./Runs.ts"

const whenPaid = { ...surfaces, TIEOUT_ACCOUNTING_RECEIVABLES_INTEREST: "when_paid" }

const late = rows(`
  select e.description || ' ' || e.effective_date || coalesce(' late for ' || e.late_for, '') || ' ' ||
    string_agg(a.role || ' ' || trim_scale(p.amount)::text, ', ' order by p.line_number) as line
  from ledger.journal_entries e join ledger.postings p using (book_id, entry_id)
  join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
  where e.kind = 'reclassification' and e.source_type = 'receivable_version'
  group by e.book_id, e.entry_id, e.description, e.effective_date, e.late_for order by e.entry_id`).pipe(
  Effect.map((found) => found.map(({ line }) => line)),
)

/** One loan that was repaid in October, and one that is still owed. */
const books = Effect.gen(function* () {
  const { held, service } = yield* lending()
  const first = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
  const other = move(held, "", { type: "DEBIT", amount: 1000, on: at(3) })
  const owed = loan({ receivableId: second, disbursedTransaction: tx(other, 3) })
  held.receivables = [loan({ disbursedTransaction: tx(first, 2) }), owed]
  yield* sync(service.url, surfaces)
  const back = move(held, "", { type: "CREDIT", amount: 1025, on: at(20) })
  held.clock = "2026-11-02T00:00:00Z"
  held.receivables = [paid(back, { disbursedTransaction: tx(first, 2) }), owed]
  yield* sync(service.url, surfaces)
  expect(yield* standing).toEqual([
    "cash -975",
    "interest_income -50",
    "receivable_interest 25",
    "receivable_principal 1000",
  ])
  return { held, service }
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "interest that becomes income when it is paid",
  (it) => {
    it.scoped(
      "applies to every receivable from the next sync on, in the open month where earlier ones are closed",
      () =>
        Effect.gen(function* () {
          const { service } = yield* books
          expect((yield* closing("2026-10", { variables: surfaces }))[0]?.state).toBe("closed")
          const { notices } = yield* sync(service.url, whenPaid)
          expect(notices).toEqual([
            "accounting.receivables has changed: 2 receivables were booked anew by it.",
          ])
          expect(yield* standing).toEqual([
            "cash -975",
            "deferred_interest -25",
            "interest_income -25",
            "receivable_interest 25",
            "receivable_principal 1000",
          ])
          const text = "Reclassification: accrual of receivable, by the settings of now"
          expect(yield* late).toEqual([
            `${text} 2026-11-01 late for 2026-10-01 interest_income 25, deferred_interest -25`,
            "Reclassification: repayment of receivable, by the settings of now 2026-11-01 late for 2026-10-01 deferred_interest 25, interest_income -25",
            `${text} 2026-11-01 late for 2026-10-01 interest_income 25, deferred_interest -25`,
          ])
          expect(yield* findings).toEqual([])
          // The correction is booked once.
          expect((yield* sync(service.url, whenPaid)).notices).toEqual([])
          expect(yield* late).toHaveLength(3)
        }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("the side of a loan", (it) => {
  it.scoped("cannot change where receivables are booked", () =>
    Effect.gen(function* () {
      const { service } = yield* books
      const refused = yield* Effect.flip(sync(service.url, borrower))
      expect(String(refused)).toContain(
        "accounting.receivables.view: is borrower, but the receivables of connection default are booked as the lender's",
      )
      yield* sync(service.url, surfaces)
    }),
  )

  it.scoped("nor back", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      held.receivables = [loan()]
      yield* sync(service.url, borrower)
      const refused = yield* Effect.flip(sync(service.url, surfaces))
      expect(String(refused)).toContain(
        "is lender, but the receivables of connection default are booked as the borrower's",
      )
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
