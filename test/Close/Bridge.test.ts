/** Each row of the bridge adds up from its own columns, even while entries of earlier months are dated later. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { bridgeLines, shortBridgeLines } from "../../src/Cli/Tables/BridgeTable.ts"
import { sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { bridging, closing, movement, threeMonths } from "./Months.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("the bridge", (it) => {
  it.scoped("says what earlier months carry forward, and foots", () =>
    Effect.gen(function* () {
      const { held, service } = yield* threeMonths
      yield* sync(service.url)
      for (const month of ["2026-08", "2026-09", "2026-10"]) yield* closing(month)
      // Entries of August and of October that are reported once both are closed: they are dated to the first open day.
      for (const late of [
        movement(14, "7.00", "182.00", "2026-08-30"),
        movement(15, "2.00", "184.00", "2026-10-20"),
      ]) {
        held.statement.push(late.entry)
        held.deposits.push(late.deposit)
      }
      held.balance = "184.00"
      yield* sync(service.url)

      const found: Array<ReadonlyArray<string | undefined>> = []
      for (const month of ["2026-08", "2026-09", "2026-10", "2026-11"]) {
        const [bridge] = yield* bridging(month)
        const account = bridge?.accounts[0]
        found.push([
          ...[account?.opening, account?.closing, account?.lateElsewhere, account?.carried],
          ...[account?.booksOpening, account?.booksClosing, account?.closingDifference],
        ])
      }
      expect(found).toEqual([
        ["0.00", "107.00", "7.00", "0.00", "0.00", "100.00", "0.00"],
        ["107.00", "157.00", "0.00", "7.00", "100.00", "150.00", "0.00"],
        ["157.00", "184.00", "2.00", "7.00", "150.00", "175.00", "0.00"],
        // Both are dated in this month, so that nothing is carried forward.
        ["184.00", "184.00", "0.00", "0.00", "175.00", "184.00", "0.00"],
      ])
      const [october] = yield* bridging("2026-10")
      if (october === undefined) return yield* Effect.dieMessage("no bridge")
      const [titles = ""] = bridgeLines(october, { interactive: false, color: false, width: 400 })
      expect(titles.trim().split(/ {2,}/)).toEqual([
        "Account",
        "Cur",
        "Statement opening",
        "Movements",
        "Statement closing",
        "Late, dated later",
        "Earlier, dated later",
        "Late, dated here",
        "Opening booked",
        "Books opening",
        "Books moved",
        "Books closing",
        "Difference",
      ])
      // A close prints the accounts whose statement and books differ, and counts the others.
      const screen = { interactive: false, color: false, width: 400 }
      expect(shortBridgeLines(october, screen)).toEqual(bridgeLines(october, screen))
      const [quiet] = yield* bridging("2026-12")
      expect(quiet === undefined ? [] : shortBridgeLines(quiet, screen)).toEqual([
        "  1 account: the books close as the provider's statement does, difference 0",
      ])
    }),
  )
})
