/** Account names in a beancount journal. */
import type { Account, OpenedAccount } from "../Entry.ts"
import { type Naming, nameAccounts, rootOf, roots } from "./AccountNames.ts"

/** Letters, digits and hyphens, the first a capital or a digit. */
const component = (text: string): string => {
  const plain = text.replace(/[^\p{L}\p{N}-]+/gu, "-").replace(/^-+|-+$/g, "")
  const first = plain.charAt(0).toUpperCase()
  if (plain === "") return "Unnamed"
  return /^[A-Z0-9\p{Lu}]/u.test(first) ? first + plain.slice(1) : `X${plain}`
}

const clean = ({ code, name, role }: Account): string => {
  const parts = name.split(":").filter((part) => part !== "")
  const [root = ""] = parts
  const inside = (roots.has(root) ? parts.slice(1) : parts).map(component)
  return [roots.has(root) ? root : rootOf(role), ...(inside.length > 0 ? inside : [component(code)])].join(
    ":",
  )
}

/** In Beancount an account may hold several currencies if it declares them, so only accounts of one currency need different names. */
const naming: Naming = { clean, space: ({ currency }) => currency, component }

/** Only leaves may be posted to, so an account with others below it becomes one of these. */
const onlyLeaves = (names: ReadonlyMap<Account, string>): ReadonlyMap<Account, string> => {
  const parents = new Set<string>()
  for (const name of names.values()) {
    for (let at = name.indexOf(":"); at > 0; at = name.indexOf(":", at + 1)) parents.add(name.slice(0, at))
  }
  const taken = new Set(names.values())
  const leaves = new Map<string, string>()
  for (const name of new Set(names.values())) {
    let leaf = parents.has(name) ? `${name}:Own` : name
    while (leaf !== name && (taken.has(leaf) || parents.has(leaf))) leaf += "-0"
    taken.add(leaf)
    leaves.set(name, leaf)
  }
  return new Map([...names].map(([account, name]) => [account, leaves.get(name) ?? name]))
}

/** The names of a book's accounts in a beancount journal. */
export const beancountNames = (accounts: ReadonlyArray<OpenedAccount>): ReadonlyMap<Account, string> =>
  onlyLeaves(nameAccounts(accounts, naming))
