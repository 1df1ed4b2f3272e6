import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { readFacts } from "../../../src/Export/Source/BookFacts.ts"
import { statement as run } from "../../support/statement.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const account = "00000000-0000-4000-8000-000000000001"
const later = "00000000-0000-4000-8000-000000000002"
const another = "00000000-0000-4000-8000-000000000003"

const reasons = (to: string | null) => Effect.map(readFacts(1, to), (facts) => facts.reasons)

layer(TestDatabase.layer, { excludeTestServices: true })("an export is complete", (it) => {
  it.effect(
    "only when the last sync finished, every account was read to its balance, and the scope was over",
    () =>
      Effect.gen(function* () {
        yield* run(`insert into mirror.books (connection, code, name) values ('default', 'ORG', 'Organization');
        insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw,
          last_balance, tail_read_at, run_id)
        values (1, '${account}', 'USD', 'SEPA', 'ACTIVE', 10, '2026-11-01T06:00Z', '{}', 10.00, '2026-11-01T06:00Z', 1);
        insert into sync.runs (connection, command, state) values ('default', 'sync', 'done')`)
        expect(yield* reasons("2026-10-31")).toEqual([])
        expect(yield* reasons(null)).toEqual([])
        expect(yield* reasons("2026-11-30")).toEqual([
          "the statements were read on 2026-11-01, before 2026-11-30 was over",
        ])

        // An account that was read later does not speak for the other.
        yield* run(`insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw,
          last_balance, tail_read_at, run_id)
        values (1, '${later}', 'EUR', 'SEPA', 'ACTIVE', 1, '2026-12-02T06:00Z', '{}', 1.00, '2026-12-02T06:00Z', 1)`)
        expect(yield* reasons("2026-11-30")).toEqual([
          "the statements were read on 2026-11-01, before 2026-11-30 was over",
        ])

        // Our clock is ahead: by the service's own, the month was not over.
        yield* run(`insert into sync.stream_reads (book_id, stream, began_at, ended_at, run_id)
        values (1, 'statement:${account}', '2026-10-31T23:58Z', '2026-11-01T06:00Z', 1)`)
        expect(yield* reasons("2026-10-31")).toEqual([
          "the statements were read on 2026-10-31, before 2026-10-31 was over",
        ])

        yield* run(`update mirror.accounts set balance = 11 where account_id = '${account}'`)
        const unread = "1 account is not read up to the balance that the service reports"
        expect(yield* reasons(null)).toEqual([unread])
        yield* run(
          `update mirror.accounts set balance = 10, tail_read_at = null where account_id = '${account}'`,
        )
        expect(yield* reasons(null)).toEqual([unread])

        yield* run(`insert into sync.runs (connection, command, state) values ('default', 'sync', 'stopped')`)
        expect(yield* reasons(null)).toEqual(["the last sync has not finished (stopped)", unread])
      }),
  )

  it.effect("not where the last sync was stopped after it had read every statement", () =>
    Effect.gen(function* () {
      yield* run(`insert into mirror.books (connection, code, name) values ('other', 'OTHER', 'Other');
        insert into sync.runs (connection, command, state) values ('other', 'sync', 'stopped');
        insert into mirror.accounts (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw,
          last_balance, tail_read_at, run_id)
        values (2, '${another}', 'USD', 'SEPA', 'ACTIVE', 10, '2026-11-01T06:00Z', '{}', 10.00, '2026-11-01T06:00Z',
          (select max(run_id) from sync.runs));
        insert into sync.stream_reads (book_id, stream, began_at, ended_at, run_id)
        values (2, 'statement:${another}', '2026-11-01T06:00Z', '2026-11-01T06:00Z', (select max(run_id) from sync.runs))`)
      const { reasons: found } = yield* readFacts(2, null)
      expect(found).toEqual(["the last sync has not finished (stopped)"])
    }),
  )
})
