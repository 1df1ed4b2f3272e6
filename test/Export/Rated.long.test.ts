/** Files in foreign currency with our rates: both amounts can be read back, and the system's rounding is reported. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import type { ExportScope } from "../../src/Export/Request/ExportScope.ts"
import type { ExportRequest } from "../../src/Export/Request.ts"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import * as Verify from "../../src/Verify.ts"
import { sync } from "../Sync/Runs.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { rowsOf } from "./Cells.ts"
import { forge } from "./Forge.ts"
import { sandboxRates } from "./SandboxRates.ts"

const systems = ["netsuite", "intacct", "datev"] as const

const exporting = (scope: ExportScope, exchangeResults: boolean, more: Partial<ExportRequest> = {}) => {
  const { accounting, chart, formats } = decodeUnknownSync(Content)({
    formats: { datev: { consultant: 1001, client: 1 }, exchangeResults },
  })
  return Export.run({
    ...{ formats: ["journal", ...systems], scope, connection: Option.none(), book: Option.some("ORG") },
    ...{ out: temporaryFolder(), again: true, rated: true },
    tables: { settings: formats, baseCurrency: "EUR" },
    base: { baseCurrency: "EUR", settings: accounting.valuation, chart },
    ...more,
  })
}

const problemsIn = (folder: string) =>
  Effect.map(Verify.run(folder), ({ problems }) =>
    problems.map(({ file, line, message }) => `${file}:${line}: ${message}`),
  )

layer(TestDatabase.layer, { excludeTestServices: true })("files with rates", (it) => {
  const filled = Effect.runSync(
    Effect.cached(
      Effect.gen(function* () {
        const sandbox = yield* runningSandbox({ entries: 600 })
        yield* sync(sandbox.url)
        yield* addRates(sandboxRates)
      }).pipe(Effect.scoped),
    ),
  )

  it.effect("give both amounts when read back, month by month, with and without realized results", () =>
    Effect.gen(function* () {
      yield* filled
      const scopes: ReadonlyArray<ExportScope> = [
        { kind: "all" },
        { kind: "period", period: "2026-09" },
        { kind: "range", from: "2026-09-20", to: "2026-10-10" },
      ]
      for (const exchangeResults of [false, true]) {
        for (const scope of scopes) {
          const { batches } = yield* exporting(scope, exchangeResults)
          const { folder, manifest } = batches[0] ?? (yield* Effect.dieMessage("no batch"))
          expect(yield* problemsIn(folder)).toEqual([])
          const names = manifest.files.map(({ name }) => name)
          expect(names).toEqual(
            expect.arrayContaining(["netsuite-USD.csv", "netsuite-EUR.csv", "intacct-JPY.csv"]),
          )
          expect(names.some((name) => name.includes("USDT"))).toBe(false)
          for (const system of systems) {
            const listed = rowsOf(join(folder, `rate_differences_${system}.csv`))
            const leftOut = listed.filter((row) => row.at(-1) === "omitted")
            // The system rounds by itself; gains and revaluations are left out unless the settings ask for them.
            expect(leftOut.length > 0).toBe(true)
            expect(leftOut.some(([, account]) => account === "7900" || account === "7910")).toBe(
              !exchangeResults,
            )
          }
        }
      }
    }),
  )

  it.effect("have one rate in a journal of NetSuite, and both amounts in a row of DATEV", () =>
    Effect.gen(function* () {
      yield* filled
      const { batches } = yield* exporting({ kind: "period", period: "2026-09" }, false)
      const { folder } = batches[0] ?? (yield* Effect.dieMessage("no batch"))
      const netsuite = rowsOf(join(folder, "netsuite-USD.csv")).slice(1)
      const ratesOf = new Map<string, Set<string>>()
      for (const [id = "", , , , rate = ""] of netsuite) {
        ratesOf.set(id, (ratesOf.get(id) ?? new Set()).add(rate))
      }
      expect([...ratesOf.values()].every((own) => own.size === 1)).toBe(true)
      expect(netsuite[0]?.[4]).toMatch(/^0\.9\d{9}$/)
      const datev = readFileSync(join(folder, "EXTF_2026-09_USD.csv"), "latin1").split("\r\n")
      expect(datev[0]).toContain(';"EUR";;"";')
      expect(datev[2]).toMatch(/^\d+,\d\d;"S";"USD";1,0\d{5};\d+,\d\d;"EUR";/)
      const eur = readFileSync(join(folder, "EXTF_2026-09_EUR.csv"), "latin1").split("\r\n")
      expect(eur[2]).toMatch(/^\d+,\d\d;"S";"EUR";;;"";/)
      // An entry in several currencies has a number of its own in each, because NetSuite accepts a number only once.
      const ids = ["USD", "EUR", "GBP", "JPY"].map(
        (currency) =>
          new Set(
            rowsOf(join(folder, `netsuite-${currency}.csv`))
              .slice(1)
              .map(([id]) => id),
          ),
      )
      expect(ids.reduce((sum, { size }) => sum + size, 0)).toBe(new Set(ids.flatMap((own) => [...own])).size)
    }),
  )

  it.effect("that were changed are found", () =>
    Effect.gen(function* () {
      yield* filled
      const { batches } = yield* exporting({ kind: "period", period: "2026-09" }, false)
      const { folder } = batches[0] ?? (yield* Effect.dieMessage("no batch"))
      const changed: ReadonlyArray<readonly [name: string, from: RegExp, to: string, problem: string]> = [
        [
          "netsuite-USD.csv",
          /,0\.9(\d{9}),/g,
          ",0.8$1,",
          "does not add up to the manifest's totals in the base currency",
        ],
        ["netsuite-USD.csv", /,0\.9(\d{9}),/, ",0.8$1,", "the rate is"],
        [
          "intacct-USD.csv",
          /,0\.9(\d{9})\n/,
          ",0.8$1\n",
          "does not add up to the manifest's totals in the base currency",
        ],
        ["intacct-USD.csv", /,USD,(\d\d)\//, ",USD,0$1/", "is no date"],
        ["EXTF_2026-09_USD.csv", /;1,0(\d{5});/, ";1,1$1;", "is not the amount at"],
        [
          "rate_differences_datev.csv",
          /,0\.01,/,
          ",0.02,",
          "does not add up to the manifest's totals in the base currency",
        ],
      ]
      for (const [name, from, to, problem] of changed) {
        const copy = forge(folder, name, (text) => text.replace(from, to))
        expect((yield* problemsIn(copy)).join("\n")).toContain(problem)
      }
    }),
  )

  it.effect("are refused where a system takes no rates, and in a summary", () =>
    Effect.gen(function* () {
      const all = { kind: "all" } as const
      const xero = yield* Effect.flip(exporting(all, false, { formats: ["xero"] }))
      expect(xero.message).toBe("xero takes no rates: --with-rates is for netsuite, intacct, datev.")
      const summary = yield* Effect.flip(exporting(all, false, { mode: "summary" }))
      expect(summary.message).toContain("--with-rates and --mode summary do not go together")
    }),
  )
})
