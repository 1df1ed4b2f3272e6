/** Tables that somebody has changed: what cannot be proved of them is said beside what was found, and the other proofs go on. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Database } from "../../src/Database.ts"
import { prove } from "../../src/Proof.ts"
import { Settings } from "../../src/Settings.ts"
import { lending, move } from "../Sync/Lending.ts"
import { surfaces } from "../Sync/Loaned.ts"
import { sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const changed = (statement: string) =>
  Effect.gen(function* () {
    const database = yield* Database
    yield* database.query("Test.change", (sql) => sql.unsafe(statement))
    const { ok, proofs } = yield* Effect.provide(prove(), Settings.from({ variables: surfaces }))
    const said = proofs.flatMap(({ name, wrong }) =>
      wrong.map(({ message, row }) => `${name}: ${row} ${message}`),
    )
    return { ok, proofs: proofs.length, said }
  })

layer(TestDatabase.layer, { excludeTestServices: true })("verify --database", (it) => {
  it.scoped(
    "names a column that was renamed and a table that was moved, and whatever else it can still prove",
    () =>
      Effect.gen(function* () {
        const { held, service } = yield* lending()
        move(held, "", { type: "CREDIT", amount: 1000 })
        yield* sync(service.url, surfaces)
        const renamed = yield* changed("alter table ledger.postings rename column amount to betrag")
        expect([renamed.ok, renamed.proofs]).toEqual([false, 30])
        expect(renamed.said).toContain("rules: table ledger.postings_0 is another")
        expect(renamed.said).toContain(
          "balances: this proof cannot be carried out: Proof.balances: column p.amount does not exist [42703]",
        )
        const moved = yield* changed(
          "alter table ledger.postings rename column betrag to amount; alter table reconcile.findings set schema public",
        )
        expect(moved.said).toContain("rules: table reconcile.findings is gone")
        expect(moved.said).toContain(
          'findings: this proof cannot be carried out: Proof.findings: relation "reconcile.findings" does not exist [42P01]',
        )
      }),
  )
})
