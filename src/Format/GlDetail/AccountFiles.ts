/** The chart of accounts and the trial balance that the AICPA's Audit Data Standards want beside the general ledger detail. */
import { print } from "../../Common/MinorUnits.ts"
import { accompanyingFiles } from "../AccompanyingFiles.ts"
import { holds } from "../Encoding.ts"
import type { Account } from "../Entry.ts"
import { rootOf, roots } from "../PlainText/AccountNames.ts"
import { dated } from "../Table/Amount.ts"
import { fitted, quoted } from "../Table/CellText.ts"
import type { AccountFile, AccountFileContext } from "../Table/Define.ts"
import { Unholdable } from "../Table/Journals.ts"
import type { Profile } from "../Table/Profile.ts"

const types: Readonly<Record<string, string>> = { Income: "Revenue" }

/** By the name's first component, else by the role. */
const typeOf = ({ name, role }: Account): string => {
  const [first = ""] = name.split(":")
  const root = roots.has(first) ? first : rootOf(role)
  return types[root] ?? root
}

const amount = (minor: bigint, scale: number, { decimals }: Profile): string =>
  print(minor, scale).replace(".", decimals.mark)

/** The cells behind the account's number. */
type Cells = (account: AccountFileContext["accounts"][number]) => ReadonlyArray<string>

/**
 * A row per account of the book, in the layout of the general ledger detail. Its number stands there unchanged, as in the detail: a
 * cleaned one would be another account's.
 */
const tableOf = (
  { accounts, profile }: AccountFileContext,
  headers: ReadonlyArray<string>,
  cells: Cells,
): { readonly text: string; readonly rows: number } => {
  const { delimiter, encoding, lineEnd } = profile
  const line = (texts: ReadonlyArray<string>) =>
    texts.map((text) => quoted(text, delimiter, false)).join(delimiter) + lineEnd
  const rule = { encoding, most: profile.text.most }
  const rows = accounts.map((each) => {
    const { number } = each
    if (!holds(number, encoding)) throw new Unholdable(`${JSON.stringify(number)} is not in ${encoding}`)
    return line([number, ...cells(each).map((text) => (text === "" ? "" : clean(text, rule)))])
  })
  return { text: line(headers) + rows.join(""), rows: rows.length }
}

/** An amount's sign is no formula. */
const clean = (text: string, rule: Parameters<typeof fitted>[1]): string =>
  /^-?[\d.,]+$/.test(text) ? text : fitted(text, rule, "unnamed")

const chartOfAccounts: AccountFile = {
  ...accompanyingFiles.chartOfAccounts,
  make: (context) =>
    tableOf(
      context,
      [
        "GL_Account_Number",
        "GL_Account_Name",
        "GL_Account_Description",
        "Account_Type",
        "Account_Subtype",
        "Business_Unit_Code",
      ],
      ({ account, currency }) => [
        account.name,
        [account.code, currency, account.partnerAccountId ?? ""].join(" ").trimEnd(),
        typeOf(account),
        account.role.replaceAll("_", " "),
        context.book,
      ],
    ),
}

const trialBalance: AccountFile = {
  ...accompanyingFiles.periodBalances,
  make: (context) => {
    const { days, profile } = context
    const [year = "", month = ""] = days.last.split("-")
    return tableOf(
      context,
      [
        "GL_Account_Number",
        "Fiscal_Year",
        "Period",
        "Balance_As_Of_Date",
        "Amount_Beginning",
        "Amount_Ending",
        "Amount_Currency",
        "Business_Unit_Code",
      ],
      ({ account, closing, opening }) => [
        year,
        String(Number(month)),
        dated(days.last, profile.date),
        amount(opening, account.scale, profile),
        amount(closing, account.scale, profile),
        account.currency,
        context.book,
      ],
    )
  },
}

export const accountFiles: ReadonlyArray<AccountFile> = [chartOfAccounts, trialBalance]
