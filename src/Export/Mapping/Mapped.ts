/** From a book's accounts to an accounting system's: by the newest mapping, else by the chart's own codes and names. */

import type { Account } from "../../Format/Entry.ts"
import type { Formats } from "../../Format/FormatSettings.ts"
import type { Mapped } from "../../Format/Table/Cells.ts"
import type { Profile } from "../../Format/Table/Profile.ts"
import type { Mapping } from "../../Format/Table/Rows.ts"
import { targets } from "../../Format/Targets.ts"
import { keyOf, type MappingRow } from "./Row.ts"
import type { StoredMapping } from "./Store.ts"

const place = ({ code, currency, name, role }: Account): string => `${code} ${name} (${role}, ${currency})`

/** Why an account has none in the system, or the one that it has. */
const lookUp = (
  account: Account,
  profile: Profile,
  settings: Formats,
  used: boolean,
  row: MappingRow | undefined,
): Mapped | string => {
  if (profile.target === null) return { account: account.code, dimension: "" }
  const { expects, fallback, pattern } = targets[profile.target]
  const own = row?.[profile.target] ?? ""
  if (used && own === "") {
    return row === undefined
      ? "is not in the mapping: it is newer; export the accounts again"
      : `has no ${profile.target} in the mapping, though others have`
  }
  const name = own === "" ? account[fallback] : own
  const wanted = `${profile.name} takes ${expects}: give it a ${profile.target} in the mapping`
  if (!pattern.test(name)) return `is called ${JSON.stringify(name)}; ${wanted}`
  const longest = settings.datev.accountLength + 1
  if (profile.target === "datev_konto" && name.length > longest) {
    return `is called ${name}, longer than ${longest} digits (formats.datev.accountLength and one)`
  }
  return { account: name, dimension: row?.dimension ?? "" }
}

export interface MappedAccounts {
  readonly mapping: Mapping
  /** Whole lines, one per account that has no place in the system. */
  readonly unmapped: ReadonlyArray<string>
}

/**
 * `nativeOf` gives the account that the mapping knows. A column that the mapping uses must be filled for every account; one that it leaves
 * empty throughout says nothing.
 */
export const mapAccounts = (
  accounts: ReadonlyArray<Account>,
  profile: Profile,
  settings: Formats,
  stored: StoredMapping | null,
  nativeOf: (account: Account) => Account = (account) => account,
): MappedAccounts => {
  const rows = new Map((stored?.rows ?? []).map((row) => [keyOf(row), row]))
  const { target } = profile
  const used = target !== null && (stored?.rows ?? []).some((row) => row[target] !== "")
  const mapping = new Map<Account, Mapped>()
  const unmapped: Array<string> = []
  for (const account of accounts) {
    const found = lookUp(account, profile, settings, used, rows.get(keyOf(nativeOf(account))))
    if (typeof found === "string") unmapped.push(`${place(nativeOf(account))} ${found}`)
    else mapping.set(account, found)
  }
  return { mapping, unmapped }
}
