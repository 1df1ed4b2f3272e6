/** What a close accepted for good counts as answered while it is open and says the same, and no other finding does by it. */
import { expect, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { describe } from "vitest"
import { allBooks } from "../../src/Book.ts"
import { openCounts } from "../../src/Reconcile/Summary.ts"
import { statement as query } from "../support/statement.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"

/** Two blocking findings, of which the book's last close accepted the first as it was. */
const accepted = unruled(`
  insert into mirror.books (connection, code, name) values ('default', 'ORG', 'Organization');
  insert into ledger.locks (book_id, time_zone) values (1, 'UTC');
  insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence)
  select 1, name, 'blocking', 'account', subject, '', '{"status": "CLOSED"}'
  from (values ('account-gone', '1'), ('cash-balance', '2')) as t (name, subject);
  insert into ledger.closes (book_id, sequence, period, action, hash, entries, who, accepted)
  select 1, 1, '2026-09-01', 'close', 'x', 0, 'jo',
    jsonb_build_array(jsonb_build_object('id', 'F' || f.finding_id, 'what', '', 'reason', 'Known', 'evidence', md5(f.evidence::text)))
  from reconcile.findings f where f.check_name = 'account-gone'`)

const answered = Effect.map(query("select check_name as name from reconcile.accepted_findings"), (rows) =>
  rows.map(({ name }) => name),
)

const blocking = Effect.map(
  Effect.flatMap(allBooks(Option.none()), openCounts),
  ({ blockingFindings }) => blockingFindings,
)

describe("a finding that a close accepted for good", () => {
  it.scoped("is answered, and the other one is not", () =>
    Effect.gen(function* () {
      yield* accepted
      expect(yield* answered).toEqual(["account-gone"])
      expect(yield* blocking).toBe(1)

      // The last close decides: the second accepted the other one, and not the first again.
      yield* unruled(`
        insert into ledger.closes (book_id, sequence, period, action, hash, entries, who, accepted)
        select 1, 2, '2026-10-01', 'close', 'y', 0, 'jo',
          jsonb_build_array(jsonb_build_object('id', 'F' || f.finding_id, 'what', '', 'reason', 'Known', 'evidence', md5(f.evidence::text)))
        from reconcile.findings f where f.check_name = 'cash-balance'`)
      expect(yield* answered).toEqual(["cash-balance"])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scoped.each([
    ["closed", "closed_at = now()"],
    ["said otherwise", `evidence = '{"status": "ACTIVE"}'`],
    ["no longer blocking", "severity = 'warning'"],
  ])("answers for nothing once it is %s", ([, change]) =>
    Effect.gen(function* () {
      yield* accepted
      const before = yield* blocking
      yield* unruled(`update reconcile.findings set ${change} where check_name = 'account-gone'`)
      expect(yield* answered).toEqual([])
      expect(yield* blocking).toBe(change?.startsWith("evidence") ? before + 1 : before)
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
