/** Corrections after booking: the report shows what is left in suspense, and everything that came late. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { decode, print } from "../../src/Export/Batch/Manifest/ReportManifest.ts"
import { reclassify } from "../../src/Reclassify.ts"
import * as Verify from "../../src/Verify.ts"
import { bridging, closing, movement, threeMonths } from "../Close/Months.ts"
import { accountId, credit, debit, deposit, id, partnership, withdrawal } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { services } from "../support/BookServices.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { minor, reporting, sheet, sumsOf, textOf } from "./Reports.ts"

const payroll = [
  {
    match: { type: "WITHDRAWAL", reference: "^Payroll" },
    account: { code: "4120", name: "Expenses:Payroll" },
  },
]

/** `line amount` of the account's reconciliation, but the movements by kind. */
const linesOf = (folder: string) =>
  sheet(folder, "account-reconciliation.csv").flatMap(({ amount, line }) =>
    line === "movement" ? [] : [`${line} ${amount}`],
  )

/** By a cent too much in cash and too little against it, as if it had been posted so. */
const miscount = (entry: string) =>
  Effect.gen(function* () {
    const wrong = `ledger.postings p join ledger.journal_entries j using (book_id, entry_id) where j.source_id = '${entry}'`
    const side = "case when p.amount > 0 then 0.01 else 0 end"
    const triggers = (state: string) =>
      Effect.forEach(["postings", "balances"], (table) =>
        rows(`alter table ledger.${table} ${state} trigger all`),
      )
    yield* triggers("disable")
    yield* rows(`update ledger.balances b set debit = b.debit + w.side, credit = b.credit + 0.01 - w.side
      from (select p.book_id, p.account_id, j.period, ${side} as side from ${wrong}) w
      where b.book_id = w.book_id and b.account_id = w.account_id and b.period = w.period`)
    yield* rows(`update ledger.postings o set amount = o.amount + w.side * 2 - 0.01
      from (select p.book_id, p.entry_id, p.line_number, ${side} as side from ${wrong}) w
      where o.book_id = w.book_id and o.entry_id = w.entry_id and o.line_number = w.line_number`)
    yield* triggers("enable")
  })

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a month whose entries stand after later ones",
  (it) => {
    it.scoped(
      "ends with what occurred in it, as the bridge does, and tells a cent that is posted wrong",
      () =>
        Effect.gen(function* () {
          const { held, service } = yield* threeMonths
          const comes = (balance: string, ...late: ReadonlyArray<ReturnType<typeof movement>>) => {
            held.statement.push(...late.map(({ entry }) => entry))
            held.deposits.push(...late.map(({ deposit }) => deposit))
            held.balance = balance
            return sync(service.url)
          }
          yield* sync(service.url)
          yield* closing("2026-08")
          yield* comes(
            "185.00",
            movement(14, "7.00", "182.00", "2026-08-30"),
            movement(15, "3.00", "185.00", "2026-09-20"),
          )
          const reported = (period: string, asOf?: string) =>
            reporting(period, temporaryFolder(), asOf === undefined ? {} : { asOf })
          const august = yield* reported("2026-08")
          expect(linesOf(august.folder)).toEqual([
            "opening per books 0.00",
            "of which of earlier months, dated here 0.00",
            "closing per books 100.00",
            "dated later by the books 7.00",
            "of earlier months, dated later by the books 0.00",
            "running balance after the last entry 182.00",
            "of later months, standing before it -75.00",
            "provider's balance 107.00",
            "difference 0.00",
          ])
          expect(august.manifest.accounts).toMatchObject([{ datedLater: "7.00", provider: "107.00" }])
          expect(textOf(august.folder, "report.html")).toContain(
            '<tr class="note"><td class="free" colspan="7">Running balance after its entry of 2026-08-30: 182.00, of which 75.00 is of later months, as their entries stand before it.',
          )
          const written = join(august.folder, "manifest.json")
          const sealed = Either.getOrThrow(decode(textOf(august.folder, "manifest.json")))
          const checked = Effect.map(Verify.run(august.folder), ({ problems }) =>
            problems.map(({ message }) => message),
          )
          expect(yield* checked).toEqual([])
          const { digest: _, ...manifest } = sealed
          const accounts = manifest.accounts.map((account) => ({ ...account, carried: "0.01" }))
          writeFileSync(written, print({ ...manifest, accounts }))
          expect(yield* checked).toEqual([
            `the amounts of account ${accountId} do not lead from its closing to the provider's balance`,
            `account ${accountId} has other figures than in the manifest`,
          ])
          const [{ now = "" } = {}] = yield* rows(
            `select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`,
          )

          yield* closing("2026-09")
          yield* closing("2026-10")
          yield* comes("187.00", movement(16, "2.00", "187.00", "2026-08-31"))
          const here = "of which of earlier months, dated here"
          expect(linesOf((yield* reported("2026-09")).folder)).toEqual([
            "opening per books 100.00",
            `${here} 7.00`,
            "closing per books 160.00",
            "dated later by the books 0.00",
            "of earlier months, dated later by the books 2.00",
            "running balance after the last entry 187.00",
            "of later months, standing before it -25.00",
            "provider's balance 162.00",
            "difference 0.00",
          ])
          const then = yield* reported("2026-08", String(now))
          expect(textOf(then.folder, "account-reconciliation.csv")).toBe(
            textOf(august.folder, "account-reconciliation.csv"),
          )

          // In the order of the books' days.
          expect(
            sheet((yield* reported("2026-08")).folder, "late-entries.csv").map(
              ({ amount, effective_date }) => [effective_date, amount],
            ),
          ).toEqual([
            ["2026-09-01", "7.00"],
            ["2026-11-01", "2.00"],
          ])
          expect(
            (yield* bridging("2026-08"))[0]?.lateElsewhere.map(({ amount, effectiveDate }) => [
              effectiveDate,
              amount,
            ]),
          ).toEqual([
            ["2026-09-01", "7.00"],
            ["2026-11-01", "2.00"],
          ])
          for (const period of ["2026-08", "2026-09", "2026-10", "2026-11"]) {
            const { folder } = yield* reported(period)
            const [account] = (yield* bridging(period))[0]?.accounts ?? []
            const lines = linesOf(folder)
            expect([period, ...lines]).toEqual([
              period,
              `opening per books ${account?.booksOpening}`,
              `${here} ${account?.lateHere}`,
              `closing per books ${account?.booksClosing}`,
              `dated later by the books ${account?.lateElsewhere}`,
              `of earlier months, dated later by the books ${account?.carried}`,
              ...lines.slice(5, 7),
              `provider's balance ${account?.closing}`,
              `difference ${account?.closingDifference}`,
            ])
            const late = sumsOf(
              sheet(folder, "late-entries.csv"),
              ({ what = "" }) => what,
              ({ amount }) => minor(amount),
            )
            expect([period, ...late]).toEqual([
              period,
              ...[
                ["of an earlier month, dated here", minor(account?.lateHere)] as const,
                ["of this month, dated later", minor(account?.lateElsewhere)] as const,
              ].filter(([, sum]) => sum !== 0n),
            ])
          }

          // Of October and before August's last entry: August's proof is not touched by it, October's is.
          yield* miscount(id(13))
          const differences = Effect.forEach(["2026-08", "2026-09", "2026-10"], (period) =>
            Effect.map(reported(period), ({ manifest }) =>
              manifest.accounts.map(({ difference }) => difference),
            ),
          )
          expect(yield* differences).toEqual([["0.00"], ["0.00"], ["-0.01"]])
          // An entry late for August and dated in September would be wrong in either month.
          yield* miscount(id(14))
          expect(yield* differences).toEqual([["-0.01"], ["-0.01"], ["-0.02"]])
          yield* miscount(id(11))
          expect((yield* reported("2026-08")).manifest.reasons).toContain(
            `account ${accountId} does not tie out: -0.02 USD lie between the books and the provider's balance`,
          )
        }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("the days on the page of a report", (it) => {
  it.scoped("are the book's own, by which its months are", () =>
    Effect.gen(function* () {
      const { held, service } = yield* partnership({
        balance: "50.00",
        statement: [
          { ...credit(10, "40.00", "40.00", id(110)), occurredAt: "2026-09-10T00:00:00Z" },
          { ...credit(11, "10.00", "50.00", id(111)), occurredAt: "2026-10-04T00:00:00Z" },
        ],
        deposits: [deposit(110, "40.00"), deposit(111, "10.00")],
      })
      const settings = { TIEOUT_ACCOUNTING_TIME_ZONE: "Europe/Berlin" }
      yield* sync(service.url, settings)
      expect((yield* closing("2026-09"))[0]?.state).toBe("closed")
      // The first of September in Berlin.
      held.statement.push({ ...credit(12, "7.00", "57.00"), occurredAt: "2026-08-31T22:30:00Z" })
      held.balance = "57.00"
      yield* sync(service.url, settings)
      const { folder } = yield* reporting("2026-10", temporaryFolder())
      expect(sheet(folder, "late-entries.csv").map((row) => [row.occurred_at, row.late_for])).toEqual([
        ["2026-08-31T22:30:00.000000Z", "2026-09"],
      ])
      const page = textOf(folder, "report.html")
      const late = page.slice(page.indexOf("<h2>Late entries"))
      expect(late).toContain("2026-09-01")
      expect(late).not.toContain("2026-08-31")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a report after corrections", (it) => {
  it.scoped("counts as suspense only entries that nobody has moved, and lists every late entry", () =>
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
      expect(textOf(september.folder, "trial-balance.csv")).toContain("2900,Equity:Capital,other,USD")
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
        // Entries without cash add up to zero: the sums of the others give the bridge.
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
