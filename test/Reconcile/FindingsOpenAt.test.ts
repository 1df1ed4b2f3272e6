import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { statement as query } from "../support/statement.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

it.scoped("a finding is open at an instant from when it was found until it was closed", () =>
  Effect.gen(function* () {
    yield* unruled(`
      insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_at, closed_at)
      values (1, 'cash-balance', 'blocking', 'account', 'closed', '', '{}', '2026-09-02', '2026-09-04'),
        (1, 'cash-balance', 'blocking', 'account', 'open', '', '{}', '2026-09-03', null)`)
    const openOn = (day: string) =>
      Effect.map(
        query(
          `select f.subject_id as subject from reconcile.findings_open_at('2026-09-${day}') f order by 1`,
        ),
        (rows) => rows.map(({ subject }) => subject),
      )
    expect(yield* openOn("01")).toEqual([])
    expect(yield* openOn("02")).toEqual(["closed"])
    expect(yield* openOn("03")).toEqual(["closed", "open"])
    expect(yield* openOn("04")).toEqual(["open"])
  }).pipe(Effect.provide(TestDatabase.layer)),
)
