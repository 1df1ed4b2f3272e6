/** A busy month of the sandbox: every file against the books' own sums, and the files against each other. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { shownRows } from "../../src/Report/Page/Tables.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { minor, reporting, sheet, sumsOf, textOf } from "./Reports.ts"

type Row = Record<string, string>
const account = (row: Row) => `${row.currency} ${row.account_code} ${row.account_name}`
const text = (value: unknown) => String(value)

/** Sums by SQL: `key` and `amount` of each row, in the form of the files' sums. */
const inBooks = (statement: string) =>
  Effect.map(rows(statement), (found) =>
    sumsOf(
      found.map(({ amount, key }) => ({ key: text(key), amount: text(amount) })),
      ({ key = "" }) => key,
      ({ amount }) => minor(amount),
    ),
  )

const dated = `ledger.journal_entries e join ledger.postings p using (book_id, entry_id)
  join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
  where e.book_id = (select book_id from mirror.books where code = 'ORG')`

layer(TestDatabase.layer, { excludeTestServices: true })("a report of the sandbox's month", (it) => {
  it.scoped("agrees with the books, and its files with each other", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 900, clients: 3, receivables: 16 })
      yield* sync(sandbox.url, { TIEOUT_CONNECTIONS_DEFAULT_SURFACES: "organization,client,credit" })
      const out = temporaryFolder()
      const { folder, manifest } = yield* reporting("2026-10", out)
      expect(manifest.draft).toBe(true)
      expect(manifest.reasons[0]).toBe("2026-10 is not closed: tieout close 2026-10 --book ORG")

      const balances = sheet(folder, "trial-balance.csv")
      const closings = sumsOf(balances, account, ({ closing }) => minor(closing))
      expect(closings.length).toBeGreaterThan(20)
      expect(closings).toEqual(
        yield* inBooks(`select p.currency || ' ' || a.code || ' ' || a.name as key, p.amount from ${dated}
          and e.effective_date <= '2026-10-31'`),
      )
      expect(
        sumsOf(
          balances,
          ({ currency = "" }) => currency,
          ({ closing }) => minor(closing),
        ),
      ).toEqual([])
      expect(sumsOf(balances, account, ({ debit }) => minor(debit))).toEqual(
        yield* inBooks(`select p.currency || ' ' || a.code || ' ' || a.name as key, greatest(p.amount, 0) as amount
          from ${dated} and e.period = '2026-10-01'`),
      )

      const currencies = manifest.currencies.map(({ currency }) => currency)
      expect(currencies).toEqual([...new Set(balances.map(({ currency }) => currency))].sort())

      const detail = sheet(folder, "gl-detail.csv")
      const lines = (line: string) => detail.filter((row) => row.line === line)
      expect(sumsOf(lines("closing"), account, ({ balance }) => minor(balance))).toEqual(closings)
      expect(lines("opening")).toHaveLength(balances.length)
      expect(lines("posting")).toHaveLength(
        Number(
          (yield* rows(`select count(*)::integer as n from ${dated} and e.period = '2026-10-01'`))[0]?.n,
        ),
      )
      // The sum of a column in a spreadsheet counts each movement once.
      const turnover = (row: Readonly<Record<string, string>>) => minor(row.debit) - minor(row.credit)
      const moved = sumsOf(balances, account, turnover)
      expect(moved.length).toBeGreaterThan(10)
      expect(sumsOf(detail, account, turnover)).toEqual(moved)
      expect(sumsOf(sheet(folder, "roll-forward.csv"), account, turnover)).toEqual(moved)
      // Every balance is the previous one plus the posting.
      let running = 0n
      for (const row of detail) {
        if (row.line === "opening") running = minor(row.balance)
        if (row.line === "posting") running += minor(row.debit) - minor(row.credit)
        expect([row.journal_number, minor(row.balance)]).toEqual([row.journal_number, running])
      }

      const rolled = sheet(folder, "roll-forward.csv")
      const rolledLines = (line: string) => rolled.filter((row) => row.line === line)
      expect(sumsOf(rolledLines("closing"), account, ({ balance }) => minor(balance))).toEqual(closings)
      const rolledOn = sumsOf(
        rolled.filter(({ line }) => line !== "closing"),
        account,
        ({ balance, credit, debit }) => minor(balance) + minor(debit) - minor(credit),
      )
      expect(rolledOn).toEqual(closings)

      const reconciled = sheet(folder, "account-reconciliation.csv")
      const provider = reconciled.filter(({ line }) => line === "provider's balance")
      expect(provider.length).toBeGreaterThan(8)
      expect(
        sumsOf(
          provider,
          (row) => row.provider_account ?? "",
          ({ amount }) => minor(amount),
        ),
      ).toEqual(
        yield* inBooks(`select distinct on (e.account_id) e.account_id::text as key, e.balance_after as amount
          from mirror.statement_entries e join mirror.books b using (book_id)
          where b.code = 'ORG' and e.occurred_at < '2026-11-01Z' order by e.account_id, e.position desc`),
      )
      expect(
        sumsOf(
          reconciled.filter(({ line }) => line === "opening per books" || line === "movement"),
          account,
          ({ amount }) => minor(amount),
        ),
      ).toEqual(
        sumsOf(
          balances.filter((row) => row.account_role === "cash"),
          account,
          ({ closing }) => minor(closing),
        ),
      )
      expect(
        new Set(reconciled.filter(({ line }) => line === "difference").map((row) => minor(row.amount))),
      ).toEqual(new Set([0n]))

      const fees = sheet(folder, "fees.csv")
      expect(
        sumsOf(
          fees,
          ({ currency = "" }) => currency,
          ({ fee }) => minor(fee),
        ),
      ).toEqual(
        yield* inBooks(
          `select p.currency as key, p.amount from ${dated} and a.role = 'fees' and e.period = '2026-10-01'`,
        ),
      )
      const conversions = sheet(folder, "conversions.csv")
      expect(conversions.length).toBeGreaterThan(20)
      expect(
        sumsOf(
          conversions,
          (row) => row.fee_currency ?? "",
          ({ fee }) => minor(fee),
        ),
      ).toEqual(
        sumsOf(
          fees.filter(({ movement }) => movement === "conversion"),
          ({ currency = "" }) => currency,
          ({ fee }) => minor(fee),
        ),
      )
      const whole = conversions.filter((row) => row.effective_rate !== "")
      expect(whole.length).toBeGreaterThan(10)
      for (const row of whole) {
        const [sold, bought, rate] = [minor(row.sold), minor(row.bought), minor(row.stated_rate)]
        expect([row.conversion, (sold * rate) / 10n ** 18n - bought]).toEqual([
          row.conversion,
          minor(row.spread),
        ])
        // Only rounding is beyond the fee: half of the rate's last digit for each unit sold, and one smallest unit.
        const beyond = minor(row.spread_beyond_fee)
        const decimals = BigInt(row.stated_rate?.split(".")[1]?.length ?? 0)
        const smallest = row.bought_currency === "JPY" ? 10n ** 18n : 10n ** 16n
        const rounding = sold / 10n ** decimals / 2n + smallest
        expect([row.conversion, beyond <= rounding && beyond >= -rounding]).toEqual([row.conversion, true])
      }

      const ageing = sheet(folder, "receivables-ageing.csv")
      expect(ageing.length).toBeGreaterThan(5)
      const buckets = (row: Row) =>
        [row.days_0_30, row.days_31_60, row.days_61_90, row.days_over_90].reduce(
          (sum, each) => sum + minor(each),
          0n,
        )
      const owed = (roles: ReadonlyArray<string>) =>
        sumsOf(
          balances.filter((row) => roles.includes(row.account_role ?? "")),
          ({ currency = "" }) => currency,
          ({ closing }) => minor(closing),
        )
      expect(sumsOf(ageing, ({ currency = "" }) => currency, buckets)).toEqual(
        owed(["receivable_principal", "receivable_interest"]),
      )
      expect(
        sumsOf(
          ageing,
          ({ currency = "" }) => currency,
          ({ principal }) => minor(principal),
        ),
      ).toEqual(owed(["receivable_principal"]))

      const exceptions = sheet(folder, "exceptions.csv")
      const [open] =
        yield* rows(`select count(*)::integer as n from reconcile.findings f join mirror.books b using (book_id)
        where b.code = 'ORG' and closed_at is null and coalesce(left(evidence ->> 'occurredAt', 7), '2026-10') = '2026-10'`)
      expect(open?.n).toBeGreaterThan(0)
      expect(exceptions.filter(({ what = "" }) => what.startsWith("open finding"))).toHaveLength(
        Number(open?.n),
      )
      // What blocks comes first.
      const severities = exceptions.flatMap(({ severity = "", what = "" }) =>
        what.startsWith("open finding") ? [severity] : [],
      )
      expect(severities).toEqual([...severities].sort())
      expect(exceptions.some(({ what }) => what === "suspense")).toBe(true)
      expect(exceptions.some(({ what }) => what === "difference")).toBe(false)

      for (const { name } of manifest.files.filter(({ name }) => name.endsWith(".csv"))) {
        const csv = textOf(folder, name)
        expect([name, csv.startsWith("\uFEFF"), csv.endsWith("\r\n")]).toEqual([name, true, true])
      }
      const page = textOf(folder, "report.html")
      expect(page).toContain("<title>DRAFT: ORG 2026-10, close package</title>")
      expect(page).not.toContain("<script")
      // A remark stands below its conversion, over the whole width.
      const remarked = conversions.slice(0, shownRows.conversions).find(({ remark }) => remark !== "")?.remark
      expect(page).toContain(`<tr class="note"><td class="free" colspan="8">${remarked}</td></tr>`)
    }),
  )
})
