/** Cash of a receivable in another currency than its own stands in loan clearing as a balance of that currency. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { rows } from "../../Sync/Runs.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { unruled } from "../../support/unruled.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("the loan clearing of a receivable", (it) => {
  it.effect("is by currency: its own, and that of each share of cash", () =>
    Effect.gen(function* () {
      yield* unruled(`
        insert into mirror.books (connection, client_id, code, name) values ('default', null, 'ORG', 'Organization');
        insert into ledger.receivable_dues (book_id, receivable_id, currency, side, lent, lent_waiting, repaid, repaid_waiting,
          taken_back, taken, open, owed, policy)
        select book_id, md5('r')::uuid, 'EUR', 1, 100, 0, 0, 0, 0, 0, true, true, '' from mirror.books;
        insert into ledger.receivable_shares (book_id, receivable_id, unit, currency, purpose, amount, rest, entries)
        select book_id, md5('r')::uuid, 'tx-' || currency || amount, currency, purpose, amount, false, '{}' from mirror.books,
          (values ('EUR', 'disbursement', -60), ('USD', 'repayment', 30), ('USD', 'repayment', -5))
            as s (currency, purpose, amount)`)
      const found = yield* rows(`
        select currency, amount::text, lent_due::text, lent_paid::text, repaid_paid::text, returned::text
        from reconcile.receivable_clearing order by currency`)
      expect(found).toEqual([
        { currency: "EUR", amount: "-60", lent_due: "100", lent_paid: "60", repaid_paid: "0", returned: "0" },
        { currency: "USD", amount: "25", lent_due: "0", lent_paid: "0", repaid_paid: "25", returned: "5" },
      ])
    }),
  )
})
