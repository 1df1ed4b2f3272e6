/** A report as of a time does not know the accounts that were made since; its difference to now does. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { threeMonths } from "../Close/Months.ts"
import { credit } from "../Sync/Partnership.ts"
import { sync } from "../Sync/Runs.ts"
import { clock } from "../support/clock.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { reporting, sheet, textOf } from "./Reports.ts"

const files = ["trial-balance.csv", "gl-detail.csv", "roll-forward.csv", "comparison.csv", "open-items.csv"]

layer(TestDatabase.layer, { excludeTestServices: true })("an account that was made since", (it) => {
  it.scoped("is in the difference alone", () =>
    Effect.gen(function* () {
      const { held, service } = yield* threeMonths
      yield* sync(service.url)
      const then = yield* reporting("2026-10", temporaryFolder())
      const asOf = yield* clock
      held.statement.push({ ...credit(14, "7.00", "182.00"), occurredAt: "2026-10-06T12:00:00Z" })
      held.balance = "182.00"
      yield* sync(service.url)

      const { folder } = yield* reporting("2026-10", temporaryFolder(), { asOf })
      for (const name of files)
        expect([name, textOf(folder, name)]).toEqual([name, textOf(then.folder, name)])
      expect(
        sheet(folder, "difference.csv").map((row) =>
          [row.account_role, row.closing_then, row.closing_now, row.difference, row.postings_since].join(" "),
        ),
      ).toEqual([
        "cash 175.00 182.00 7.00 1",
        "deposits_clearing -175.00 -175.00 0.00 0",
        "suspense 0.00 -7.00 -7.00 1",
      ])
    }),
  )
})
