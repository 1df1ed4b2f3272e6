/** What an entry is worth in the base currency, which is all that some accounting systems get of it. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Explain } from "../../src/Explain.ts"
import { filled } from "../Proof/Filled.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("explaining an entry that was valued", (it) => {
  it.scoped("says what each line is worth, and by which rate", () =>
    Effect.gen(function* () {
      yield* filled
      const { explain } = yield* Effect.provide(Explain, Explain.Default)
      const { steps } = yield* explain("ORG-2026-08-000001")
      const [, ...facts] = steps[0]?.facts ?? []
      expect(facts.slice(0, 6)).toEqual([
        ["kind", "deposit"],
        ["debit", "100.00 USD  1010  Assets:Partner:USD:SEPA:0f8fad5b"],
        ["credit", "100.00 USD  1020  Assets:Clearing:Deposits:USD"],
        ["debit in EUR", "90.00 EUR  1010  Assets:Partner:USD:SEPA:0f8fad5b, at 0.9 of 2026-08-10 (test)"],
        ["credit in EUR", "90.00 EUR  1020  Assets:Clearing:Deposits:USD, at 0.9 of 2026-08-10 (test)"],
        ["effective date", "2026-08-10"],
      ])
      const open = yield* explain("ORG-2026-09-000001")
      expect(open.steps[0]?.facts.map(([label]) => label)).not.toContain("debit in EUR")
    }),
  )
})
