import { lineProfile } from "./Table/LineProfile.ts"

/**
 * General ledger detail by the AICPA Audit Data Standards (General Ledger Standard, July 2015): every line of every entry, in
 * all currencies, in the chart's own accounts, with positive amounts. Field names as in the AICPA's published sample file,
 * which parts them by commas; the letters D and C of the indicator are the standard's.
 */
export const glDetail = lineProfile(
  "gl-detail",
  null,
  [
    { header: "Journal_ID", cell: "journalId" },
    { header: "Journal_ID_Line_Number", cell: "lineNumber" },
    { header: "JE_Header_Description", cell: "header" },
    { header: "JE_Line_Description", cell: "description" },
    { header: "Source", cell: "source" },
    { header: "Business_Unit_Code", cell: "book" },
    { header: "Effective_Date", cell: "date" },
    { header: "Fiscal_Year", cell: "year" },
    { header: "Period", cell: "month" },
    { header: "GL_Account_Number", cell: "account" },
    { header: "Amount", cell: "unsigned" },
    { header: "Amount_Credit_Debit_Indicator", cell: "indicator" },
    { header: "Amount_Currency", cell: "currency" },
    { header: "Entered_By", constant: "tieout" },
    { header: "Entered_Date", cell: "enteredDate" },
    { header: "Entered_Time", cell: "enteredTime" },
  ],
  {
    file: "GL_Detail_{from}_{to}{part}.csv",
    date: "iso",
    text: { most: 1000 },
    limits: { rowsPerJournal: 1_000_000, rowsPerFile: 1_000_000 },
    mode: "detail",
  },
)
