/** An account mapping as a workbook: it is exported, imported again, and refused where it is wrong. */
import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import type { CellValue } from "hucre/xlsx"
import { writeXlsx } from "hucre/xlsx"
import { mappingColumns } from "../../../src/Export/Mapping/MappingCsv.ts"
import type { BookRow } from "../../../src/Export/Mapping/MappingRow.ts"
import * as AccountMapping from "../../../src/Export/Mapping.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"
import { openBook } from "../Books.ts"

/** The sheet as a spreadsheet saves it after an edit. */
const saved = (rows: ReadonlyArray<ReadonlyArray<CellValue>>) =>
  Effect.promise(async () => {
    const file = join(temporaryFolder(), "edited.xlsx")
    writeFileSync(file, await writeXlsx({ sheets: [{ name: "x", rows: rows.map((row) => [...row]) }] }))
    return file
  })

layer(TestDatabase.layer, { excludeTestServices: true })("a mapping as a workbook", (it) => {
  it.effect("is imported as it was exported, and with codes that a person typed as numbers", () =>
    Effect.gen(function* () {
      yield* openBook("WORKBOOK", "33333333-0000-4000-8000-000000000001")
      const book = Option.some("WORKBOOK")
      const rows = (yield* AccountMapping.current(book)).map(
        (row, at): BookRow => ({
          ...row,
          xero_code: `00${at}`,
          sie_konto: "1930",
        }),
      )
      const file = join(temporaryFolder(), "accounts.XLSX")
      yield* AccountMapping.writeTo(file, rows)
      const [first] = yield* AccountMapping.importFrom(file)
      expect(first?.changes).toHaveLength(2 * rows.length)
      expect((yield* AccountMapping.current(book)).map(({ xero_code }) => xero_code)).toEqual(
        rows.map(({ xero_code }) => xero_code),
      )
      // Empty cells after the last column, an empty row, and a number instead of a code.
      const edited = yield* saved([
        [...mappingColumns, null],
        ...rows.map((row) =>
          mappingColumns.map((column) => (column === "sie_konto" ? 3010 : row[column] || null)),
        ),
        [null, null],
      ])
      const [second] = yield* AccountMapping.importFrom(edited)
      expect(second?.changes.map(({ after, column }) => `${column} ${after}`)).toEqual(
        rows.map(() => "sie_konto 3010"),
      )
      expect(yield* Effect.flip(AccountMapping.writeTo(file, rows))).toMatchObject({ reason: "Exists" })
    }),
  )

  it.effect("is refused with the row that is wrong", () =>
    Effect.gen(function* () {
      const refused = (file: string) =>
        Effect.map(Effect.flip(AccountMapping.importFrom(file)), ({ message }) => message)
      const [row] = yield* AccountMapping.current(Option.some("WORKBOOK"))
      const cells = mappingColumns.map((column): CellValue => row?.[column] ?? null)
      const withXero = (value: CellValue) =>
        saved([mappingColumns, cells.map((cell, at) => (mappingColumns[at] === "xero_code" ? value : cell))])
      expect(yield* refused(yield* withXero(new Date("2026-10-01")))).toMatch(
        /edited\.xlsx:2: column \d+ is a date/,
      )
      expect(yield* refused(yield* withXero("=1+1"))).toContain(
        'edited.xlsx:2: xero_code: "=1+1" is a formula',
      )
      expect(yield* refused(yield* saved([["book", "colour"]]))).toContain(
        'has the column "colour", which Tieout does not know',
      )
      const broken = join(temporaryFolder(), "broken.xlsx")
      writeFileSync(broken, "PK\u0003\u0004 cut off")
      expect(yield* refused(broken)).toContain("broken.xlsx:1: the workbook cannot be read")
    }),
  )
})
