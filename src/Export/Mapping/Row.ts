/** One account of a mapping: which one it is in the books, and what each accounting system calls it (empty: nothing said). */
import { Schema } from "effect"
import type { Account } from "../../Format/Entry.ts"

const cell = Schema.String

export const MappingRow = Schema.Struct({
  role: cell,
  currency: cell,
  code: cell,
  name: cell,
  xero_code: cell,
  qbo_name: cell,
  netsuite_id: cell,
  intacct_account: cell,
  sage50_code: cell,
  bc_account: cell,
  datev_konto: cell,
  dimension: cell,
})
export type MappingRow = typeof MappingRow.Type

/** What tells the accounts of a book apart in a mapping. */
export const keyOf = ({
  code,
  currency,
  name,
  role,
}: Pick<Account, "code" | "currency" | "name" | "role">): string =>
  JSON.stringify([role, currency, code, name])
