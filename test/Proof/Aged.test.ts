/** What has become a finding by its age alone since a book was reconciled is no finding that is missing. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { prove } from "../../src/Proof.ts"
import { Settings } from "../../src/Settings.ts"
import { lending, move } from "../Sync/Lending.ts"
import { at, loan, surfaces, tx } from "../Sync/Loaned.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const accused = (variables: Record<string, string>) =>
  Effect.map(Effect.provide(prove(), Settings.from({ variables })), ({ proofs }) =>
    proofs.flatMap(({ name, wrong }) => wrong.map(({ message }) => `${name}: ${message.split(":")[0]}`)),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("verify --database", (it) => {
  it.scoped("looks at ages as they were when a book was reconciled", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending()
      const out = move(held, "", { type: "DEBIT", amount: 1000, on: at(2) })
      // Of the second payment no cash has come.
      held.receivables = [
        loan({
          disbursedTransaction: tx(out, 2),
          repaymentTransactions: [tx("elsewhere", 4)],
          currentPrincipal: "500.00",
        }),
      ]
      yield* sync(service.url, surfaces)
      expect(
        yield* rows(
          "select check_name from reconcile.findings where closed_at is null and check_name = 'loan-in-transit'",
        ),
      ).toEqual([{ check_name: "loan-in-transit" }])
      expect(yield* accused(surfaces)).toEqual([])
      yield* rows("update reconcile.findings set closed_at = now() where check_name = 'loan-in-transit'")
      const missing = "found-again: has no open finding loan-in-transit"
      expect(yield* accused(surfaces)).toEqual([missing])
      // On the next morning the loan had been too young.
      yield* rows(`update reconcile.progress set reconciled_at = '${at(5)}'`)
      expect(yield* accused(surfaces)).toEqual([])
      yield* rows(`update reconcile.progress set reconciled_at = '${at(8)}'`)
      expect(yield* accused(surfaces)).toEqual([missing])
    }),
  )

  it.scoped("says where the checks have other settings than at the last reconciliation", () =>
    Effect.gen(function* () {
      const lines = (variables: Record<string, string>) =>
        Effect.map(Effect.provide(prove(), Settings.from({ variables })), ({ proofs }) =>
          proofs.flatMap(({ wrong }) => wrong.map(({ message }) => message)),
        )
      const changed = /settings of the checks have changed since .* tieout reconcile/
      const [before] = yield* lines(surfaces)
      expect(before).toMatch(/no open finding loan-in-transit/)
      expect(before).not.toMatch(changed)
      const [after] = yield* lines({ ...surfaces, TIEOUT_RECONCILE_TRANSIT_DAYS: "1" })
      expect(after).toMatch(changed)
    }),
  )
})
