/** What a report of an open month says of findings of other months: they stand in the way of its close, too. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { movement } from "../Close/Months.ts"
import { id, partnership } from "../Sync/Partnership.ts"
import { sync } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { reporting, sheet } from "./Reports.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("a blocking finding of another month", (it) => {
  it.scoped("is among the exceptions of an open month, whose draft it is a reason for", () =>
    Effect.gen(function* () {
      const september = movement(11, "10.00", "10.00", "2026-09-05")
      const october = movement(13, "5.00", "12.00", "2026-10-05")
      const back = {
        ...movement(12, "3.00", "7.00", "2026-09-06").entry,
        type: "DEBIT",
        relatedResourceId: id(111),
      }
      const { service } = yield* partnership({
        balance: "12.00",
        statement: [september.entry, back, october.entry],
        deposits: [september.deposit, october.deposit],
      })
      yield* sync(service.url)
      for (const month of ["2026-09", "2026-10"]) {
        const { folder, manifest } = yield* reporting(month, temporaryFolder())
        expect(manifest.reasons).toContain("1 blocking finding is open")
        expect(sheet(folder, "exceptions.csv").map(({ date, what }) => [what, date])).toEqual([
          ["open finding: movement-entries", "2026-09-05"],
        ])
      }
      // The same of a moment at which the month was open.
      const then = yield* reporting("2026-10", temporaryFolder(), { asOf: new Date().toISOString() })
      expect(then.manifest.reasons).toContain("1 blocking finding was open")
      expect(sheet(then.folder, "exceptions.csv").map(({ date, what }) => [what, date])).toEqual([
        ["open finding: movement-entries", "2026-09-05"],
      ])
    }),
  )
})
