/** What accounts are called in the journals of hledger and ledger. */
import type { Account, OpenedAccount } from "../Entry.ts"
import { oneLine } from "../OneLine.ts"
import { type Naming, nameAccounts, rootOf } from "./AccountNames.ts"

const inComponent = (text: string): string =>
  oneLine(text.replace(/[;"'|()[\]{}<>*!@#%&=~\\:]/g, "-")).replace(/^[-\s]+/, "")

/** Both programs let an account hold several currencies, so that only those of one currency must differ in name. */
const naming: Naming = {
  clean: (account) => {
    const parts = account.name
      .split(":")
      .map(inComponent)
      .filter((part) => part !== "")
    return parts.length > 0
      ? parts.join(":")
      : `${rootOf(account.role)}:${inComponent(account.code) || "Unnamed"}`
  },
  space: (account) => account.currency,
  component: (text) => inComponent(text) || "Unnamed",
}

/** The names of a book's accounts in both programs' journals. */
export const indentedNames = (accounts: ReadonlyArray<OpenedAccount>): ReadonlyMap<Account, string> =>
  nameAccounts(accounts, naming)
