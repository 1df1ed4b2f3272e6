/** The base-currency journal of the sandbox's books in every format: converted back, checked by others' programs, refused. */
import { spawnSync } from "node:child_process"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import { Database } from "../../src/Database.ts"
import { manifestFile } from "../../src/Export/Batch/Manifest.ts"
import * as Batches from "../../src/Export/Batches.ts"
import { current } from "../../src/Export/Mapping.ts"
import type { ExportScope } from "../../src/Export/Request/ExportScope.ts"
import * as Export from "../../src/Export.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { Content } from "../../src/Settings/Content.ts"
import { Settings } from "../../src/Settings.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import * as Verify from "../../src/Verify.ts"
import { sync } from "../Sync/Runs.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { exact, rowsOf } from "./Cells.ts"
import { sandboxRates } from "./SandboxRates.ts"

const { accounting, chart, formats } = decodeUnknownSync(Content)({
  formats: { datev: { consultant: 1001, client: 1 }, fec: { siren: "732829320" }, leaveOut: ["USDT"] },
})
const systems = ["xero", "qbo", "netsuite", "intacct", "sage50", "business-central", "datev", "fec"] as const
const own = ["journal", "hledger", "ledger", "beancount", "trial-balance"] as const

const request = (
  scope: ExportScope,
  names: ReadonlyArray<string>,
  mode: "detail" | "summary" = "detail",
) => ({
  formats: names,
  scope,
  connection: Option.none(),
  book: Option.none(),
  out: temporaryFolder(),
  mode,
  again: true,
  tables: { settings: formats, baseCurrency: "EUR" },
  base: { baseCurrency: "EUR", settings: accounting.valuation, chart },
})

const exported = Effect.fn("Test.exported")(function* (...of: Parameters<typeof request>) {
  const { batches } = yield* Export.run(request(...of))
  return batches[0] ?? (yield* Effect.dieMessage("no batch"))
})

const filled = Effect.gen(function* () {
  const sandbox = yield* runningSandbox({ entries: 400 })
  yield* sync(sandbox.url)
}).pipe(Effect.scoped)

const programs = {
  hledger: ["hledger", "-f", "books.journal", "check", "-s", "ordereddates"],
  ledger: ["ledger", "-f", "books.ledger", "--strict", "--pedantic", "bal"],
  beancount: ["bean-check", "--no-cache", "books.beancount"],
} as const

/** What the program says; undefined where it is not installed. */
const check = (folder: string, [command, ...args]: (typeof programs)[keyof typeof programs]) => {
  const env = { ...process.env, LANG: "C.UTF-8", LC_ALL: "C.UTF-8" }
  const { error, status } = spawnSync(command, args, { cwd: folder, encoding: "utf8", env })
  return error === undefined ? status : undefined
}

