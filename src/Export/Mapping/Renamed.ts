/**
 * A changed chart, or another name for a rule's account, renames accounts; a mapping knows them by the names of its day. Each row gets
 * the names that its account has now, so that what an accountant called it stays.
 */
import type { Account } from "../../Format/Entry.ts"
import { keyOf, type MappingRow } from "./MappingRow.ts"

export type Named = Pick<Account, "code" | "currency" | "name" | "partnerAccountId" | "role">

/** What stays when an account is renamed, the surest first. Empty: the row does not say it. */
const lasting: ReadonlyArray<(one: Omit<Named, "partnerAccountId">, partnerAccountId: string) => string> = [
  ({ currency }, partnerAccountId) => (partnerAccountId === "" ? "" : `${partnerAccountId} ${currency}`),
  ({ code, currency, role }) => JSON.stringify([role, currency, code]),
  ({ currency, role }) => JSON.stringify([role, currency]),
]

const groupedBy = <A>(all: Iterable<A>, key: (one: A) => string): ReadonlyMap<string, ReadonlyArray<A>> => {
  const found = new Map<string, Array<A>>()
  for (const one of all) {
    const own = found.get(key(one))
    if (own === undefined) found.set(key(one), [one])
    else own.push(one)
  }
  return found
}

/**
 * An account that was there stays there, so a row that fits none by its names is of one that fits no row. Where only one of each has
 * something lasting in common, they belong together; what stays in doubt is left as it is.
 */
export const renamedRows = (
  rows: ReadonlyArray<MappingRow>,
  accounts: ReadonlyArray<Named>,
): ReadonlyArray<MappingRow> => {
  const known = new Set(accounts.map(keyOf))
  const named = new Set(rows.map(keyOf))
  const leftRows = new Set(rows.filter((row) => !known.has(keyOf(row))))
  if (leftRows.size === 0) return rows
  const leftAccounts = new Set(accounts.filter((account) => !named.has(keyOf(account))))
  const found = new Map<MappingRow, Named>()
  for (const of of lasting) {
    const candidates = groupedBy(leftAccounts, (one) => of(one, one.partnerAccountId ?? ""))
    for (const [common, own] of groupedBy(leftRows, (row) => of(row, row.partnerAccountId))) {
      const [row, anotherRow] = own
      const [account, anotherAccount] = candidates.get(common) ?? []
      if (common === "" || row === undefined || account === undefined) continue
      if (anotherRow !== undefined || anotherAccount !== undefined) continue
      found.set(row, account)
      leftRows.delete(row)
      leftAccounts.delete(account)
    }
  }
  return rows.map((row) => {
    const account = found.get(row)
    return account === undefined ? row : { ...row, code: account.code, name: account.name }
  })
}
