/** Reads `summary_entries_{format}.csv`: the lines of the entries behind each summary. */
import type { Problems } from "../Common/Problems.ts"
import type { FileRecord } from "../Export/Batch/Manifest.ts"
import { type Booked, dateOf, debitOrCredit, journalOf } from "../Format/Reading/Booked.ts"
import { Unreadable } from "../Format/Reading/LineCells.ts"
import { readCsv } from "./CsvRows.ts"

/** By the contract, independently of the writer. */
const columns = [
  "summary_number",
  "journal_number",
  "effective_date",
  "kind",
  "account",
  "account_code",
  "account_name",
  "currency",
  "debit",
  "credit",
] as const

export const readSummaryEntries = async (
  chunks: AsyncIterable<Buffer>,
  { name, rows: stated }: FileRecord,
  problems: Problems,
  visit: (line: Booked) => void,
): Promise<void> => {
  const rows = await readCsv(chunks, name, columns, problems, (row, line) => {
    const cell = (column: (typeof columns)[number]) => row.cell(columns.indexOf(column))
    try {
      journalOf(cell("journal_number"), "detail")
      visit({
        journal: journalOf(cell("summary_number"), "summary"),
        date: dateOf(cell("effective_date"), "iso"),
        account: cell("account"),
        currency: cell("currency"),
        amount: debitOrCredit(cell("debit"), cell("credit"), "."),
      })
    } catch (cause) {
      if (!(cause instanceof Unreadable)) throw cause
      problems.add(name, line, cause.message)
    }
  })
  if (rows !== stated) problems.add(name, null, `has ${rows} rows, the manifest says ${stated}`)
}