layer(TestDatabase.layer, { excludeTestServices: true })("the base-currency journal's files", (it) => {
  it.effect("are refused with a list of all missing rates, and leave no folder and no batch", () =>
    Effect.gen(function* () {
      yield* filled
      const asked = request({ kind: "period", period: "2026-10" }, ["journal"])
      const error = yield* Effect.flip(Export.run(asked))
      expect(error).toMatchObject({ _tag: "ValuationError", reason: "MissingRates" })
      expect(error.message).toMatch(/\n {2}USD\/EUR: \d+ dates from 2026-\d\d-\d\d to 2026-10-31\n/)
      expect(error.message).toMatch(/^\d+ rates are missing/)
      expect(readdirSync(asked.out)).toEqual([])
      const database = yield* Database
      expect(yield* database.query("Test", (sql) => sql`select 1 from export.batches`)).toHaveLength(0)
      yield* addRates(sandboxRates)
    }),
  )

  it.effect(
    "give the journal again when read back from every accounting system's format, one file each",
    () =>
      Effect.gen(function* () {
        for (const mode of ["detail", "summary"] as const) {
          const { folder, manifest } = yield* exported({ kind: "all" }, ["journal", ...systems], mode)
          expect(manifest.currencies.map(({ currency }) => currency)).toEqual(["EUR"])
          expect(manifest.tables?.leftOut).toEqual([])
          for (const name of systems) {
            const files = manifest.files.filter(({ format }) => format === name)
            expect(files.every(({ currency = "EUR" }) => currency === "EUR")).toBe(true)
          }
          // Reads every format back, and compares it with the journal beside it.
          expect((yield* Verify.run(folder)).problems).toEqual([])
        }
      }),
  )

  it.effect("are accepted by hledger, ledger and bean-check, month by month and over part of one", () =>
    Effect.gen(function* () {
      const scopes: ReadonlyArray<ExportScope> = [
        { kind: "period", period: "2026-09" },
        { kind: "period", period: "2026-10" },
        { kind: "range", from: "2026-09-10", to: "2026-10-12" },
        { kind: "all" },
      ]
      for (const scope of scopes) {
        const { folder } = yield* exported(scope, own)
        for (const program of Object.values(programs)) {
          expect([scope, program[0], check(folder, program) ?? 0]).toEqual([scope, program[0], 0])
        }
        expect((yield* Verify.run(folder)).problems).toEqual([])
      }
    }),
  )

  it.effect("continue from one month to the next, and from one part of a month to the next", () =>
    Effect.gen(function* () {
      const closing = Effect.fnUntraced(function* (scope: ExportScope, side: "opening" | "closing") {
        const { manifest } = yield* exported(scope, ["trial-balance"])
        return manifest.accounts.map((account) => `${account.name} ${account[side]}`)
      })
      const september = yield* closing({ kind: "period", period: "2026-09" }, "closing")
      expect(yield* closing({ kind: "period", period: "2026-10" }, "opening")).toEqual(september)
      expect(yield* closing({ kind: "range", from: "2026-10-01", to: "2026-10-12" }, "opening")).toEqual(
        september,
      )
      const twelfth = yield* closing({ kind: "range", from: "2026-09-10", to: "2026-10-12" }, "closing")
      expect(yield* closing({ kind: "range", from: "2026-10-13", to: "2026-10-31" }, "opening")).toEqual(
        twelfth,
      )
      const all = yield* closing({ kind: "all" }, "closing")
      expect(yield* closing({ kind: "period", period: "2026-10" }, "closing")).toEqual(all)
    }),
  )

  it.effect("have every native line beside them, with its own amount and its value", () =>
    Effect.gen(function* () {
      const { folder, manifest } = yield* exported({ kind: "all" }, ["journal"])
      const [header = [], ...rows] = rowsOf(join(folder, "native_movements.csv"))
      const of = (row: ReadonlyArray<string>, column: string) => row[header.indexOf(column)] ?? ""
      const database = yield* Database
      const [books] = yield* database.query(
        "Test",
        (sql) => sql<Array<{ lines: number; sums: string }>>`
          select count(*)::integer as lines, (select string_agg(s.currency || ' ' || s.sum, ',' order by s.currency)
            from (select p.currency, trim_scale(sum(greatest(p.amount, 0)))::text as sum
              from ledger.postings p group by p.currency) s) as sums
          from ledger.postings`,
      )
      expect(rows).toHaveLength(books?.lines ?? 0)
      const sums = new Map<string, bigint>()
      for (const row of rows) {
        const amount = exact(of(row, "native_amount"))
        if (amount > 0n) sums.set(of(row, "currency"), (sums.get(of(row, "currency")) ?? 0n) + amount)
      }
      const stated = (books?.sums ?? "").split(",").map((text) => {
        const [currency = "", sum = ""] = text.split(" ")
        return [currency, exact(sum)] as const
      })
      expect([...sums].sort()).toEqual(stated)
      expect([...new Set(rows.map((row) => of(row, "basis")))]).toEqual(
        expect.arrayContaining(["face", "rate", "cost", "proportion"]),
      )
      expect(manifest.base).toMatchObject({ currency: "EUR", omitted: 0 })
      expect(manifest.base?.months.map(({ period, ratesVersion }) => [period, ratesVersion])).toEqual([
        ["2026-09", 1],
        ["2026-10", 1],
      ])
      // The roles that are revalued decide the figures, so that the manifest names them.
      expect(manifest.base?.months.map(({ monetaryRoles }) => monetaryRoles)).toEqual(
        [1, 2].map(() => [...accounting.valuation.monetaryRoles].sort()),
      )
    }),
  )

  it.effect("clear every whole conversion in its own entry, and no other", () =>
    Effect.gen(function* () {
      const database = yield* Database
      const [found] = yield* database.query(
        "Test",
        (sql) => sql<Array<{ whole: number; half: number; realizing: number; open: number; left: string }>>`
          with standing as (
            select e.resource_id from ledger.postings p
            join ledger.journal_entries e on e.book_id = p.book_id and e.entry_id = p.entry_id
            join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
            where a.role = 'conversions_in_transit' and a.currency <> 'EUR'
            group by e.resource_id, p.account_id having sum(p.amount) <> 0)
          select (select count(*)::integer from ledger.journal_entries where kind = 'conversion_whole') as whole,
            (select count(distinct resource_id)::integer from standing) as half,
            (select count(*)::integer from valuation.postings p
              join valuation.entries v using (book_id, period, series, number)
              join ledger.journal_entries e on e.book_id = v.book_id and e.entry_id = v.entry_id
              where p.role = 'fx_realized' and e.kind = 'conversion_whole') as realizing,
            (select json_array_length(state -> 'conversions') from valuation.months order by period desc limit 1) as open,
            (select sum(p.amount)::text from valuation.postings p
              join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id
              where a.role = 'trading') as left`,
      )
      expect(found?.whole).toBeGreaterThan(20)
      expect(found?.realizing).toBeGreaterThan(20)
      expect([found?.open, found?.left]).toEqual([found?.half, "0.00"])
    }),
  )

  it.effect("keep the books' journal numbers and count their own beside them without a gap", () =>
    Effect.gen(function* () {
      const { manifest } = yield* exported({ kind: "all" }, ["journal"])
      expect(manifest.periods.map(({ first, period }) => [period, first])).toEqual([
        ["2026-09", "ORG-2026-09-000001"],
        ["2026-09", "ORG-FX-2026-09-000001"],
        ["2026-10", "ORG-2026-10-000001"],
        ["2026-10", "ORG-FX-2026-10-000001"],
      ])
      const database = yield* Database
      const [books] = yield* database.query(
        "Test",
        (sql) =>
          sql<Array<{ entries: number }>>`select count(*)::integer as entries from ledger.journal_numbers`,
      )
      const numbered = manifest.periods.filter(({ first }) => !first.includes("-FX-"))
      expect(numbered.reduce((sum, { entries }) => sum + entries, 0)).toBe(books?.entries)
    }),
  )

  it.effect("fail verify when an amount, a number or a rate is changed", () =>
    Effect.gen(function* () {
      const changed = Effect.fnUntraced(function* (file: string, from: RegExp, to: string) {
        const { folder } = yield* exported({ kind: "period", period: "2026-10" }, ["journal"])
        const path = join(folder, file)
        const text = readFileSync(path, "utf8")
        writeFileSync(path, text.replace(from, to))
        expect(text).not.toBe(readFileSync(path, "utf8"))
        const { problems } = yield* Verify.run(folder)
        return problems.filter(({ message }) => !message.includes("SHA-256") && !message.includes("bytes"))
      })
      const gap = yield* changed("journal.csv", /ORG-FX-2026-10-000002/g, "ORG-FX-2026-10-999999")
      expect(gap[0]?.message).toMatch(/does not follow/)
      const foreign = yield* changed("journal.csv", /ORG-FX-2026-10-000002/g, "ORG-XX-2026-10-000002")
      expect(foreign[0]?.message).toMatch(/is not a journal number/)
      const movement = yield* changed("native_movements.csv", /,rate,1/, ",guess,1")
      expect(movement.map(({ message }) => message)).toEqual(['"guess" is not a way to value a line'])
      const rate = yield* changed("native_movements.csv", /,rate,1\//, ",rate,2/")
      expect(rate.map(({ message }) => message)).toEqual([
        expect.stringMatching(/ at 2\/[0-9.]+ is not -?[0-9.]+$/),
      ])
      expect(yield* changed(manifestFile, /"omitted": 0/, '"omitted": 1')).not.toEqual([])
    }),
  )

  it.effect(
    "do not count as exported in the books' own currencies, nor in the comparison with the ledger",
    () =>
      Effect.gen(function* () {
        yield* exported({ kind: "all" }, ["hledger"])
        const { again: _again, base: _base, ...plain } = request({ kind: "since-last" }, ["hledger"])
        const { batches } = yield* Export.run(plain)
        expect(batches[0]?.manifest.firstNumber).toBe("ORG-2026-09-000001")
        const since = yield* Effect.flip(Export.run(request({ kind: "since-last" }, ["hledger"])))
        expect(since).toMatchObject({ _tag: "ExportError", reason: "Usage" })
        yield* Effect.provide(
          Effect.flatMap(Reconcile, (reconcile) =>
            reconcile.run({ connection: Option.none(), period: Option.none(), full: true }),
          ),
          Reconcile.Default.pipe(Layer.provide(Settings.from({ variables: {} }))),
        )
        const database = yield* Database
        const found = yield* database.query(
          "Test",
          (sql) => sql`select message from reconcile.findings where check_name = 'export-totals'`,
        )
        expect(found).toHaveLength(0)
      }),
  )

  it.effect("are written for an accounting system once, unless they are asked for again", () =>
    Effect.gen(function* () {
      const october = { kind: "period", period: "2026-10" } as const
      const { again: _, ...once } = request(october, ["sage50"])
      const refused = yield* Effect.flip(Export.run(once))
      expect(refused.message).toContain("in EUR already. That journal changes as a whole: --again")
      expect(readdirSync(once.out)).toEqual([])
      const more = (yield* exported(october, systems)).manifest.lineage
      expect(more?.currencyBasis).toBe("EUR")
      expect(more?.supersedes.length).toBeGreaterThan(0)
    }),
  )

  it.effect("are committed after a preview only while the valuation of the months is unchanged", () =>
    Effect.gen(function* () {
      const preview = { ...request({ kind: "period", period: "2026-10" }, ["trial-balance"]), preview: true }
      const previewed = Effect.map(Export.run(preview), ({ batches }) => `ORG/${batches[0]?.manifest.batch}`)
      const commit = (batch: string) => Batches.commit(batch, preview.out, "jane", false, preview.base)
      yield* commit(yield* previewed)
      const stale = yield* previewed
      yield* addRates([{ date: "2026-10-31", from: "GBP", to: "EUR", rate: "1.5", source: "corrected" }])
      yield* Export.run(request({ kind: "period", period: "2026-10" }, ["journal"]))
      expect((yield* Effect.flip(commit(stale))).message).toContain("its months have been valued anew")
    }),
  )

  it.effect("have their own accounts in the account mapping once the book has been valued", () =>
    Effect.gen(function* () {
      const rows = yield* current(Option.none())
      expect(
        rows
          .filter(({ role }) => /^fx_|^rounding$/.test(role))
          .map(({ code, currency, name }) => [code, currency, name]),
      ).toEqual([
        ["7910", "EUR", "Income:Exchange:Realized:EUR"],
        ["7920", "EUR", "Income:Exchange:Unrealized:EUR"],
        ["7990", "EUR", "Expenses:Rounding:EUR"],
      ])
    }),
  )
})
