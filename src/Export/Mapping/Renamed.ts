/**
 * A changed chart, or another name for a rule's account, renames accounts; a mapping knows them by the names of its day. Each row gets
 * the names that its account has now, so that what an accountant called it stays.
 */
import { Array as Arr } from "effect"
import type { Account } from "../../Format/Entry.ts"
import { targetColumns } from "../../Format/Targets.ts"
import { keyOf, type MappingRow } from "./MappingRow.ts"

export type Named = Pick<Account, "code" | "currency" | "name" | "partnerAccountId" | "role">

/** What stays when an account is renamed, the surest first. Empty: the row does not say it. */
const lasting: ReadonlyArray<(one: Omit<Named, "partnerAccountId">, partnerAccountId: string) => string> = [
  ({ currency }, partnerAccountId) => (partnerAccountId === "" ? "" : `${partnerAccountId} ${currency}`),
  ({ code, currency, role }) => JSON.stringify([role, currency, code]),
  ({ currency, role }) => JSON.stringify([role, currency]),
]

/** What the row calls its account, in every system. */
const calledIn = (row: MappingRow): string => JSON.stringify(targetColumns.map((column) => row[column]))

/** Without those of accounts that are called the same now, in two ways: which of them counts is for the accountant to say. */
const withoutDoubt = (rows: ReadonlyArray<MappingRow>): ReadonlyArray<MappingRow> => {
  const called = Arr.groupBy(rows, keyOf)
  return rows.filter((row) => new Set(called[keyOf(row)]?.map(calledIn)).size === 1)
}

/** The row's own account has its name, as far as the row says which of the service's accounts it is. */
const fits = (
  { partnerAccountId }: MappingRow,
  namesakes: ReadonlyArray<Named>,
  partners: ReadonlySet<string>,
): boolean =>
  namesakes.length > 0 &&
  (!partners.has(partnerAccountId) || namesakes.some((one) => one.partnerAccountId === partnerAccountId))

/**
 * An account that was there stays there, so a row that fits none by its names is of one that fits no row. Where only one of each has
 * something lasting in common, they belong together; what stays in doubt is left as it is. `accounts` are all of the book: several
 * may have one name.
 */
export const renamedRows = (
  rows: ReadonlyArray<MappingRow>,
  accounts: ReadonlyArray<Named>,
): ReadonlyArray<MappingRow> => {
  const named = Arr.groupBy(accounts, keyOf)
  const partners = new Set(accounts.flatMap(({ partnerAccountId }) => partnerAccountId ?? []))
  const fitting = rows.filter((row) => fits(row, named[keyOf(row)] ?? [], partners))
  const leftRows = new Set(rows)
  const leftAccounts = new Set(accounts)
  for (const row of fitting) {
    leftRows.delete(row)
    for (const account of named[keyOf(row)] ?? []) leftAccounts.delete(account)
  }
  const found = new Map<MappingRow, Named>()
  for (const of of lasting) {
    const candidates = Arr.groupBy(leftAccounts, (one) => of(one, one.partnerAccountId ?? ""))
    for (const [common, own] of Object.entries(
      Arr.groupBy(leftRows, (row) => of(row, row.partnerAccountId)),
    )) {
      const [row, anotherRow] = own
      const [account, anotherAccount] = candidates[common] ?? []
      if (common === "" || row === undefined || account === undefined) continue
      if (anotherRow !== undefined || anotherAccount !== undefined) continue
      found.set(row, account)
      leftRows.delete(row)
      leftAccounts.delete(account)
    }
  }
  return withoutDoubt(
    rows.map((row) => {
      const account = found.get(row)
      return account === undefined ? row : { ...row, code: account.code, name: account.name }
    }),
  )
}
