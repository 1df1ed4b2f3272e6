/** What may be forgotten is found by one look through the closes, however many findings there are. */
import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { probing } from "../../src/Database/DatabaseConfig.ts"
import { Database } from "../../src/Database.ts"
import { sessionsOf } from "../support/SessionsOf.ts"
import { unruled } from "../support/unruled.ts"
import { rows } from "./Runs.ts"

/** Books of clients, each with a list that could not be read for a while, and with a close before and after that. */
const books = (from: number, to: number) =>
  unruled(`
    insert into mirror.books (connection, client_id, code, name)
    select 'default', md5(n::text)::uuid, 'C' || n, 'A client' from generate_series(${from}, ${to}) n;
    insert into reconcile.findings (book_id, check_name, severity, subject_type, subject_id, message, evidence, opened_at, seen_at, closed_at)
    select book_id, 'stream-unread', 'blocking', 'stream', 'accounts', '', '{}', now() - interval '260 days',
      now() - interval '260 days', now() - interval '240 days'
    from mirror.books where substr(code, 2)::integer >= ${from};
    insert into ledger.closes (book_id, sequence, period, action, hash, entries, who, at, accepted)
    select book_id, s, '2026-01-01', 'close', 'x', 0, 'jo', now() - (4 - s) * interval '100 days', '[]'
    from mirror.books, generate_series(1, 2) s where substr(code, 2)::integer >= ${from};
    analyze`)

const looks = rows(`
  select sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0))::integer as rows
  from pg_stat_xact_user_tables where relname in ('closes', 'findings')`).pipe(
  Effect.map(([found]) => Number(found?.rows)),
)

/** The rows that are looked at for it; undone, so that the next time finds as many. */
const forgetting = Effect.gen(function* () {
  const database = yield* Database
  return yield* Effect.flip(
    database.transaction(
      Effect.gen(function* () {
        const before = yield* looks
        const [found] = yield* rows("select reconcile.forget_findings('100 days', 20000) as forgotten")
        const looked = (yield* looks) - before
        return yield* Effect.fail({ forgotten: Number(found?.forgotten), looked })
      }),
    ),
  )
})

describe("of twice as many books, twice as many rows are looked at to forget findings", () => {
  it.scoped.each([
    ["in any session", {}],
    ["in a session that only probes indexes", probing],
  ] as const)("%s", ([, session]) =>
    Effect.gen(function* () {
      yield* books(1, 100)
      const before = yield* forgetting
      yield* books(101, 200)
      const after = yield* forgetting
      expect([before, after]).toMatchObject([{ forgotten: 100 }, { forgotten: 200 }])
      if ("looked" in before && "looked" in after) expect(after.looked).toBeLessThan(2.6 * before.looked)
    }).pipe(Effect.provide(sessionsOf(session))),
  )
})
