/** Account names in the journals of hledger and ledger. */
import type { Account, OpenedAccount } from "../Entry.ts"
import { oneLine } from "../OneLine.ts"
import { type Naming, nameAccounts, rootOf } from "./AccountNames.ts"
import { asComponent, asName } from "./LineLength.ts"

const inComponent = (text: string): string => asComponent(oneLine(text.replaceAll(":", "-")))

/** A comment or a mark would begin with these, and a name in brackets would be a virtual account's. Anything else may stand in a name. */
const asAccount = (name: string): string => {
  const plain = name.replace(/^[;*!:\s]+/, "")
  return /^[([<].*[)\]>]$/.test(plain) ? asAccount(plain.slice(1)) : plain
}

/** hledger and ledger let an account hold several currencies, so only accounts of one currency need different names. */
const naming: Naming = {
  clean: (account) => {
    const parts = account.name
      .split(":")
      .map(inComponent)
      .filter((part) => part !== "")
    const given = asName(asAccount(parts.join(":")))
    return given !== "" ? given : `${rootOf(account.role)}:${inComponent(account.code) || "Unnamed"}`
  },
  space: (account) => account.currency,
  component: (text) => inComponent(text.replaceAll(/[()[\]<>]/g, "-")) || "Unnamed",
}

/** The names of a book's accounts in both programs' journals. */
export const indentedNames = (accounts: ReadonlyArray<OpenedAccount>): ReadonlyMap<Account, string> =>
  nameAccounts(accounts, naming)
