/**
 * Ages in the report of a month that has not ended count to the day of the report, not to days to come. All days are the book's: on
 * Kiritimati it is the next one from ten o'clock in the morning on, by UTC.
 */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { lending, receivable } from "../Sync/Lending.ts"
import { surfaces } from "../Sync/Loaned.ts"
import { sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { reporting, sheet } from "./Reports.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("the report of a month that goes on", (it) => {
  it.scoped("counts ages to its own time, whenever it is written", () =>
    Effect.gen(function* () {
      const { held, service } = yield* lending({ clock: "2026-10-15T12:00:00Z" })
      held.receivables = [
        receivable({
          status: "ACTIVE",
          issueDate: "2026-09-30T12:00:00Z",
          disbursedTransaction: { txId: "D-1", txTimestamp: "2026-10-05T12:00:00Z" },
        }),
      ]
      yield* sync(service.url, { ...surfaces, TIEOUT_ACCOUNTING_TIME_ZONE: "Pacific/Kiritimati" })
      yield* unruled("update ledger.journal_entries set recorded_at = '2026-10-15T12:00:00Z'")
      yield* unruled("update mirror.receivables set read_at = '2026-10-15T12:00:00Z'")
      const ages = (asOf?: string) =>
        Effect.gen(function* () {
          const { folder } = yield* reporting(
            "2026-10",
            temporaryFolder(),
            asOf === undefined ? {} : { asOf },
          )
          const items = sheet(folder, "open-items.csv").filter(({ line }) => line === "item")
          return {
            items: items.map((row) => `${row.account_role} ${row.age_days}`),
            receivables: sheet(folder, "receivables-ageing.csv").map(
              (row) => `${row.issue_date} ${row.age_days}`,
            ),
          }
        })
      expect(yield* ages("2026-10-16T12:00:00Z")).toEqual({
        items: ["loan_clearing 11", "receivable_principal 11"],
        receivables: ["2026-10-01 16"],
      })
      // After its end, a month's ages are those of its last day.
      const atEnd = {
        items: ["loan_clearing 25", "receivable_principal 25"],
        receivables: ["2026-10-01 30"],
      }
      expect(yield* ages("2026-11-02T12:00:00Z")).toEqual(atEnd)
      expect(yield* ages()).toEqual(atEnd)
    }),
  )
})
