/**
 * Whether a file's rows are a mapping of the books: no account twice, no other rows, and no formulas. An account that the file
 * lacks, because it is newer, keeps its former names.
 */

import { guarded, isFormula } from "../../Common/Csv.ts"
import type { Mistake } from "../../Common/Files/CsvFile.ts"
import type { Account } from "../../Format/Entry.ts"
import { targets } from "../../Format/Targets.ts"
import { type Cells, mappingColumns } from "./MappingCsv.ts"
import { keyOf, type MappingRow } from "./MappingRow.ts"
import type { Named } from "./Renamed.ts"

export interface BookAccounts {
  readonly book: string
  readonly bookId: number
  readonly accounts: ReadonlyArray<Named>
}

export interface CheckedBook {
  readonly book: string
  readonly bookId: number
  readonly rows: ReadonlyArray<MappingRow>
  /** All of the book. */
  readonly accounts: ReadonlyArray<Named>
  /** Those that are not in the file. */
  readonly absent: ReadonlyArray<Named>
}

/** An account as a spreadsheet gives it back: our own guard against formulas is part of the cell. */
const cellKey = ({ code, currency, name, role }: Named): string =>
  keyOf({ role: guarded(role), currency, code: guarded(code), name: guarded(name).trim() })

const cellMistakes = ({ cells, line }: Cells): ReadonlyArray<Mistake> => [
  ...mappingColumns
    .map((column) => ({ column, found: cells[column] ?? "" }))
    .filter(({ found }) => isFormula(found))
    .map(({ column, found }) => ({ line, text: `${column}: ${JSON.stringify(found)} is a formula` })),
  ...targets
    .map((target) => ({ ...target, found: cells[target.column] ?? "" }))
    .filter(({ found, pattern }) => found !== "" && !isFormula(found) && !pattern.test(found))
    .map(({ column, expects, found }) => ({
      line,
      text: `${column}: found ${JSON.stringify(found)}, expected ${expects}`,
    })),
]

export const described = ({
  code,
  currency,
  name,
  role,
}: Pick<Account, "code" | "currency" | "name" | "role">): string => `${code} ${name} (${role}, ${currency})`

/** Which account a row is of, as a version keeps it. */
export const identityOf = ({ code, currency, name, partnerAccountId, role }: Named) => ({
  ...{ code, currency, name, role },
  partnerAccountId: partnerAccountId ?? "",
})

interface Seen {
  readonly known: BookAccounts
  readonly byKey: ReadonlyMap<string, Named>
  readonly rows: Map<string, { readonly line: number; readonly row: MappingRow }>
}

const takeRow = ({ cells, line }: Cells, seen: Seen | undefined): ReadonlyArray<Mistake> => {
  if (seen === undefined) return [{ line, text: `there is no book ${JSON.stringify(cells.book)}` }]
  const key = keyOf(cells)
  const account = seen.byKey.get(key)
  if (account === undefined) {
    return [{ line, text: `the book ${cells.book} has no account ${described(cells)}` }]
  }
  const before = seen.rows.get(key)
  if (before !== undefined) {
    return [{ line, text: `${described(cells)} stands on line ${before.line} already` }]
  }
  const { book: _, ...row } = cells
  seen.rows.set(key, { line, row: { ...row, ...identityOf(account) } })
  return []
}

/** The books that the file has rows of, or all of its mistakes, in the order of its lines. */
export const checkMapping = (
  rows: ReadonlyArray<Cells>,
  books: ReadonlyArray<BookAccounts>,
): { readonly mistakes: ReadonlyArray<Mistake>; readonly checked: ReadonlyArray<CheckedBook> } => {
  const seen = new Map(
    books.map((known): [string, Seen] => [
      known.book,
      {
        known,
        byKey: new Map(known.accounts.map((account) => [cellKey(account), account])),
        rows: new Map(),
      },
    ]),
  )
  const mistakes: Array<Mistake> = rows.flatMap((row) => [
    ...cellMistakes(row),
    ...takeRow(row, seen.get(row.cells.book)),
  ])
  const named = [...seen.values()].filter(({ known }) => rows.some(({ cells }) => cells.book === known.book))
  if (rows.length === 0) mistakes.push({ line: 1, text: "there are no accounts in the file" })
  return {
    mistakes,
    checked: named.map(({ byKey, known: { accounts, book, bookId }, rows: found }) => ({
      ...{ accounts, book, bookId },
      rows: [...found.values()].map(({ row }) => row),
      absent: [...byKey].flatMap(([key, account]) => (found.has(key) ? [] : [account])),
    })),
  }
}
