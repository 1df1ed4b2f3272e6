/** A small book over three months: its report to the letter, late entries, a report as of a time, and the report's folder. */
import { appendFileSync, cpSync, mkdirSync, readdirSync, renameSync, rmdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Either, Option } from "effect"
import { approve } from "../../src/Close/Approval.ts"
import { removeFolder } from "../../src/Export/Batch/Folder.ts"
import { decode, isSealed } from "../../src/Export/Batch/Manifest/ReportManifest.ts"
import * as Verify from "../../src/Verify.ts"
import { closing, movement, reopening, threeMonths } from "../Close/Months.ts"
import { accountId, credit, deposit, id, partnership } from "../Sync/Partnership.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { messageOf } from "../support/messageOf.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { reporting, sheet, textOf } from "./Reports.ts"

const now = Effect.map(
  rows(`select to_char(clock_timestamp() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now`),
  ([row]) => String(row?.now),
)

const files = [
  "account-reconciliation.csv",
  "comparison.csv",
  "conversions.csv",
  "exceptions.csv",
  "fees.csv",
  "gl-detail.csv",
  "late-entries.csv",
  "open-items.csv",
  "receivables-ageing.csv",
  "roll-forward.csv",
  "trial-balance.csv",
]

/** A deposit that the service shows after its month was closed; `index` is that of its entry. */
const comesLate = (held: Effect.Effect.Success<typeof threeMonths>["held"], day = "2026-09-28") => {
  const late = movement(15, "7.00", "182.00", day)
  held.statement.push(late.entry)
  held.deposits.push(late.deposit)
  held.balance = "182.00"
}

