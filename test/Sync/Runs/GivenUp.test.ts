/** A book that workers gave up, in runs of a process that reads all books itself. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { client, clientId, lending, move } from "../Lending.ts"
import { at, borrower, loan, tx } from "../Loaned.ts"
import { findings, rows, sync, syncWith, variablesFor } from "../Runs.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("A book that the workers gave up", (it) => {
  const given = rows(`
    insert into sync.dead_letters (book_id, kind, run_id, tries, why)
      select book_id, 'sync', 1, 6, 'x' from mirror.books where code = 'C1'`)

  it.scoped("stays a finding until it is read, whatever else a run does with it", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clients: [client(1), client(2)] })
      const out = move(held, clientId(1), { type: "CREDIT", amount: 1000, on: at(2) })
      held.receivables = [loan({ disbursedTransaction: tx(out, 2) })]
      yield* sync(service.url, borrower)
      yield* given
      const variables = { ...variablesFor(service.url), ...borrower }
      // Its loans are brought up to date, and it is not read.
      yield* syncWith(variables, { surface: Option.some("credit") })
      expect(yield* findings).toContain("dead-letter blocking")
      yield* syncWith(variables, { client: Option.some("C2") })
      expect(yield* findings).toContain("dead-letter blocking")
      yield* syncWith(variables, { client: Option.some("C1") })
      expect(yield* findings).not.toContain("dead-letter blocking")
    }),
  )
})
