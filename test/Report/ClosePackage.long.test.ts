/** The base currency in a report, the month before, and the workbook as a spreadsheet program opens it. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import { readXlsx } from "hucre/xlsx"
import { print } from "../../src/Common/MinorUnits.ts"
import { isExactNumber } from "../../src/Common/Workbook/Workbook.ts"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import * as Verify from "../../src/Verify.ts"
import { base } from "../Export/Exporting.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { convertWithLibreOffice, isInstalled } from "../support/Installed.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { minor, reporting, sheet, sumsOf, textOf } from "./Reports.ts"

const { formats } = decodeUnknownSync(Content)({})

const prices = { USD: "0.92", JPY: "0.0061", GBP: "1.17", USDT: "0.919", USDC: "0.921" }
const rates = Array.from({ length: 61 }, (_, day) => {
  const date = new Date(Date.UTC(2026, 8, 1 + day)).toISOString().slice(0, 10)
  return Object.entries(prices).map(([from, price]) => ({
    ...{ date, from, to: "EUR", source: "made up" },
    rate: `${price}${day % 10}`,
  }))
}).flat()

const there = isInstalled("soffice", "the close package is not opened with it")

const total = (found: ReadonlyArray<Record<string, string>>, column: string) =>
  found.reduce((sum, row) => sum + minor(row[column]), 0n)

const out = temporaryFolder()

/** The time that a query gives, in the form that `--as-of` takes. */
const instant = (query: string) =>
  Effect.map(
    rows(`select to_char((${query}) at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as text`),
    ([row]) => String(row?.text),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("the close package", (it) => {
  it.scoped("has the base currency where the month is valued, as the export has it", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 400 })
      yield* sync(sandbox.url)
      const before = yield* reporting("2026-10", out)
      expect(textOf(before.folder, "report.html")).toContain("The month is not valued: tieout report 2026-10")
      expect(before.manifest.files.map(({ name }) => name)).not.toContain("base-rates.csv")
      yield* addRates(rates)
      const { folder } = yield* reporting("2026-10", out, { base })
      const page = textOf(folder, "report.html")
      expect(page).toContain("Realized and unrealized results by currency")
      expect(page).toContain('<td data-label="Source">made up</td>')

      const { batches } = yield* Export.run({
        ...{ formats: ["trial-balance"], scope: { kind: "period", period: "2026-10" } },
        ...{ connection: Option.none(), book: Option.none(), out: temporaryFolder(), base },
        tables: { settings: formats, baseCurrency: "EUR" },
      })
      const exported = sheet(batches[0]?.folder ?? "", "trial-balance.csv")
      const own = sheet(folder, "base-trial-balance.csv")
      expect(own).toEqual(exported)
      // The results by currency are the turnovers of the two accounts.
      const results = sheet(folder, "base-results.csv")
      expect(results.length).toBeGreaterThan(2)
      for (const [column, role] of [
        ["realized", "fx_realized"],
        ["unrealized", "fx_unrealized"],
      ] as const) {
        const account = own.filter((row) => row.account_role === role)
        expect([column, total(results, column)]).toEqual([
          column,
          total(account, "credit") - total(account, "debit"),
        ])
        expect(total(results, column)).not.toBe(0n)
      }
      // A conversion's is of the currency that it sold, or bought for the base currency; a settlement's of its account.
      const realized = yield* rows(`
        select x.currency, sum(x.amount)::text as amount
        from (
          select coalesce(nullif(r.currency, 'EUR'), r.buy_currency) as currency, -p.amount as amount
          from valuation.postings p
          join valuation.entries e using (book_id, period, series, number)
          join ledger.journal_entries j on j.book_id = e.book_id and j.entry_id = e.entry_id
          join mirror.resources r on r.book_id = j.book_id and r.resource_id = j.resource_id and r.resource_type = 'CONVERSION'
          where p.period = '2026-10-01' and p.series = 'journal' and p.role = 'fx_realized'
          union all
          select a.currency, p.amount from valuation.postings p
          join valuation.entries e using (book_id, period, series, number)
          join ledger.accounts a using (book_id, account_id)
          where p.period = '2026-10-01' and e.kind = 'fx_settlement') x
        group by x.currency`)
      expect(
        sumsOf(
          results,
          (row) => row.currency ?? "",
          (row) => minor(row.realized),
        ),
      ).toEqual(
        sumsOf(
          realized.map(({ amount, currency }) => ({ amount: String(amount), currency: String(currency) })),
          (row) => row.currency ?? "",
          (row) => minor(row.amount),
        ),
      )
      const used = sheet(folder, "base-rates.csv")
      const [count] = yield* rows(
        "select count(*)::integer as n from valuation.postings where rate is not null and period = '2026-10-01'",
      )
      expect(used.reduce((sum, { lines }) => sum + Number(lines), 0)).toBe(count?.n)
      const revalued = used.filter((row) => row.used_for === "revaluation")
      expect(revalued.length).toBeGreaterThan(3)
      // A revaluation by its rate, with the day and source, as the entries.
      for (const { date, lines, rate, source } of revalued) {
        expect([date, lines, source]).toEqual(["2026-10-31", "1", expect.stringMatching(/./)])
        expect(Number(rate)).toBeGreaterThan(0)
      }
      expect(page).toContain(revalued[0]?.revaluation)
      const balanced = page.split("Trial balance in EUR")[1]?.split("<tfoot>")[1]?.split("</tfoot>")[0] ?? ""
      const sums = [...balanced.matchAll(/data-label="(\w+)">([^<]*)</g)].map(([, of = "", sum = ""]) => [
        of,
        minor(sum.replaceAll(",", "")),
      ])
      expect(sums).toEqual([
        ["Opening", 0n],
        ["Debit", total(own, "debit")],
        ["Credit", total(own, "debit")],
        ["Closing", 0n],
      ])
      // All results are in one currency, so that they have a sum.
      const foot = page.split("Realized and unrealized")[1]?.split("<tfoot>")[1]?.split("</tfoot>")[0] ?? ""
      for (const column of ["realized", "unrealized"]) {
        const sum = total(results, column) / 10n ** 16n
        expect(foot.replaceAll(",", "")).toContain(`${sum < 0n ? "-" : ""}${print(sum < 0n ? -sum : sum, 2)}`)
      }
    }),
  )

  it.effect("compares each account with the month before", () =>
    Effect.gen(function* () {
      const september = sheet((yield* reporting("2026-09", out)).folder, "trial-balance.csv")
      const { folder } = yield* reporting("2026-10", out)
      const october = sheet(folder, "trial-balance.csv")
      const found = sheet(folder, "comparison.csv")
      expect(found).toHaveLength(october.length)
      for (const [at, row] of found.entries()) {
        const [before, now] = [september[at], october[at]]
        expect([
          row.account_name,
          minor(row.month_before),
          minor(row.month),
          row.closing_before,
          row.closing,
        ]).toEqual([
          now?.account_name,
          minor(before?.debit) - minor(before?.credit),
          minor(now?.debit) - minor(now?.credit),
          now?.opening,
          now?.closing,
        ])
        expect(minor(row.change)).toBe(minor(row.month) - minor(row.month_before))
      }
      expect(found.some((row) => minor(row.month_before) !== 0n && minor(row.change) !== 0n)).toBe(true)
    }),
  )

  it.effect("shows as in flight what is, and not what passes through in an open month", () =>
    Effect.gen(function* () {
      const { folder } = yield* reporting("2026-10", out)
      const items = sheet(folder, "open-items.csv").filter(({ line }) => line === "item")
      const flying = new Set(items.flatMap(({ item_id: id, period }) => (period === "" ? [id] : [])))
      expect(flying.size).toBeLessThan(items.length)
      const page = textOf(folder, "report.html")
      const section = page.split('<div id="open-items">')[1]?.split('<div id="')[0] ?? ""
      const shown = [...section.matchAll(/<code class="id">([^<]+)</g)].map(([, id]) => id)
      expect(shown.length).toBeGreaterThan(10)
      expect(shown.filter((id) => !flying.has(id))).toEqual([])
    }),
  )

  it.effect.skipIf(!there)("opens as a workbook with the content of the files, cell by cell", () =>
    Effect.gen(function* () {
      const { folder, manifest } = yield* reporting("2026-10", out)
      const file = join(folder, "close-package.xlsx")
      const output = "csv:Text - txt - csv (StarCalc):44,34,76,1,,0,false,false,false,false,false,-1"
      const to = convertWithLibreOffice([file], { output })
      const opened = (name: string): ReadonlyArray<ReadonlyArray<string>> =>
        parse(readFileSync(join(to, `close-package-${name}.csv`), "utf8"))
      const isItem = (cells: ReadonlyArray<string>) => cells[4] === "item" || cells[4] === "line"
      for (const [name, source, only] of [
        ["Trial balance", "trial-balance.csv"],
        ["Trial balance EUR", "base-trial-balance.csv"],
        ["Findings", "exceptions.csv"],
        ["Open items", "open-items.csv", isItem],
        ["Month before", "comparison.csv"],
        ["Exchange results", "base-results.csv"],
        ["Rates", "base-rates.csv"],
      ] as const) {
        const expected: ReadonlyArray<ReadonlyArray<string>> = parse(textOf(folder, source), { bom: true })
        const plain = (cells: ReadonlyArray<string>) =>
          cells.map((cell) =>
            /^-?\d+\.\d+$/.test(cell) && isExactNumber(cell)
              ? String(Number(cell))
              : cell.replaceAll(/\r\n?/g, "\n"),
          )
        const found = opened(name)
        expect([name, found.length > 1]).toEqual([name, true])
        expect([name, found.map(plain)]).toEqual([name, expected.filter(only ?? (() => true)).map(plain)])
      }
      const summary = new Map(opened("Summary").map(([what = "", value = ""]) => [what, value]))
      expect(summary.get("state")).toBe("DRAFT: the month is open")
      expect(summary.get("suspense items")).toBe(String(manifest.waiting?.suspense))
      expect(manifest.waiting?.suspense).toBeGreaterThan(0)
      expect(summary.get("accepted exceptions")).toBe("0")
      expect(summary.get("accounts of the provider")).toBe(String(manifest.accounts.length))
      expect(summary.get("of these, without a difference")).toBe(String(manifest.accounts.length))
      // Amounts are numbers, as far as their digits fit.
      const book = yield* Effect.promise(() => readXlsx(readFileSync(file)))
      const closings = book.sheets[1]?.rows.slice(1).map((row) => row[7]) ?? []
      expect(closings.filter((value) => typeof value === "number").length).toBeGreaterThan(20)
    }),
  )

  it.scoped("as of a time has the base currency of that time, where it is asked for", () =>
    Effect.gen(function* () {
      const first = yield* reporting("2026-10", temporaryFolder(), { base })
      const asOf = yield* instant("select clock_timestamp()")
      // Another rate for the dollar changes the month's value now.
      yield* addRates(
        rates.map((rate) => (rate.from === "USD" ? { ...rate, rate: `0.5${rate.date.slice(-1)}` } : rate)),
      )
      const later = yield* reporting("2026-10", temporaryFolder(), { base })
      const then = yield* reporting("2026-10", temporaryFolder(), { asOf, base })
      for (const name of ["base-trial-balance.csv", "base-rates.csv", "base-results.csv"]) {
        expect(textOf(then.folder, name)).toBe(textOf(first.folder, name))
      }
      expect(textOf(then.folder, "base-rates.csv")).not.toBe(textOf(later.folder, "base-rates.csv"))
      // The stored journal is still the current one.
      const kept = yield* reporting("2026-10", temporaryFolder())
      expect(textOf(kept.folder, "base-rates.csv")).toBe(textOf(later.folder, "base-rates.csv"))
      expect((yield* Verify.run(then.folder)).problems).toEqual([])

      const unrated = yield* instant(
        "select min(imported_at) - interval '1 millisecond' from valuation.rate_imports",
      )
      const refused = yield* Effect.flip(reporting("2026-10", temporaryFolder(), { asOf: unrated, base }))
      expect(refused).toMatchObject({ _tag: "ValuationError", reason: "MissingRates" })

      const without = yield* reporting("2026-10", temporaryFolder(), { asOf })
      expect(without.manifest.files.map(({ name }) => name)).not.toContain("base-rates.csv")
      expect(textOf(without.folder, "report.html")).toMatch(
        /The month is not valued: tieout report 2026-10 --book ORG --as-of \S+Z --base does that/,
      )
    }),
  )
})
