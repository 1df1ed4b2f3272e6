import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import type { Fragment } from "postgres"
import type { Sql } from "../../src/Database/Client.ts"
import { Database } from "../../src/Database.ts"
import { resultsIn, revaluationsIn } from "../../src/Report/Base/BaseFigures.ts"
import { openBook } from "../Export/Books.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

/** Removes the statistics of the tables, as there are none for a month that was just valued. */
const planOf = Effect.fn(function* (statement: (sql: Sql) => Fragment) {
  const database = yield* Database
  const rows = yield* database.query(
    "Test.plan",
    (sql) => sql<Array<{ "QUERY PLAN": string }>>`explain (costs off) ${statement(sql)}`,
  )
  return rows.map((row) => row["QUERY PLAN"]).join("\n")
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "the base-currency journal without statistics",
  (it) => {
    const first = "2026-10-01"
    const whole = /Index Cond: .*\(series = [a-z]+\.series\) AND \(number = [a-z]+\.number\)/

    it.effect("is read entry by entry, by the whole key", () =>
      Effect.gen(function* () {
        const bookId = yield* openBook("ORG")
        const scope = { bookId, first, journal: "kept" } as const
        const plans = [
          yield* planOf(
            (sql) => sql`
          select l.account, sum(l.amount) from valuation.journal_lines l
          where l.book_id = ${bookId} and l.period = ${first}::text::date group by l.account`,
          ),
          yield* planOf((sql) => revaluationsIn(sql, scope)),
          yield* planOf((sql) => resultsIn(sql, scope, "EUR")),
        ]
        for (const plan of plans) {
          expect(plan).toMatch(whole)
          expect(plan).not.toMatch(/(Join Filter|Hash Cond|Merge Cond): .*number/)
        }
      }),
    )
  },
)
