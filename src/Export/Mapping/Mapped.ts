/** From a book's accounts to an accounting system's: by the newest mapping, else by the chart's own codes and names. */

import type { Account } from "../../Format/Entry.ts"
import type { TableFormat, Target } from "../../Format/Table/Define.ts"
import type { Mapped, Profile } from "../../Format/Table/Profile.ts"
import type { Mapping } from "../../Format/Table/TableRows.ts"
import type { JournalAccounts } from "../Source/Accounts.ts"
import type { StoredMapping } from "./KeptMappings.ts"
import { keyOf, type MappingRow } from "./MappingRow.ts"

const place = ({ code, currency, name, role }: Account): string => `${code} ${name} (${role}, ${currency})`

/** The system's account for an account of the books themselves, or why there is none. */
const lookUp = (
  account: Account,
  target: Target | null,
  { name: format, wrongAccount }: Profile,
  used: boolean,
  row: MappingRow | undefined,
): Mapped | string => {
  if (target === null) return { account: account.code, dimension: "" }
  const { column, expects, fallback, pattern } = target
  const own = row?.[column] ?? ""
  if (used && own === "") {
    return row === undefined
      ? "is not in the mapping: it is newer, or two accounts got one name; export the accounts again"
      : `has no ${column} in the mapping, though others have`
  }
  const name = own === "" ? account[fallback] : own
  const wanted = `${format} takes ${expects}: give it a ${column} in the mapping`
  if (!pattern.test(name)) return `is called ${JSON.stringify(name)}; ${wanted}`
  const mapped = { account: name, dimension: row?.dimension ?? "" }
  return wrongAccount?.(mapped) ?? mapped
}

export interface MappedAccounts {
  readonly mapping: Mapping
  /** Whole lines, one per account that has no place in the system. */
  readonly unmapped: ReadonlyArray<string>
}

/**
 * Numbers for all accounts, whatever the mapping has: those of the native accounts, so that a base-currency export does not
 * change any.
 */
export const numberAccounts = (
  { nativeOf, ordered }: Pick<JournalAccounts, "nativeOf" | "ordered">,
  numbers: NonNullable<TableFormat["numbers"]>,
): MappedAccounts => {
  const known = numbers(ordered.map(nativeOf))
  const mapping = new Map(
    ordered.map((account): [Account, Mapped] => [
      account,
      { account: known.get(nativeOf(account)) ?? account.code, dimension: "" },
    ]),
  )
  return { mapping, unmapped: [] }
}

/**
 * `nativeOf` returns the account that the mapping knows. The chart's names are that account's, too: the base-currency journal
 * has others for it as soon as a second currency comes, and a system would have what it imported before under the first. A column that the mapping uses must be filled for every account; one
 * that is empty throughout is not used.
 */
export const mapAccounts = (
  accounts: ReadonlyArray<Account>,
  target: Target | null,
  profile: Profile,
  stored: StoredMapping | null,
  nativeOf: (account: Account) => Account = (account) => account,
): MappedAccounts => {
  const rows = new Map((stored?.rows ?? []).map((row) => [keyOf(row), row]))
  const rowUses = (row: MappingRow): boolean => target !== null && row[target.column] !== ""
  const used = (stored?.rows ?? []).some(rowUses)
  const mapping = new Map<Account, Mapped>()
  const unmapped: Array<string> = []
  const spellings = new Map<string, string>()
  for (const account of accounts) {
    const native = nativeOf(account)
    const found = lookUp(native, target, profile, used, rows.get(keyOf(native)))
    if (typeof found === "string") {
      unmapped.push(`${place(native)} ${found}`)
      continue
    }
    const read = target?.read?.(found.account) ?? found.account
    const spelled = spellings.get(read) ?? found.account
    spellings.set(read, spelled)
    if (spelled === found.account) mapping.set(account, found)
    else {
      unmapped.push(
        `${place(native)} is called ${found.account} and another account ${spelled}: both are one in ${profile.name}, write them alike`,
      )
    }
  }
  return { mapping, unmapped }
}
