import { readFileSync } from "node:fs"
import { join } from "node:path"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeSync } from "effect/Schema"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook, postMonths } from "./Books.ts"

const profiles = {
  qbo: {
    headers: { "*JournalNo": "JournalNo", "*Debits": "Debits", "*Credits": "Credits", Description: "Memo" },
    date: "DD/MM/YYYY",
    rowsPerFile: 5,
    numberLength: 40,
    file: "qbo-{currency}-uk{part}.csv",
  },
  "gl-detail": { delimiter: "|", lineEnd: "CRLF" },
  "business-central": { delimiter: ";", decimalMark: ",", date: "DD.MM.YYYY", encoding: "windows-1252" },
  sage50: { lineEnd: "LF" },
} as const

/** Dollars are the base currency here. */
const settings = decodeSync(Content)({ formats: { profiles, leaveOut: ["JPY", "USDT"] } }).formats

layer(TestDatabase.layer)("a profile that the settings override", (it) => {
  it.effect("is written as they say, and read back from the manifest alone", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("OVER"))
      for (const mode of ["detail", "summary"] as const) {
        const { batches } = yield* Export.run({
          formats: ["journal", ...Object.keys(profiles)],
          scope: { kind: "period", period: "2026-10" },
          connection: Option.none(),
          book: Option.some("OVER"),
          out: temporaryFolder(),
          mode,
          tables: { settings, baseCurrency: "USD" },
        })
        const { folder } = batches[0] ?? (yield* Effect.dieMessage("no batch"))
        expect((yield* Verify.run(folder)).problems).toEqual([])
        if (mode === "summary") continue
        const lines = (name: string) => readFileSync(join(folder, name), "utf8").split("\n")
        expect(lines("qbo-USD-uk-02.csv").slice(0, 2)).toEqual([
          "JournalNo,*JournalDate,*AccountName,Debits,Credits,Memo,Name,Currency,Location,Class",
          "OVER-2026-10-000006,03/10/2026,Assets:Partner:USD:SWIFT:11111111,,20.00,Payroll,,USD,,",
        ])
        expect(lines("business-central-USD.csv")[1]).toBe(
          "GENERAL;DEFAULT;1000;01.10.2026;OVER-2610-000001;G/L Account;1010;Deposit from Acme / Acme, Inc. | London / -INV 7;;995,00;INV 7",
        )
        expect(lines("GL_Detail_20261001_20261031.csv")[4]).toMatch(
          /^OVER-2026-10-000002\|1\|deposit\|"HYPERLINK.*\|statement_entry\|OVER\|2026-10-01\|2026\|10\|1010-USD-11111111\|0\.01\|D\|USD\|tieout\|\d{4}-\d{2}-\d{2}\|\d{2}:\d{2}:\d{2}\r$/,
        )
        // The accompanying files have the same delimiter and line ends.
        expect(lines("Trial_Balance_20261001_20261031.csv").slice(0, 4)).toEqual([
          "GL_Account_Number|Fiscal_Year|Period|Balance_As_Of_Date|Amount_Beginning|Amount_Ending|Amount_Currency|Business_Unit_Code\r",
          "1010-JPY-11111111|2026|10|2026-10-31|0|120000|JPY|OVER\r",
          "1010-USD-11111111|2026|10|2026-10-31|500.00|475.01|USD|OVER\r",
          "1010-USDT-11111111|2026|10|2026-10-31|0.00000000|994.20310000|USDT|OVER\r",
        ])
        expect(lines("Chart_Of_Accounts_20261001_20261031.csv").slice(0, 2)).toEqual([
          "GL_Account_Number|GL_Account_Name|GL_Account_Description|Account_Type|Account_Subtype|Business_Unit_Code\r",
          "1010-JPY-11111111|Assets:Partner:JPY:(Zengin) main|1010 JPY 11111111-0000-4000-8000-000000000003|Assets|cash|OVER\r",
        ])
      }
    }),
  )
})
