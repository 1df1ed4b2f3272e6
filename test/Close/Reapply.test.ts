import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { chooseBooks } from "../../src/Book/ChosenBooks.ts"
import { Ledger } from "../../src/Ledger.ts"
import { Resources } from "../../src/Mirror/Resources.ts"
import { throughRules } from "../../src/Reclassify/ByRules.ts"
import { type ReapplyRequest, reapply } from "../../src/Reclassify/Reapply.ts"
import { reclassify } from "../../src/Reclassify.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { Settings } from "../../src/Settings.ts"
import { PostingFacts } from "../../src/Sync/Statements/PostingFacts.ts"
import { credit, debit, deposit, id, partnership, withdrawal } from "../Sync/Partnership.ts"
import { balances, findings, journal, postings, rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { unruled } from "../support/unruled.ts"
import { closing, reopening } from "./Months.ts"

const rulesOf = (
  ...rules: ReadonlyArray<{ match: object; account: { code: string; name: string } }>
): Record<string, string> => ({ TIEOUT_RULES: JSON.stringify(rules) })

const payroll = {
  match: { type: "WITHDRAWAL", reference: "^Payroll" },
  account: { code: "4120", name: "Expenses:Payroll" },
}
const wages = { ...payroll, account: { code: "4130", name: "Expenses:Wages" } }
const interest = {
  match: { type: "ADJUSTMENT", direction: "CREDIT" },
  account: { code: "4400", name: "Income:Interest" },
}

const under = (variables: Record<string, string>) =>
  Layer.mergeAll(Ledger.Default, Reconcile.Default, Resources.Default, PostingFacts.Default).pipe(
    Layer.provideMerge(Settings.from({ variables })),
  )

const reapplying = (variables: Record<string, string>, over: Partial<ReapplyRequest> = {}) =>
  reapply({ book: Option.none(), preview: false, reason: "new chart", who: "controller", ...over }).pipe(
    Effect.provide(under(variables)),
  )

/** September has a payroll whose amount includes its fee. October has another, an adjustment, and a withdrawal that no rule matches. */
const paying = partnership({
  balance: "3860.00",
  statement: [
    { ...credit(10, "5000.00", "5000.00"), occurredAt: "2026-09-01T00:00:00Z" },
    { ...debit(11, "1000.00", "4000.00", id(111)), occurredAt: "2026-09-10T00:00:00Z" },
    { ...debit(12, "100.00", "3900.00", id(112)), occurredAt: "2026-10-02T00:00:00Z" },
    { ...debit(13, "50.00", "3850.00", id(113)), occurredAt: "2026-10-03T00:00:00Z" },
    { ...credit(14, "10.00", "3860.00"), occurredAt: "2026-10-04T00:00:00Z" },
  ],
  withdrawals: [
    withdrawal(111, "1000.00", "5.00", { reference: "Payroll September" }),
    withdrawal(112, "100.00", "5.00", { reference: "Payroll October" }),
    withdrawal(113, "50.00", "0.00", { reference: "Rent" }),
  ],
})

layer(TestDatabase.layer, { excludeTestServices: true })("posting rules that have changed", (it) => {
  it.scoped("move the entries of open months, and show a preview before", () =>
    Effect.gen(function* () {
      const { service } = yield* paying
      yield* sync(service.url, rulesOf(payroll))
      yield* reclassify({
        id: id(10),
        to: "2900",
        name: Option.some("Equity:Capital"),
        reason: "Capital",
        who: "controller",
      }).pipe(Effect.provide(under(rulesOf(payroll))))
      expect((yield* closing("2026-09"))[0]?.state).toBe("closed")
      const before = yield* journal
      expect(yield* balances).toEqual([
        "1010 3860",
        "1030 50",
        "1990 -10",
        "2900 -5000",
        "4120 1090",
        "6850 10",
      ])

      // Entries that are already where the rules send them do not move.
      const [same] = yield* reapplying(rulesOf(payroll), { preview: true })
      expect(same).toMatchObject({ looked: 3, changed: 0, changes: [], totals: [] })

      const [preview] = yield* reapplying(rulesOf(wages, interest), { preview: true })
      expect(preview).toEqual({
        book: "ORG",
        looked: 3,
        unnumbered: 0,
        changed: 2,
        changes: [
          {
            number: "ORG-2026-10-000001",
            effectiveDate: "2026-10-02",
            description: expect.stringContaining("Withdrawal"),
            debit: "4130 Expenses:Wages",
            credit: "4120 Expenses:Payroll",
            amount: "95.00 USD",
          },
          {
            number: "ORG-2026-10-000003",
            effectiveDate: "2026-10-04",
            description: expect.any(String),
            debit: "1990 Assets:Suspense:USD",
            credit: "4400 Income:Interest",
            amount: "10.00 USD",
          },
        ],
        totals: [
          { debit: "4130 Expenses:Wages", credit: "4120 Expenses:Payroll", entries: 1, amount: "95.00 USD" },
          {
            debit: "1990 Assets:Suspense:USD",
            credit: "4400 Income:Interest",
            entries: 1,
            amount: "10.00 USD",
          },
        ],
        keptByHand: 0,
        kept: [],
      })
      expect(yield* journal).toEqual(before)

      // A sync that was stopped leaves entries without a number.
      yield* unruled(`insert into ledger.unnumbered (book_id, entry_id)
        select n.book_id, n.entry_id from ledger.journal_numbers n where n.period = '2026-10-01' and n.number = 3`)
      const [early] = yield* reapplying(rulesOf(wages, interest), { preview: true })
      expect(early).toMatchObject({ unnumbered: 1 })
      yield* unruled("delete from ledger.unnumbered")

      const [done] = yield* reapplying(rulesOf(wages, interest))
      expect(done).toEqual(preview)
      expect(yield* balances).toEqual([
        "1010 3860",
        "1030 50",
        "2900 -5000",
        "4120 995",
        "4130 95",
        "4400 -10",
        "6850 10",
      ])
      expect(yield* findings).toEqual([])
      expect((yield* journal).filter((line) => !before.includes(line))).toHaveLength(4)
      // It does not move a second time, and no later sync of the withdrawal moves it back.
      expect((yield* reapplying(rulesOf(wages, interest)))[0]?.changed).toBe(0)
      yield* sync(service.url, rulesOf(wages, interest), true)
      expect(yield* balances).toEqual([
        "1010 3860",
        "1030 50",
        "2900 -5000",
        "4120 995",
        "4130 95",
        "4400 -10",
        "6850 10",
      ])
      // September is closed and stays as it was.
      expect((yield* postings).filter((line) => String(line).includes("995"))).toHaveLength(1)

      // Where the rule is gone, the entry goes back to the clearing account.
      yield* reapplying(rulesOf(interest))
      expect(yield* balances).toEqual([
        "1010 3860",
        "1030 145",
        "2900 -5000",
        "4120 995",
        "4400 -10",
        "6850 10",
      ])
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("posting rules that have changed", (it) => {
  it.scoped(
    "leave a line that a person has moved, and take a later fee from the account where it stands",
    () =>
      Effect.gen(function* () {
        const { held, service } = yield* paying
        yield* sync(service.url, rulesOf(payroll))
        yield* reclassify({
          id: id(13),
          to: "4200",
          name: Option.some("Expenses:Rent"),
          reason: "Rent",
          who: "controller",
        }).pipe(Effect.provide(under(rulesOf(payroll))))
        const rent = { match: { reference: "^Rent" }, account: { code: "4210", name: "Expenses:Offices" } }
        const [done] = yield* reapplying(rulesOf(wages, rent))
        expect(done).toMatchObject({ changed: 2, keptByHand: 1, kept: ["ORG-2026-10-000002"] })

        // The fee of October's payroll turns out to be 7: the difference is taken from the account where it stands now.
        const [, october] = held.withdrawals
        if (october !== undefined) october.fee = { amount: "7.00", currency: "USD" }
        yield* sync(service.url, rulesOf(wages, rent), true)
        const found = yield* balances
        expect(found).toContain("4130 1088")
        expect(found).toContain("4200 50")
        expect(found.some((line) => String(line).startsWith("4120"))).toBe(false)
      }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("posting rules that have changed", (it) => {
  it.scoped("match an entry by a resource that it named only after it was booked", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "0.00",
        statement: [credit(10, "1000.00", "1000.00", id(110)), debit(11, "1000.00", "0.00")],
        deposits: [deposit(110, "1000.00")],
        withdrawals: [withdrawal(111, "1000.00", "5.00", { reference: "Payroll September" })],
      })
      yield* sync(service.url)
      held.statement[1] = debit(11, "1000.00", "0.00", id(111))
      yield* sync(service.url, {}, true)
      expect((yield* reapplying(rulesOf(payroll)))[0]?.changed).toBe(1)
      expect(yield* balances).toEqual(["1020 -1000", "4120 995", "6850 5"])
    }),
  )
})

/** Whatever the entry is known as. */
const spent = { match: { direction: "DEBIT" }, account: { code: "4711", name: "Expenses:All" } }

for (const fee of ["0.00", "5.00"])
  layer(TestDatabase.layer, { excludeTestServices: true })(
    `an entry identified with a fee of ${fee}`,
    (it) => {
      it.scoped("whose rule names the same account then is the movement's since", () =>
        Effect.gen(function* () {
          const { held, service } = yield* partnership({
            balance: "0.00",
            statement: [credit(10, "1000.00", "1000.00", id(110)), debit(11, "1000.00", "0.00")],
            deposits: [deposit(110, "1000.00")],
            withdrawals: [withdrawal(111, "1000.00", fee)],
          })
          yield* sync(service.url, rulesOf(spent))
          expect(yield* balances).toEqual(["1020 -1000", "4711 1000"])
          held.statement[1] = debit(11, "1000.00", "0.00", id(111))
          yield* sync(service.url, rulesOf(spent))
          const paid = fee === "5.00" ? ["4711 995", "6850 5"] : ["4711 1000"]
          expect(yield* balances).toEqual(["1020 -1000", ...paid])

          // What comes of it later is taken from there, whatever the rules say by then.
          held.statement.push({
            ...credit(12, "400.00", "400.00", id(111)),
            relatedResourceType: "WITHDRAWAL",
          })
          held.balance = "400.00"
          yield* sync(service.url)
          const left = fee === "5.00" ? ["4711 595", "6850 5"] : ["4711 600"]
          expect(yield* balances).toEqual(["1010 400", "1020 -1000", ...left])

          expect((yield* reapplying({}))[0]?.changed).toBe(2)
          const cleared = fee === "5.00" ? ["1030 595", "6850 5"] : ["1030 600"]
          expect(yield* balances).toEqual(["1010 400", "1020 -1000", ...cleared])
        }),
      )
    },
  )

layer(TestDatabase.layer, { excludeTestServices: true })("the correction of a late entry", (it) => {
  it.scoped("has the entry's date, even though the month that the entry is late for is open again", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "5000.00",
        statement: [{ ...credit(10, "5000.00", "5000.00"), occurredAt: "2026-09-01T00:00:00Z" }],
      })
      yield* sync(service.url, rulesOf(payroll))
      const capital = { id: id(10), to: "2900", name: Option.some("Equity:Capital"), reason: "Capital" }
      yield* reclassify({ ...capital, who: "controller" }).pipe(Effect.provide(under({})))
      expect((yield* closing("2026-09"))[0]?.state).toBe("closed")
      const late = withdrawal(111, "1000.00", "5.00", { reference: "Payroll September" })
      held.statement.push({ ...debit(11, "1000.00", "4000.00", id(111)), occurredAt: "2026-09-10T00:00:00Z" })
      held.withdrawals.push(late)
      held.balance = "4000.00"
      yield* sync(service.url, rulesOf(payroll))
      yield* reopening("2026-09")
      expect((yield* reapplying(rulesOf(wages)))[0]?.changed).toBe(1)
      late.fee = { amount: "7.00", currency: "USD" }
      yield* sync(service.url, rulesOf(wages), true)
      expect(
        yield* rows(`select effective_date::text as date, kind from ledger.journal_entries
          where source_id = '${id(11)}' order by sequence`),
      ).toEqual([
        { date: "2026-10-01", kind: "withdrawal" },
        { date: "2026-10-01", kind: "reclassification" },
        { date: "2026-10-01", kind: "reclassification" },
      ])
      expect(yield* balances).toContain("4130 993")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("changed posting rules", (it) => {
  it.scoped("move a return together with what it returns, whichever pages they are on", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({
        balance: "4900.00",
        statement: [
          { ...credit(10, "5000.00", "5000.00"), occurredAt: "2026-10-01T00:00:00Z" },
          { ...debit(11, "1000.00", "4000.00", id(111)), occurredAt: "2026-10-02T00:00:00Z" },
          { ...debit(12, "100.00", "3900.00", id(112)), occurredAt: "2026-10-03T00:00:00Z" },
          {
            ...credit(13, "1000.00", "4900.00"),
            occurredAt: "2026-10-04T00:00:00Z",
            relatedResourceType: "WITHDRAWAL",
            relatedResourceId: id(111),
          },
        ],
        withdrawals: [
          withdrawal(111, "1000.00", "0.00", { reference: "Payroll October" }),
          withdrawal(112, "100.00", "0.00", { reference: "Rent" }),
        ],
      })
      yield* sync(service.url, rulesOf(payroll))
      const book = yield* Effect.map(
        chooseBooks(Option.none(), Option.none()).pipe(Effect.provide(under({}))),
        ([only]) => Option.getOrThrow(Option.fromNullable(only)),
      )
      const numbersBy = (pageSize: number) => {
        const numbers: Array<string> = []
        return throughRules(
          book,
          "new chart",
          (changes) => Effect.sync(() => numbers.push(...changes.map(({ number }) => number))),
          pageSize,
        ).pipe(Effect.as(numbers), Effect.provide(under(rulesOf(wages))))
      }
      const both = ["ORG-2026-10-000002", "ORG-2026-10-000004"]
      expect(yield* numbersBy(1_000)).toEqual(both)
      expect(yield* numbersBy(1)).toEqual(both)
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "posting rules that were applied by a killed process",
  (it) => {
    it.scoped("close the findings of what it moved when they are applied again", () =>
      Effect.gen(function* () {
        const { service } = yield* paying
        yield* sync(service.url, rulesOf(payroll))
        expect(yield* findings).toContain("adjustment warning")
        yield* reapplying(rulesOf(payroll, interest))
        const after = yield* findings
        expect(after).not.toContain("adjustment warning")
        // As it is where the process ended after its moves and before the check.
        yield* unruled(
          "update reconcile.findings set closed_at = null, closed_run = null where check_name = 'adjustment'",
        )
        expect(yield* findings).toContain("adjustment warning")
        expect((yield* reapplying(rulesOf(payroll, interest)))[0]?.changed).toBe(0)
        expect(yield* findings).toEqual(after)
      }),
    )
  },
)
