/** Batches are kept for good, and a nightly export writes some each night: only of new ones is the manifest read, which is long. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Database } from "../../src/Database.ts"
import { batchesInOtherWays } from "../../src/Export/Request/OtherWays.ts"
import { standingBatches } from "../../src/Export/Request/StandingBatches.ts"
import { nativeBasis } from "../../src/Format/Entry.ts"
import { exportTotals } from "../../src/Reconcile/Checks/ExportTotals.ts"
import { findingsOf } from "../../src/Reconcile/Findings.ts"
import type { Scope } from "../../src/Reconcile/ReconcileScope.ts"
import { rows } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook, postMonths } from "./Books.ts"
import { deposit, exporting } from "./Exporting.ts"

/** Pieces of long values of batches that this session has read since it last reported to the server. It does not within a transaction. */
const pieces = rows(`
  select coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0) as pieces from pg_stat_xact_all_tables
  where relid = (select reltoastrelid from pg_class where oid = 'export.batches'::regclass)`).pipe(
  Effect.map(([found]) => Number(found?.pieces ?? 0)),
)

const reading = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.flatMap(Database, (database) =>
    database.transaction(
      Effect.gen(function* () {
        const before = yield* pieces
        yield* work
        return (yield* pieces) - before
      }),
    ),
  )

const scope: Scope = {
  ...{ sinceRun: 0, period: null, full: false, closing: null, runId: null, lends: true, transitDays: 3 },
  ...{ flatWithdrawalFee: "inside", repaymentAmount: "outstanding", materiality: {}, surfaces: [] },
  ...{ books: [], returnCodes: [], methods: { general: "average", books: {} } },
}

layer(TestDatabase.layer, { excludeTestServices: true })("of the batches of years", (it) => {
  it.effect("no manifest is read for a nightly export and for the check of what it wrote", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("NIGHTS")
      yield* postMonths(bookId)
      const write = exporting("NIGHTS", temporaryFolder())
      for (const day of ["01", "02", "03"]) {
        yield* deposit(bookId, `2026-11-${day}`)
        yield* write({ kind: "since-last" }, ["qbo"])
      }
      const check = Effect.flatMap(Database, ({ query }) =>
        query("Test.exportTotals", (sql) => findingsOf(sql, { ...scope, books: [bookId] }, exportTotals)),
      )
      const progressed = (batch: number) =>
        rows(`
          insert into reconcile.progress (book_id, through_run, through_batch) values (${bookId}, 0, ${batch})
          on conflict (book_id) do update set through_batch = excluded.through_batch`)
      yield* progressed(2)
      const one = yield* reading(check)
      expect(one).toBeGreaterThan(0)
      yield* progressed(3)
      expect(yield* reading(check)).toBe(0)
      expect(yield* standingBatches(bookId, nativeBasis)).toHaveLength(3)
      expect(yield* reading(standingBatches(bookId, nativeBasis))).toBe(0)
      const way = { basis: "EUR", rated: false, hasResults: () => false }
      expect((yield* batchesInOtherWays([bookId], way, ["qbo"])).of({ bookId })).toHaveLength(3)
      expect(yield* reading(batchesInOtherWays([bookId], way, ["qbo"]))).toBe(0)
    }),
  )
})
