/** Which rows belong to a month that is reconciled: those whose day in the book's own time zone lies in it. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { entriesInScope, type Scope } from "../../src/Reconcile/ReconcileScope.ts"
import { openBook, query, services } from "./Books.ts"

/** The easternmost and the westernmost day, daylight saving at a month's end, and a zone of half hours. */
const zones = ["UTC", "Pacific/Kiritimati", "Etc/GMT+12", "Europe/Berlin", "Asia/Kolkata", "America/Havana"]

const scopeOf = (book: number): Scope => ({
  ...{ books: [book], sinceRun: null, period: "2026-10", full: false, flatWithdrawalFee: "inside" },
  ...{
    lends: true,
    repaymentAmount: "outstanding",
    methods: { general: "average", books: {} },
    transitDays: 3,
    returnCodes: [],
  },
  ...{ materiality: {}, closing: null, surfaces: [], runId: null },
})

layer(services, { excludeTestServices: true })("a month that is reconciled", (it) => {
  it.effect.each(zones)("has the instants of its days in %s, and no other", (zone) =>
    Effect.gen(function* () {
      const { bookId } = yield* openBook
      yield* query((sql) => sql`update ledger.locks set time_zone = ${zone} where book_id = ${bookId}`)
      const days = yield* query(
        (sql) => sql<Array<{ in_scope: boolean; in_month: boolean; at: string }>>`
          select e.occurred_at::text as at, ${entriesInScope(sql, scopeOf(bookId))} as in_scope,
            to_char(e.occurred_at at time zone ${zone}, 'YYYY-MM') = '2026-10' as in_month
          from (select ${bookId}::integer as book_id, t as occurred_at from generate_series(
            '2026-09-28T00:00:00Z'::timestamptz, '2026-11-04T00:00:00Z', '30 minutes') t) e`,
      )
      expect(days.filter((day) => day.in_scope !== day.in_month)).toEqual([])
      expect(days.filter((day) => day.in_month).length).toBeGreaterThan(31 * 48 - 1)
    }),
  )
})
