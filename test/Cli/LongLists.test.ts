/** Lists that grow with the books: the terminal shows their beginning, and says how many more there are and what lists them. */
import { describe, expect, it } from "vitest"
import { folderLines } from "../../src/Cli/Commands/Exporting/VerifyCommand.ts"
import { quarantineLines, triedLines } from "../../src/Cli/Tables/QuarantineTable.ts"
import { movedLines } from "../../src/Cli/Tables/ReclassifyTable.ts"
import type { QuarantinedRow } from "../../src/Mirror/QuarantinedRow.ts"

const screen = { width: 200, color: false, interactive: false }

const row = (at: number, acceptedAt: string | null = null): QuarantinedRow => ({
  ...{ quarantineId: BigInt(at), connection: "default", bookId: 1, book: "ORG", stream: "deposits" },
  ...{ itemId: null, reason: "is missing", path: "$.amount", runId: 1, resolvedAt: null, acceptedAt },
  ...{ firstSeenAt: "2026-10-01T00:00:00.000000Z", lastSeenAt: "2026-10-01T00:00:00.000000Z" },
})

const rows = (found: number, acceptedAt: string | null = null, from = 1): ReadonlyArray<QuarantinedRow> =>
  Array.from({ length: found }, (_, at) => row(from + at, acceptedAt))

const numbersIn = (lines: ReadonlyArray<string>) => lines.filter((line) => /^Q\d/.test(line))

describe("a long list at the terminal", () => {
  it("of quarantined rows has those that wait first, and says how many more there are", () => {
    const short = quarantineLines(rows(200), false, screen)
    expect([numbersIn(short).length, short.some((line) => line.startsWith("…"))]).toEqual([200, false])
    const long = quarantineLines([...rows(1_300, "2026-09"), ...rows(3, null, 2_001)], false, screen)
    expect(numbersIn(long).length).toBe(200)
    expect(numbersIn(long)[0]).toMatch(/^Q2001 /)
    expect(long).toContain("… and 1,103 more; --json lists them all.")
    expect(long.at(-1)).toMatch(/^3 rows wait\. See: tieout quarantine show Q2001;/)
  })

  it("of rows that were tried has those that still wait first", () => {
    const tried = rows(1_201).map((one, at) => ({
      row: one,
      waits: at === 1_200 ? { reason: "is missing", path: "$.amount" } : null,
    }))
    const lines = triedLines(tried, screen)
    expect(lines.length).toBe(201)
    expect(lines[0]).toMatch(/^Q1201 +ORG, deposits: still waits/)
    expect(lines.at(-1)).toBe("… and 1,001 more; --json lists them all.")
  })

  it("of entries that were moved, or would be, is as short as that of changed rules", () => {
    const moved = Array.from({ length: 1_050 }, (_, at) => ({
      ...{ book: "ORG", number: null, entryId: `${at}`, of: `ORG-2026-10-${`${at}`.padStart(6, "0")}` },
      ...{ effectiveDate: "2026-10-01", amount: "1.00 USD", reason: "Fees" },
      ...{ from: { code: "1990", name: "Assets:Suspense:USD" }, to: { code: "6855", name: "Expenses:Bank" } },
    }))
    for (const preview of [true, false]) {
      const lines = movedLines({ moved, proposals: [] }, preview, true, screen)
      expect(lines.filter((line) => /^ {2}ORG-/.test(line)).length).toBe(50)
      expect(lines).toContain("  … and 1,000 more; --json lists them all.")
      expect(lines.at(-1)).toMatch(/^1,050 entries (would go|moved) to 6855 Expenses:Bank/)
    }
  })

  it("of folders that were verified has each with a problem or a note", () => {
    const folders = Array.from({ length: 1_250 }, (_, at) => ({
      ...{ folder: `exports/${at}`, ok: at !== 1_240, problemCount: at === 1_240 ? 1 : 0, problems: [] },
      ...{ notes: at === 1_245 ? ["batch 1244 is not here"] : [], manifest: undefined, report: undefined },
    }))
    const lines = folderLines(folders)
    expect(lines.filter((line) => / is whole: /.test(line)).length).toBe(201)
    expect(lines).toContain("Note: exports/1245: batch 1244 is not here")
    expect(lines.slice(-2)).toEqual([
      "… and 1,048 more are whole; --json lists them all.",
      "1 of 1,250 folders is not what was written: see above.",
    ])
    expect(lines.some((line) => line.startsWith("exports/1240 is not what was written"))).toBe(true)
  })
})
