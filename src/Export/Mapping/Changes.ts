/** What a new version of a mapping changes, and which accounts are still unmapped. */
import type { Account } from "../../Format/Entry.ts"
import { targetColumns } from "../../Format/Targets.ts"
import { described } from "./MappingCheck.ts"
import { keyOf, type Row } from "./MappingRow.ts"

type Named = Pick<Account, "code" | "currency" | "name" | "role">

/** An account's name in one column; `before` and `after` are empty if there is none. */
export interface MappingChange {
  /** `1010 Assets:Partner:USD (cash, USD)` */
  readonly account: string
  readonly column: string
  readonly before: string
  readonly after: string
}

/** Accounts without a code in a column in which other accounts have one. */
export interface Unmapped {
  readonly column: string
  readonly accounts: ReadonlyArray<string>
}

const byKey = (rows: ReadonlyArray<Row>): ReadonlyMap<string, Row> =>
  new Map(rows.map((row) => [keyOf(row), row]))

export const changesBetween = (
  before: ReadonlyArray<Row>,
  after: ReadonlyArray<Row>,
): ReadonlyArray<MappingChange> => {
  const old = byKey(before)
  return after.flatMap((row) =>
    targetColumns.flatMap((column) => {
      const [was, is] = [old.get(keyOf(row))?.[column] ?? "", row[column] ?? ""]
      return was === is ? [] : [{ account: described(row), column, before: was, after: is }]
    }),
  )
}

/** Those of accounts: no system requires a dimension. */
export const mappedColumns = targetColumns.filter((column) => column !== "dimension")

export const unmappedIn = (
  rows: ReadonlyArray<Row>,
  accounts: ReadonlyArray<Named>,
): ReadonlyArray<Unmapped> => {
  const known = byKey(rows)
  return mappedColumns.flatMap((column) => {
    if (rows.every((row) => (row[column] ?? "") === "")) return []
    const lacking = accounts.filter((account) => (known.get(keyOf(account))?.[column] ?? "") === "")
    return lacking.length === 0 ? [] : [{ column, accounts: lacking.map(described) }]
  })
}
