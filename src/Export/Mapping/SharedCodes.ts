/** Bank accounts and wallets that are one account in a system: their balance there is that of no single statement. */
import type { Account } from "../../Format/Entry.ts"
import { tablesOf } from "../../Format/Formats.ts"
import type { Manifest } from "../Batch/Manifest.ts"
import { mappedColumns } from "./Changes.ts"
import type { Row } from "./MappingRow.ts"

export interface SharedCode {
  /** The column of the mapping, or the format; `code` where the chart's codes count, since no column has any. */
  readonly column: string
  readonly code: string
  /** Their names. */
  readonly accounts: ReadonlyArray<string>
}

const sharedIn = (
  column: string,
  accounts: ReadonlyArray<Pick<Account, "role" | "name">>,
  codeOf: (at: number) => string,
): ReadonlyArray<SharedCode> => {
  const found = new Map<string, Array<string>>()
  accounts.forEach(({ name, role }, at) => {
    const code = codeOf(at)
    if (role !== "cash" || code === "") return
    const names = found.get(code)
    if (names === undefined) found.set(code, [name])
    else names.push(name)
  })
  return [...found].flatMap(([code, names]) =>
    names.length > 1 ? [{ column, code, accounts: names.toSorted() }] : [],
  )
}

/** In the columns that have codes; where none has any, in the chart. */
export const sharedInMapping = (rows: ReadonlyArray<Row>): ReadonlyArray<SharedCode> => {
  const used = mappedColumns.filter((column) => rows.some((row) => (row[column] ?? "") !== ""))
  const columns = used.length === 0 ? ["code"] : used
  return columns.flatMap((column) => sharedIn(column, rows, (at) => rows[at]?.[column] ?? ""))
}

/** In the files of a batch. */
export const sharedInBatch = ({
  accounts,
  formats,
}: Pick<Manifest, "accounts" | "formats">): ReadonlyArray<SharedCode> =>
  tablesOf(formats).flatMap(({ name, target }) =>
    target === null ? [] : sharedIn(name, accounts, (at) => accounts[at]?.mapped?.[name] ?? ""),
  )
