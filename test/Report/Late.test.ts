/** What is put right after it was booked: the report says what stands in suspense, and everything that came late. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { Ledger } from "../../src/Ledger.ts"
import { reclassify } from "../../src/Reclassify.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { Settings } from "../../src/Settings.ts"
import { bridging, closing } from "../Close/Months.ts"
import { temporaryFolder } from "../Export/Folders.ts"
import { accountId, credit, debit, id, partnership, withdrawal } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { minor, reporting, sheet, sumsOf, textOf } from "./Reports.ts"

const services = Layer.mergeAll(Ledger.Default, Reconcile.Default).pipe(
  Layer.provideMerge(Settings.from({ variables: {} })),
)

const payroll = [
  {
    match: { type: "WITHDRAWAL", reference: "^Payroll" },
    account: { code: "4120", name: "Expenses:Payroll" },
  },
]

layer(TestDatabase.layer, { excludeTestServices: true })("a report of what was put right", (it) => {
  it.scoped("calls suspense only what nobody has moved, and lists every entry that came late", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "4010.00",
        statement: [
          { ...credit(10, "5000.00", "5000.00"), occurredAt: "2026-09-01T00:00:00Z" },
          { ...debit(11, "1000.00", "4000.00", id(111)), occurredAt: "2026-09-10T00:00:00Z" },
          { ...credit(14, "10.00", "4010.00"), occurredAt: "2026-10-04T00:00:00Z" },
        ],
        withdrawals: [withdrawal(111, "1000.00", "5.00", { reference: "Payroll September" })],
      })
      const rules = { TIEOUT_RULES: JSON.stringify(payroll) }
      yield* sync(service.url, rules)
      yield* reclassify({
        id: id(10),
        to: "2900",
        name: Option.some("Equity:Capital"),
        reason: "Capital",
        who: "controller",
      }).pipe(Effect.provide(services))
      expect((yield* closing("2026-09"))[0]?.state).toBe("closed")

      // The fee of September's payroll turns out to be 7, and a debit of September comes now.
      const [first] = held.withdrawals
      if (first !== undefined) first.fee = { amount: "7.00", currency: "USD" }
      held.statement.push({
        ...debit(15, "30.00", "3980.00", id(115)),
        occurredAt: "2026-09-20T00:00:00Z",
      })
      held.withdrawals.push(withdrawal(115, "30.00", "0.00"))
      held.balance = "3980.00"
      yield* sync(service.url, rules, true)

      const september = yield* reporting("2026-09", temporaryFolder())
      const october = yield* reporting("2026-10", temporaryFolder())
      const suspense = ({ folder }: typeof october) =>
        sheet(folder, "exceptions.csv").flatMap(({ amount, subject, what }) =>
          what === "suspense" ? [`${subject} ${amount}`] : [],
        )
      expect(suspense(september)).toEqual([])
      expect(textOf(september.folder, "trial-balance.csv")).toContain("2900,Equity:Capital,suspense,USD")
      expect(suspense(october)).toEqual(["1990 -10.00"])

      const [count] = yield* rows(
        "select count(*)::integer as late from ledger.journal_entries where late_for is not null",
      )
      expect(count).toEqual({ late: 2 })
      for (const { folder } of [september, october]) {
        const late = sheet(folder, "late-entries.csv")
        expect(late.map((row) => [row.kind, row.account_code, row.provider_account, row.amount])).toEqual([
          ["reclassification", "6850", "", "2.00"],
          ["reclassification", "4120", "", "-2.00"],
          ["withdrawal", "1010", accountId, "-30.00"],
        ])
        expect(new Set(late.map(({ late_for }) => late_for))).toEqual(new Set(["2026-09"]))
        expect(new Set(late.map(({ journal_number }) => journal_number)).size).toBe(2)
        // What an entry without cash moves adds up to nothing: the sums lead the bridge.
        expect(
          sumsOf(
            late,
            (row) => row.provider_account ?? "",
            ({ amount }) => minor(amount),
          ),
        ).toEqual([[accountId, minor("-30.00")]])
        expect(textOf(folder, "report.html")).toContain("reclassification")
      }
      expect((yield* bridging("2026-09"))[0]?.accounts[0]).toMatchObject({
        lateElsewhere: "-30.00",
        difference: "0.00",
        closingDifference: "0.00",
      })
    }),
  )
})
