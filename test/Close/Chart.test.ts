/** A change of the chart reaches all accounts of a book at once, and a close keeps the names that it was made with. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { agreementLines } from "../../src/Cli/Tables/CloseTable.ts"
import { check } from "../../src/Close.ts"
import { Settings } from "../../src/Settings.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { inOwnDatabase, TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { closing, movement, threeMonths } from "./Months.ts"

const named = rows('select role, code, name from ledger.accounts order by role collate "C"').pipe(
  Effect.map((found) => found.map(({ code, name, role }) => `${role}: ${code} ${name}`)),
)

const chart = {
  TIEOUT_CHART_CASH_CODE: "1100",
  TIEOUT_CHART_CASH_NAME: "Assets:Bank:{client}:{currency}:{rail}:{account}",
  TIEOUT_CHART_DEPOSITS_CLEARING_CODE: "1200-{currency}",
  TIEOUT_CHART_DEPOSITS_CLEARING_NAME: "Assets:Incoming:{currency}",
}

const before = [
  "cash: 1010 Assets:Partner:USD:SEPA:0f8fad5b",
  "deposits_clearing: 1020 Assets:Clearing:Deposits:USD",
]
const after = [
  "cash: 1100 Assets:Bank:ORG:USD:SEPA:0f8fad5b",
  "deposits_clearing: 1200-USD Assets:Incoming:USD",
]

layer(TestDatabase.layer, { excludeTestServices: true })("a changed chart", (it) => {
  it.scoped("renames all accounts with the next sync, which has no news", () =>
    Effect.gen(function* () {
      const { service } = yield* threeMonths
      yield* sync(service.url)
      yield* closing("2026-08")
      expect(yield* named).toEqual(before)
      yield* sync(service.url, chart)
      expect(yield* named).toEqual(after)
      const [close] = yield* check("2026-08", Option.none()).pipe(
        Effect.provide(Settings.from({ variables: {} })),
      )
      if (close === undefined) return yield* Effect.dieMessage("no close")
      expect(close.differences).toEqual([])
      expect(agreementLines(close, { interactive: false, color: false, width: 200 })).toContain(
        "  closed as 1020 Assets:Clearing:Deposits:USD, called 1200-USD Assets:Incoming:USD now",
      )
      yield* sync(service.url)
      expect(yield* named).toEqual(before)
    }).pipe(inOwnDatabase),
  )

  it.scoped(
    "renames those that it posts nothing to together with those of an entry, and what somebody renamed past the rules",
    () =>
      Effect.gen(function* () {
        const { held, service } = yield* threeMonths
        yield* sync(service.url)
        yield* unruled(
          "update ledger.accounts set code = '6850', name = 'Expenses:Fees:USD' where role = 'deposits_clearing'",
        )
        yield* sync(service.url)
        expect(yield* named).toEqual(before)
        const late = movement(14, "1.00", "176.00", "2026-10-06")
        held.statement.push(late.entry)
        held.deposits.push(late.deposit)
        held.balance = "176.00"
        yield* sync(service.url, chart)
        expect(yield* named).toEqual(after)
      }).pipe(inOwnDatabase),
  )
})
