import { dated } from "../Table/Amount.ts"
import { defineTable } from "../Table/Define.ts"
import { lineProfile } from "../Table/LineProfile.ts"
import type { Column } from "../Table/Profile.ts"
import { account, currency, date, description, name, plain, text, unsigned } from "../Table/SharedCells.ts"
import { accountFiles } from "./AccountFiles.ts"
import { accountNumbers } from "./AccountNumbers.ts"
import { glDetailReader } from "./GlDetailReader.ts"

const columns: ReadonlyArray<Column> = [
  // The full journal number of the ledger.
  { header: "Journal_ID", cell: name(({ journal }) => journal.number) },
  { header: "Journal_ID_Line_Number", cell: plain(({ lineNumber }) => String(lineNumber)) },
  { header: "JE_Header_Description", cell: text(({ journal }) => journal.kind.replaceAll("_", " ")) },
  { header: "JE_Line_Description", cell: description },
  { header: "Source", cell: name(({ journal }) => journal.sourceType) },
  { header: "Business_Unit_Code", cell: name((_, { book }) => book) },
  { header: "Effective_Date", cell: date },
  { header: "Fiscal_Year", cell: plain(({ journal }) => journal.period.slice(0, 4)) },
  { header: "Period", cell: plain(({ journal }) => String(Number(journal.period.slice(5)))) },
  { header: "GL_Account_Number", cell: account },
  { header: "Amount", cell: unsigned },
  { header: "Amount_Credit_Debit_Indicator", cell: plain(({ minor }) => (minor > 0n ? "D" : "C")) },
  { header: "Amount_Currency", cell: currency },
  { header: "Entered_By", constant: "tieout" },
  {
    header: "Entered_Date",
    cell: plain(({ journal }, { profile }) => dated(journal.recordedAt.slice(0, 10), profile.date)),
  },
  { header: "Entered_Time", cell: plain(({ journal }) => journal.recordedAt.slice(11, 19)) },
]

/**
 * General ledger detail by the AICPA Audit Data Standards (General Ledger Standard, July 2015): every line of every entry, in
 * all currencies, with a number for each account and positive amounts. Field names as in the AICPA's published sample file,
 * which separates them by commas; the letters D and C of the indicator are the standard's.
 */
export const glDetail = defineTable({
  name: "gl-detail",
  description: "for auditors: general ledger detail by the AICPA Audit Data Standards",
  target: null,
  accumulates: false,
  leavesNothingOut: true,
  numbers: accountNumbers,
  accountFiles,
  profile: lineProfile(columns, {
    file: "GL_Detail_{from}_{to}{part}.csv",
    date: "iso",
    text: { most: 1000 },
    limits: { rowsPerJournal: 1_000_000, rowsPerFile: 1_000_000 },
    mode: "detail",
  }),
  reader: glDetailReader,
})
