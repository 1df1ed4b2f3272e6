/** A backfill finds entries before the first known one, of months that are closed: the books date them later, and the bridge says so. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { backfillWith } from "../Jobs/Workers.ts"
import { minor, reporting, sheet } from "../Report/Reports.ts"
import { accountId, partnership } from "../Sync/Partnership.ts"
import { rows, sync, variablesFor } from "../Sync/Runs.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { bridging, closing, movement } from "./Months.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("older entries", (it) => {
  it.scoped("of a month in which the books had nothing of the account stand in its bridge and report", () =>
    Effect.gen(function* () {
      const older = movement(11, "100.00", "100.00", "2026-08-10")
      const known = [
        movement(12, "50.00", "150.00", "2026-09-10"),
        movement(13, "25.00", "175.00", "2026-10-05"),
      ]
      const { held, service } = yield* partnership({
        balance: "175.00",
        statement: known.map(({ entry }) => entry),
        deposits: known.map(({ deposit }) => deposit),
      })
      yield* sync(service.url)
      yield* closing("2026-09")
      held.statement.unshift(older.entry)
      held.deposits.unshift(older.deposit)
      yield* backfillWith(variablesFor(service.url), { from: "2026-08-01", to: "2026-08-31" })

      const found: Array<ReadonlyArray<string | undefined>> = []
      for (const month of ["2026-08", "2026-09", "2026-10"]) {
        const [bridge] = yield* bridging(month)
        const one = bridge?.accounts.find((each) => each.accountId === accountId)
        found.push([
          ...[one?.opening, one?.movements, one?.closing, one?.lateElsewhere, one?.lateHere, one?.carried],
          ...[one?.booksMovements, one?.booksClosing, one?.difference, one?.closingDifference],
        ])
      }
      expect(found).toEqual([
        ["0.00", "100.00", "100.00", "100.00", "0.00", "0.00", "0.00", "0.00", "0.00", "0.00"],
        ["100.00", "50.00", "150.00", "0.00", "0.00", "0.00", "150.00", "150.00", "0.00", "0.00"],
        ["150.00", "25.00", "175.00", "0.00", "100.00", "0.00", "25.00", "175.00", "0.00", "0.00"],
      ])
      // All three entries count in the account's standing.
      expect(yield* rows("select entries::integer from reconcile.account_standings")).toEqual([
        { entries: 3 },
      ])
      // The report of that month says the same of the account.
      const { folder } = yield* reporting("2026-08", temporaryFolder())
      const lines = sheet(folder, "account-reconciliation.csv").filter(
        ({ provider_account: account }) => account === accountId,
      )
      const amountOf = (line: string) => minor(lines.find((row) => row.line === line)?.amount)
      expect([amountOf("provider's balance"), amountOf("difference")]).toEqual([minor("100"), 0n])
    }),
  )
})
