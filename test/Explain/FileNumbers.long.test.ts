/** `tieout explain` finds every number in a file: in every format, in each column that names something. */
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { parse } from "csv-parse/sync"
import { Effect, Layer, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import { Explain } from "../../src/Explain.ts"
import type { ExportRequest } from "../../src/Export/Request.ts"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { Settings } from "../../src/Settings.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import * as Verify from "../../src/Verify.ts"
import { sandboxRates } from "../Export/SandboxRates.ts"
import { sync } from "../Sync/Runs.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const { accounting, chart, formats } = decodeUnknownSync(Content)({
  formats: { datev: { consultant: 1001, client: 1 }, fec: { siren: "732829320" }, exchangeResults: true },
})

const exporting = (names: ReadonlyArray<string>, more: Partial<ExportRequest>) =>
  Export.run({
    ...{ formats: names, scope: { kind: "period", period: "2026-09" }, again: true, perFormat: true },
    out: temporaryFolder(),
    ...{ connection: Option.none(), book: Option.some("ORG") },
    tables: { settings: { ...formats, leaveOut: ["USDT", "USDC"] }, baseCurrency: "EUR" },
    ...more,
  })

/** By format or accompanying file, the columns that name an entry, an account or a line. */
const columns: Readonly<Record<string, ReadonlyArray<string>>> = {
  journal: [
    ...["journal_number", "account_code", "account_name", "partner_account_id", "source_id", "resource_id"],
    ...["reverses", "external_reference"],
  ],
  statement: ["account", "entry_id", "journal_number"],
  "native-movements": ["journal_number", "account_code", "account_name"],
  "trial-balance": ["account_code", "account_name"],
  xero: ["*Narration", "*AccountCode"],
  "xero-statement": ["Reference"],
  qbo: ["*JournalNo", "*AccountName"],
  netsuite: ["External ID", "Account"],
  intacct: ["REFERENCE_NO", "ACCT_NO"],
  sage50: ["Nominal A/C Ref", "Reference"],
  "business-central": ["Line No.", "Document No.", "Account No.", "External Document No."],
  datev: ["Konto", "Gegenkonto (ohne BU-Schlüssel)", "Belegfeld 1"],
  "gl-detail": ["Journal_ID", "GL_Account_Number"],
  "chart-of-accounts": ["GL_Account_Number"],
  "period-balances": ["GL_Account_Number"],
  fec: ["EcritureNum", "CompteNum", "PieceRef"],
  "summary-entries": ["summary_number", "journal_number", "account", "account_code"],
}

/** The first, a middle and the last value of each column, since a number is like its neighbours. */
const some = (values: ReadonlyArray<string>): ReadonlyArray<string> => {
  const distinct = [...new Set(values.filter((value) => value !== ""))].sort()
  return [...new Set([distinct[0], distinct[distinct.length >> 1], distinct.at(-1)])].flatMap(
    (one) => one ?? [],
  )
}

type Batch = Export.ExportSummary["batches"][number]

const identifiers = ({ folder, manifest }: Batch): ReadonlyArray<readonly [where: string, id: string]> =>
  manifest.files.flatMap(({ format, name }) => {
    const layout = manifest.tables?.layouts?.[format]
    const text = readFileSync(join(folder, name), layout?.encoding === "windows-1252" ? "latin1" : "utf8")
    const table: ReadonlyArray<ReadonlyArray<string>> = parse(text, {
      ...{
        delimiter: layout?.delimiter ?? (format === "fec" ? "\t" : ","),
        relaxColumnCount: true,
        bom: true,
      },
      ...(format === "datev" ? { fromLine: 2 } : {}),
    })
    const heads = layout?.header === false ? layout.columns : (table[0] ?? [])
    const rows = layout?.header === false ? table : table.slice(1)
    return (columns[format] ?? []).flatMap((column) => {
      const at = heads.indexOf(column)
      expect([name, column, at]).not.toEqual([name, column, -1])
      // A narration begins with the journal number.
      const values = rows.map((row) =>
        column === "*Narration" ? (row[at] ?? "").split(" ") : [row[at] ?? ""],
      )
      return some(values.map(([value = ""]) => value)).map((id) => [`${name} ${column}`, id] as const)
    })
  })

layer(TestDatabase.layer, { excludeTestServices: true })("a number in a file of any format", (it) => {
  it.scoped("is found", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 120 })
      yield* sync(sandbox.url)
      yield* addRates(sandboxRates)
      const base = { base: { baseCurrency: "EUR", settings: accounting.valuation, chart } }
      const systems = ["xero", "qbo", "netsuite", "intacct", "sage50", "business-central", "datev"]
      const made = [
        yield* exporting(["journal", "trial-balance", "xero-statement", "gl-detail"], {}),
        yield* exporting([...systems, "gl-detail", "fec"], base),
        yield* exporting(systems, { ...base, mode: "summary" }),
      ]
      const all = made.flatMap(({ batches }) => batches.flatMap(identifiers))
      const seen = new Set(
        made
          .flatMap(({ batches }) => batches.flatMap(({ manifest }) => manifest.files))
          .map(({ format }) => format),
      )
      expect([...seen].filter((format) => columns[format] === undefined)).toEqual(["cancelled-entries"])
      // The detail has the units and accounts of the two files beside it, also in the base currency.
      const detail = made[1]?.batches.find(({ manifest }) => manifest.formats.includes("gl-detail"))
      const fileOf = (start: string) => {
        const file = detail?.manifest.files.find((each) => each.name.startsWith(start))
        const text = readFileSync(join(detail?.folder ?? "", file?.name ?? ""), "utf8")
        return parse<Record<string, string>>(text, { columns: true })
      }
      const [lines, chartRows] = [fileOf("GL_Detail"), fileOf("Chart_Of_Accounts")]
      expect((yield* Verify.run(detail?.folder ?? "")).problems).toEqual([])
      expect(lines.some((line) => line.Journal_ID?.startsWith("ORG-FX-"))).toBe(true)
      const units = [...lines, ...chartRows, ...fileOf("Trial_Balance")].map((row) => row.Business_Unit_Code)
      expect([...new Set(units)]).toEqual(["ORG"])
      for (const { GL_Account_Number: own = "", GL_Account_Description: text = "" } of chartRows) {
        expect(text).toMatch(new RegExp(`^${own.split("-").slice(0, 2).join(" ")}`))
      }
      const { explain } = yield* Explain
      const lost: Array<string> = []
      for (const [where, id] of all) {
        const found = yield* Effect.option(explain(id))
        if (Option.isNone(found)) lost.push(`${where}: ${id}`)
      }
      expect(all.length).toBeGreaterThan(100)
      expect(lost).toEqual([])

      // A line of one batch leads to its journal, and a line that no batch has is not found.
      const own = made[1]?.batches.find(({ manifest }) => manifest.formats.includes("business-central"))
      const batch = `ORG/${own?.manifest.batch}`
      const titles = (yield* explain(`${batch}:2000`)).steps.map(({ title }) =>
        title.split(" ").slice(0, 2).join(" "),
      )
      expect([titles[0], titles[1]]).toEqual(["line 2000", "journal entry"])
      for (const none of [`${batch}:2500`, `${batch}:900000000`, "ORG/99:1000", "1010-EUR-nobody"]) {
        expect(yield* Effect.flip(explain(none))).toMatchObject({ reason: "Unknown" })
      }
    }).pipe(Effect.provide(Explain.Default.pipe(Layer.provideMerge(Settings.from({ variables: {} }))))),
  )
})
