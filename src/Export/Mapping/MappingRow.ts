/** One account of a mapping: which account of the books it is, and its code in each accounting system (empty: none given). */
import { Schema } from "effect"
import { withDefault } from "../../Common/Field.ts"
import type { Account } from "../../Format/Entry.ts"
import { targetColumns } from "../../Format/Targets.ts"

const cell = Schema.String

/** A version from before a format was there has nothing of its column. */
const names = Object.fromEntries(targetColumns.map((column) => [column, withDefault(cell, "")]))

const row = { role: cell, currency: cell, code: cell, name: cell, ...names }

export const MappingRow = Schema.Struct({
  ...row,
  /** The service's account behind a cash account; a version from before it was kept has none. */
  partnerAccountId: withDefault(cell, ""),
})

/** With every column of `targetColumns`. */
export type Row = Schema.Struct.Type<typeof row> & Readonly<Record<string, string>>
export type MappingRow = Row & Pick<typeof MappingRow.Type, "partnerAccountId">

/** With the code of its book, as a file of several books has it. */
export type BookRow = Row & { readonly book: string }

/** What tells the accounts of a book apart in a mapping. */
export const keyOf = ({
  code,
  currency,
  name,
  role,
}: Pick<Account, "code" | "currency" | "name" | "role">): string =>
  JSON.stringify([role, currency, code, name])