layer(TestDatabase.layer, { excludeTestServices: true })("the report of a small book", (it) => {
  it.scoped("has exactly this text, and names who closed the month", () =>
    Effect.gen(function* () {
      const { held, service } = yield* threeMonths
      yield* sync(service.url)
      for (const month of ["2026-08", "2026-09"]) yield* closing(month)
      const out = temporaryFolder()
      const { folder, manifest } = yield* reporting("2026-09", out)
      expect(folder).toBe(join(out, "default-ORG", "2026-09"))
      expect(readdirSync(folder).sort()).toEqual(
        [...files, "close-package.xlsx", "manifest.json", "report.html"].sort(),
      )
      expect([manifest.state, manifest.draft, manifest.reasons]).toEqual(["closed", false, []])
      expect(manifest.close).toMatchObject({ sequence: 2, who: "controller", reason: null })
      expect(manifest.currencies).toEqual([
        { currency: "USD", scale: 2, opening: "0.00", debit: "50.00", credit: "50.00", closing: "0.00" },
      ])

      const cash = `1010,Assets:Partner:USD:SEPA:0f8fad5b`
      const clearing = "1020,Assets:Clearing:Deposits:USD"
      expect(textOf(folder, "trial-balance.csv")).toBe(
        [
          "\uFEFFaccount_code,account_name,account_role,currency,opening,debit,credit,closing",
          `${cash},cash,USD,100.00,50.00,0.00,150.00`,
          `${clearing},deposits_clearing,USD,-100.00,0.00,50.00,-150.00`,
          "",
        ].join("\r\n"),
      )
      const passing = `${clearing},deposits_clearing,USD`
      expect(textOf(folder, "open-items.csv")).toBe(
        [
          "\uFEFFaccount_code,account_name,account_role,currency,line,period,item_type,item_id,since,age_days,amount,balance,status,external_reference,counterparty",
          `${passing},month,2026-08,,,2026-08-01,,-100.00,,,,`,
          `${passing},month,2026-09,,,2026-09-01,,-50.00,,,,`,
          `${passing},closing,,,,,,,-150.00,,,`,
          "",
        ].join("\r\n"),
      )
      const posted = `ORG-2026-09-000001`
      const about = `deposit,Deposit,,,DEPOSIT,${id(112)},`
      expect(textOf(folder, "gl-detail.csv")).toBe(
        [
          "\uFEFFaccount_code,account_name,account_role,currency,line,effective_date,journal_number,line_number,kind,description,external_reference,counterparty,resource_type,resource_id,late_for,debit,credit,balance",
          `${cash},cash,USD,opening,,,,,,,,,,,,,100.00`,
          `${cash},cash,USD,posting,2026-09-10,${posted},1,${about},50.00,,150.00`,
          `${cash},cash,USD,closing,,,,,,,,,,,,,150.00`,
          `${clearing},deposits_clearing,USD,opening,,,,,,,,,,,,,-100.00`,
          `${clearing},deposits_clearing,USD,posting,2026-09-10,${posted},2,${about},,50.00,-150.00`,
          `${clearing},deposits_clearing,USD,closing,,,,,,,,,,,,,-150.00`,
          "",
        ].join("\r\n"),
      )
      const account = `${accountId},SEPA,USD,${cash}`
      expect(textOf(folder, "account-reconciliation.csv")).toBe(
        [
          "\uFEFFprovider_account,rail,currency,account_code,account_name,line,kind,postings,amount,remark",
          `${account},opening per books,,,100.00,`,
          `${account},movement,deposit,1,50.00,`,
          `${account},"of which of earlier months, dated here",,,0.00,`,
          `${account},closing per books,,,150.00,`,
          `${account},dated later by the books,,,0.00,`,
          `${account},"of earlier months, dated later by the books",,,0.00,`,
          `${account},running balance after the last entry,,,150.00,`,
          `${account},"of later months, standing before it",,,0.00,`,
          `${account},provider's balance,,,150.00,after its entry of 2026-09-10T12:00:00.000000Z`,
          `${account},difference,,,0.00,`,
          "",
        ].join("\r\n"),
      )
      const page = textOf(folder, "report.html")
      expect(page).toContain("<b>CLOSED</b>")
      expect(page).toContain(manifest.close?.hash)
      expect(page).not.toContain("DRAFT")
      expect(page).toContain("Opens with 100.00, lowest 100.00, highest 150.00, closes with 150.00 USD.")

      // Deposited in September, reported only now: dated to October, and the statement's balance is still explained.
      comesLate(held)
      yield* sync(service.url)
      const later = yield* reporting("2026-09", out)
      expect(later.manifest.draft).toBe(false)
      expect(
        sheet(folder, "account-reconciliation.csv").map(({ amount, line }) => `${line} ${amount}`),
      ).toEqual([
        "opening per books 100.00",
        "movement 50.00",
        "of which of earlier months, dated here 0.00",
        "closing per books 150.00",
        "dated later by the books 7.00",
        "of earlier months, dated later by the books 0.00",
        "running balance after the last entry 182.00",
        "of later months, standing before it -25.00",
        "provider's balance 157.00",
        "difference 0.00",
      ])
      expect(sheet(folder, "late-entries.csv")).toMatchObject([
        {
          what: "of this month, dated later",
          late_for: "2026-09",
          effective_date: "2026-10-01",
          amount: "7.00",
        },
      ])
      const october = yield* reporting("2026-10", out)
      expect(sheet(october.folder, "late-entries.csv")).toMatchObject([
        { what: "of an earlier month, dated here", journal_number: "ORG-2026-10-000002", amount: "7.00" },
      ])
      expect(october.manifest.reasons).toEqual(["2026-10 is not closed: tieout close 2026-10 --book ORG"])

      // A month without anything.
      const empty = yield* reporting("2026-01", out)
      expect(sheet(empty.folder, "trial-balance.csv").map(({ closing: left }) => left)).toEqual([
        "0.00",
        "0.00",
      ])
      expect(sheet(empty.folder, "account-reconciliation.csv").at(-1)).toMatchObject({ amount: "0.00" })
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a report as of a time", (it) => {
  it.scoped("is the report that was made then, with the difference to now", () =>
    Effect.gen(function* () {
      const { held, service } = yield* threeMonths
      yield* sync(service.url)
      yield* closing("2026-08")
      yield* closing("2026-09")
      const then = yield* reporting("2026-09", temporaryFolder())
      const open = yield* reporting("2026-10", temporaryFolder())
      const asOf = yield* now
      comesLate(held)
      yield* sync(service.url)
      yield* closing("2026-10")
      yield* reopening("2026-10")
      yield* closing("2026-10")

      const out = temporaryFolder()
      const again = yield* reporting("2026-09", out, { asOf })
      expect(again.folder.startsWith(join(out, "default-ORG", "2026-09@20"))).toBe(true)
      for (const name of files)
        expect([name, textOf(again.folder, name)]).toEqual([name, textOf(then.folder, name)])
      expect(again.manifest.close).toEqual(then.manifest.close)
      const october = yield* reporting("2026-10", out, { asOf })
      for (const name of files)
        expect([name, textOf(october.folder, name)]).toEqual([name, textOf(open.folder, name)])
      expect([october.manifest.state, october.manifest.draft]).toEqual(["open", true])
      // Nothing that is done now changes what was said then, so no command is proposed.
      expect(october.manifest.reasons[0]).toBe("2026-10 was not closed then")
      expect(textOf(again.folder, "report.html")).toContain("closed, not approved")
      expect(textOf(again.folder, "report.html")).not.toContain("tieout close")
      expect(
        sheet(october.folder, "difference.csv").map((row) => [
          row.closing_then,
          row.closing_now,
          row.difference,
        ]),
      ).toEqual([
        ["175.00", "182.00", "7.00"],
        ["-175.00", "-182.00", "-7.00"],
      ])
      const november = yield* reporting("2026-11", out, { asOf })
      expect(
        sheet(november.folder, "difference.csv").map((row) => [
          ...[row.opening_then, row.opening_now, row.closing_then, row.closing_now],
          row.difference,
        ]),
      ).toEqual([
        ["175.00", "182.00", "175.00", "182.00", "7.00"],
        ["-175.00", "-182.00", "-175.00", "-182.00", "-7.00"],
      ])
      // A report as of now equals one without a time.
      const latest = yield* reporting("2026-10", temporaryFolder(), { asOf: yield* now })
      const plain = yield* reporting("2026-10", out)
      for (const name of files)
        expect([name, textOf(latest.folder, name)]).toEqual([name, textOf(plain.folder, name)])
      expect(sheet(latest.folder, "difference.csv").map(({ difference }) => difference)).toEqual([
        "0.00",
        "0.00",
      ])
      expect(plain.manifest.close?.sequence).toBe(5)
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("a report as of the second of an approval", (it) => {
  it.scoped("tells of the approval from its very moment on, and not before", () =>
    Effect.gen(function* () {
      const { service } = yield* threeMonths
      yield* sync(service.url)
      yield* closing("2026-08")
      yield* approve({ period: "2026-08", book: Option.none(), name: "Ada", twoPersons: false })
      const [made] = yield* rows(`
        select to_char(t at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at,
          to_char(t at time zone 'UTC' - interval '1 microsecond', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as before
        from (select at as t from ledger.close_approvals) a`)
      const pageAsOf = (asOf: unknown) =>
        Effect.map(reporting("2026-08", temporaryFolder(), { asOf: String(asOf) }), ({ folder }) =>
          textOf(folder, "report.html"),
        )
      expect(yield* pageAsOf(made?.at)).toContain("closed, approved by Ada")
      expect(yield* pageAsOf(made?.before)).toContain("closed, not approved")
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })("the place of a report", (it) => {
  it.scoped("is replaced only where the old report is unchanged", () =>
    Effect.gen(function* () {
      const { service } = yield* threeMonths
      yield* sync(service.url)
      const out = temporaryFolder()
      const { folder } = yield* reporting("2026-09", out)
      const first = textOf(folder, "manifest.json")
      const sealed = Either.getOrThrow(decode(first))
      expect(isSealed(sealed, first)).toBe(true)
      yield* reporting("2026-09", out)
      expect(textOf(folder, "manifest.json")).not.toBe(first)
      expect(readdirSync(join(out, "default-ORG"))).toEqual(["2026-09"])

      // Killed between the two halves of the exchange: the old one was on its way out, the new one not there yet.
      renameSync(folder, `${folder}.previous`)
      yield* reporting("2026-09", out)
      expect(readdirSync(join(out, "default-ORG"))).toEqual(["2026-09"])

      // Killed while it removed the old one, which goes last with what says whose it is.
      cpSync(folder, `${folder}.previous`, { recursive: true })
      mkdirSync(join(`${folder}.previous`, "zeros"))
      const names = readdirSync(`${folder}.previous`)
      yield* Effect.flip(removeFolder(`${folder}.previous`, names))
      rmdirSync(join(`${folder}.previous`, "zeros"))
      expect(readdirSync(`${folder}.previous`)).toEqual(["manifest.json"])
      yield* reporting("2026-09", out)
      expect(readdirSync(join(out, "default-ORG"))).toEqual(["2026-09"])

      const refused = (what: string) =>
        `${folder} ${what}: move it away, or choose another folder with --out. Nothing of this report was written.`
      writeFileSync(join(folder, "notes.txt"), "mine")
      expect(yield* messageOf(reporting("2026-09", out))).toBe(
        refused("holds notes.txt, which is not the report's"),
      )
      expect(textOf(folder, "notes.txt")).toBe("mine")
      const other = temporaryFolder()
      const changed = yield* reporting("2026-09", other)
      const verified = Effect.map(Verify.run(changed.folder), ({ problems }) =>
        problems.map(({ file, message }) => `${file} ${message.slice(0, 36)}`),
      )
      expect(yield* verified).toEqual([])
      appendFileSync(join(changed.folder, "fees.csv"), "by hand\r\n")
      expect((yield* verified)[0]).toMatch(/^fees.csv has \d+ bytes, the manifest says/)
      expect(yield* messageOf(reporting("2026-09", other))).toContain(
        "holds fees.csv, which was changed since the report was made",
      )
      writeFileSync(join(changed.folder, "manifest.json"), first.replace('"2026-09"', '"2026-08"'))
      expect((yield* verified)[0]).toBe("manifest.json has changed since it was written: it")
      expect(yield* messageOf(reporting("2026-09", other))).toContain(
        "holds a manifest.json that was changed",
      )
      writeFileSync(join(changed.folder, "manifest.json"), "{}")
      expect(yield* messageOf(reporting("2026-09", other))).toContain("and no report's manifest.json")

      // What a killed report left beside its place is cleared; what somebody put there is not.
      const third = temporaryFolder()
      const left = join(third, "default-ORG", "2026-09.unfinished")
      mkdirSync(left, { recursive: true })
      writeFileSync(join(left, "fees.csv.partial"), "half")
      yield* reporting("2026-09", third)
      expect(readdirSync(join(third, "default-ORG"))).toEqual(["2026-09"])
      mkdirSync(left)
      writeFileSync(join(left, "notes.txt"), "mine")
      expect(yield* messageOf(reporting("2026-09", third))).toContain(
        "holds notes.txt, which is not a report's",
      )
    }),
  )
})

layer(TestDatabase.layer, { excludeTestServices: true })(
  "a report of a month closed with exceptions",
  (it) => {
    it.scoped("counts and names them, and lists suspense items with their age", () =>
      Effect.gen(function* () {
        const { held, service } = yield* threeMonths
        held.statement.splice(1, 0, { ...credit(14, "3.00", "103.00"), occurredAt: "2026-08-11T12:00:00Z" })
        held.statement.splice(2, 2)
        held.deposits.splice(1, 2)
        held.balance = "103.00"
        yield* sync(service.url)
        const [finding] = yield* rows(
          "select 'F' || finding_id as id, subject_id from reconcile.findings where check_name = 'adjustment'",
        )
        const exception = String(finding?.id)
        yield* closing("2026-08", { accept: [{ id: exception, reason: "ticket 7" }] })
        const { folder, manifest } = yield* reporting("2026-08", temporaryFolder())
        expect([manifest.draft, manifest.accepted]).toEqual([
          false,
          [{ id: exception, check: "adjustment", what: expect.any(String), reason: "ticket 7" }],
        ])
        const page = textOf(folder, "report.html")
        expect(page).toContain("<span>closed, not approved, 1 accepted exception, 1 suspense item</span>")
        expect(page).not.toContain("verything ties out")
        expect(manifest.waiting).toEqual({ suspense: 1, transit: 0 })
        // The finding is still open, and stands here once: with who answers for it.
        expect(
          sheet(folder, "exceptions.csv")
            .filter(({ id: named }) => named === exception)
            .map(({ amount, currency, date, reason, subject, what, who }) => [
              ...[what, who, reason, subject, date, amount, currency],
            ]),
        ).toEqual([
          [
            "accepted at the close",
            "controller",
            "ticket 7",
            finding?.subject_id,
            "2026-08-11",
            "3.00",
            "USD",
          ],
        ])
        expect(
          sheet(folder, "open-items.csv").map((row) => [
            row.account_code,
            row.line,
            row.item_id,
            row.age_days,
            row.amount,
            row.balance,
          ]),
        ).toEqual([
          ["1020", "month", "", "", "-100.00", ""],
          ["1020", "closing", "", "", "", "-100.00"],
          ["1990", "item", finding?.subject_id, "20", "-3.00", ""],
          ["1990", "closing", "", "", "", "-3.00"],
        ])
      }),
    )
  },
)

layer(TestDatabase.layer, { excludeTestServices: true })("a report of books that do not tie out", (it) => {
  it.scoped("says so, with the amount", () =>
    Effect.gen(function* () {
      const { service } = yield* partnership({
        balance: "150.00",
        statement: [
          { ...credit(11, "100.00", "100.00", id(111)), occurredAt: "2026-10-05T00:00:00Z" },
          // 20 are missing before it: mirrored, and held back.
          { ...credit(12, "30.00", "150.00", id(112)), occurredAt: "2026-10-06T00:00:00Z" },
        ],
        deposits: [deposit(111, "100.00"), deposit(112, "30.00")],
      })
      yield* sync(service.url)
      const { folder, manifest } = yield* reporting("2026-10", temporaryFolder())
      expect(manifest.accounts).toMatchObject([
        { closing: "100.00", provider: "150.00", difference: "50.00" },
      ])
      expect(manifest.reasons).toContain(
        `account ${accountId} does not tie out: 50.00 USD lie between the books and the provider's balance`,
      )
      expect(sheet(folder, "exceptions.csv")[0]).toMatchObject({
        what: "difference",
        subject: accountId,
        amount: "50.00",
        currency: "USD",
      })
      const page = textOf(folder, "report.html")
      expect(page).toContain("<b>DRAFT</b>")
      expect(page).toContain("50.00 ✗")
    }),
  )
})
