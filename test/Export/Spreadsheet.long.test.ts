/** Every CSV opened by LibreOffice as a person would: no cell may become a formula, no amount a text. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import * as Export from "../../src/Export.ts"
import { formatNames } from "../../src/Format/Formats.ts"
import { convertWithLibreOffice, isInstalled } from "../support/Installed.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { assignNumbers, awkward, openBook, partner, post, postMonths } from "./Books.ts"
import { formatSettings } from "./Exporting.ts"

const there = isInstalled("soffice", "how a spreadsheet reads the CSV files is not tested")

/** Texts that mean something to a spreadsheet, or contain separators and quotes. */
const hostile = [
  "=1+1",
  '=HYPERLINK("http://x","y")',
  "+1+1",
  "-1+1",
  "@SUM(1)",
  "\t=1+1",
  "\r=1+1",
  '"=1+1"',
  "a;=1+1;b",
  "a,=1+1,b",
  "a|=1+1",
  "'=1+1",
  "＝1+1",
  awkward,
]

/** Options of LibreOffice's CSV import: separator, text mark, character set, first line, cell formats, language, quoted as text. */
const options = (separator: number, charset: number, language: number): string =>
  `CSV:${separator},34,${charset},1,,${language},true,true`

const american = options(44, 76, 1033)
const german = options(59, 1, 1031)

interface Sheet {
  readonly name: string
  readonly text: string
}

/** All files of one kind, in one run of the program. */
const opened = (folder: string, names: ReadonlyArray<string>, input: string): ReadonlyArray<Sheet> => {
  const sheets = convertWithLibreOffice(
    names.map((name) => join(folder, name)),
    { input, output: "fods" },
  )
  return readdirSync(sheets).map((name) => ({ name, text: readFileSync(join(sheets, name), "utf8") }))
}

interface SheetCell {
  readonly type: string | undefined
  readonly text: string
}

/** Rows of cells, repeated ones written out. */
const rowsOf = (sheet: string): ReadonlyArray<ReadonlyArray<SheetCell>> =>
  [...sheet.matchAll(/<table:table-row[^>]*>(.*?)<\/table:table-row>/gs)].map(([, row = ""]) =>
    [...row.matchAll(/<table:table-cell([^>]*?)(?:\/>|>(.*?)<\/table:table-cell>)/gs)].flatMap(
      ([, attributes = "", content = ""]) => {
        const repeated = Number(/number-columns-repeated="(\d+)"/.exec(attributes)?.[1] ?? "1")
        const type = /office:value-type="(\w+)"/.exec(attributes)?.[1]
        const cell = { type, text: content.replaceAll(/<[^>]*>/g, "").trim() }
        return Array.from({ length: Math.min(repeated, 130) }, () => cell)
      },
    ),
  )

const amountHeaders =
  /^(?:\*?Amount|Amount_(?:Beginning|Ending)|\*?Debits?|\*?Credits?|DEBIT|CREDIT|debit|credit|opening|closing|amount|balance_after|Umsatz \(ohne Soll\/Haben-Kz\))$/

/** The columns of a file that hold amounts, and the row that they begin on. */
const amountsOf = (name: string, rows: ReadonlyArray<ReadonlyArray<SheetCell>>) => {
  if (name.startsWith("sage50")) return { columns: [7, 9], first: 0 }
  const head = name.startsWith("EXTF") ? 1 : 0
  const headings = rows[head] ?? []
  return {
    columns: headings.flatMap(({ text }, at) => (amountHeaders.test(text) ? [at] : [])),
    first: head + 1,
  }
}

layer(TestDatabase.layer)("a spreadsheet", (it) => {
  it.effect.skipIf(!there)("finds no formula in any format, and a number in every amount", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("SHEETS")
      yield* postMonths(bookId)
      for (const text of hostile) {
        yield* post(bookId, {
          date: "2026-10-20",
          kind: "deposit",
          partner: partner.usd,
          cash: "1234.50",
          description: text,
          counterparty: text,
          reference: text,
          lines: [
            ["cash", "", "USD", "1234.50"],
            ["deposits_clearing", "", "USD", "-1234.50"],
          ],
        })
      }
      yield* assignNumbers(bookId)
      const { batches } = yield* Export.run({
        // Formats with a fixed currency do not take dollars; their files are no spreadsheets.
        formats: formatNames.filter((name) => name !== "fec" && name !== "sie"),
        scope: { kind: "period", period: "2026-10" },
        connection: Option.none(),
        book: Option.some("SHEETS"),
        out: temporaryFolder(),
        tables: { settings: formatSettings, baseCurrency: "USD" },
      })
      const { folder, manifest } = batches[0] ?? (yield* Effect.dieMessage("no batch"))
      const names = manifest.files.map(({ name }) => name).filter((name) => name.endsWith(".csv"))
      const sheets = [
        ...opened(
          folder,
          names.filter((name) => !name.startsWith("EXTF")),
          american,
        ),
        ...opened(
          folder,
          names.filter((name) => name.startsWith("EXTF")),
          german,
        ),
      ]
      expect(sheets.length).toBe(names.length)
      for (const { name, text } of sheets) {
        expect([name, text.includes("table:formula")]).toEqual([name, false])
        // The chart of accounts has no amounts.
        if (name.startsWith("Chart_Of_Accounts")) continue
        const rows = rowsOf(text)
        const { columns, first } = amountsOf(name, rows)
        expect([name, columns.length > 0]).toEqual([name, true])
        const amounts = rows.slice(first).flatMap((row) => columns.map((at) => row[at]))
        const filled = amounts.filter((cell) => cell !== undefined && cell.text !== "")
        expect([name, filled.length > 0]).toEqual([name, true])
        expect([name, filled.filter((cell) => cell?.type !== "float")]).toEqual([name, []])
      }
    }),
  )
})
