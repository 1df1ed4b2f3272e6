/**
 * The chart of accounts: every role of the ledger with its code and name in the books and the exports. Names are
 * `Parent:Child` and begin with Assets, Liabilities, Equity, Income or Expenses, as hledger, ledger and beancount all accept.
 */
import { Schema } from "effect"
import { section, withDefault } from "../Common/Field.ts"

const placeholders = ["currency", "account", "rail", "client"] as const
const unknownPlaceholder = new RegExp(`\\{(?!(?:${placeholders.join("|")})\\})|(?<!\\{[a-z]*)\\}`)

const onlyKnownPlaceholders = (text: string): boolean => !unknownPlaceholder.test(text)
const placeholderList = placeholders.map((name) => `{${name}}`).join(" ")

/** A code or name as an account has it that is none of the service's, like `ledger.filled` of the database; `client` is the book's code. */
export const filled = (template: string, currency: string, client: string): string =>
  template
    .replaceAll("{currency}", () => currency)
    .replaceAll("{account}", "")
    .replaceAll("{rail}", "")
    .replaceAll("{client}", () => client)

/** What a code must be, for people: the filter below in words. */
export const codeForm = "at most 64 characters, none of them \" ' ; or ,"

/** An account code, the name of the account in the accounting system. At most 64 characters, not necessarily unique. */
export const AccountCode = Schema.String.pipe(
  Schema.filter(
    (text) => /^[^\s"';,](?:[^"';,\p{Cc}]{0,62}[^\s"';,])?$/u.test(text) && onlyKnownPlaceholders(text),
  ),
).annotations({
  description: `an account code in quotes such as "6850", ${codeForm}; placeholders: ${placeholderList}`,
})

const component = /^[\p{L}\p{N}{](?:[^:;"'|[\]()\p{Cc}]*[^\s:;"'|[\]()\p{Cc}])?$/u

/** What a name must be, for people: the filter below in words. */
export const nameForm =
  "at most 255 characters, parts separated by single colons, each beginning with a letter or digit, none with \" ' ; | ( ) [ ] or two spaces in a row"

/** An account name whose parts are separated by colons. Two spaces in a row would end it in a journal. */
export const AccountName = Schema.String.pipe(
  Schema.filter(
    (text) =>
      text.length <= 255 &&
      text.split(":").every((part) => component.test(part) && !part.includes("  ")) &&
      onlyKnownPlaceholders(text),
  ),
).annotations({
  description: `an account name such as "Expenses:Fees:{currency}", ${nameForm}; placeholders: ${placeholderList}`,
})

const account = (code: string, name: string) =>
  section(
    Schema.Struct({
      code: withDefault(AccountCode, code),
      name: withDefault(AccountName, name),
    }),
  )

/** An account has one currency, and a cash account one partner account: their names must show it. */
export const Chart = Schema.Struct({
  cash: account("1010", "Assets:Partner:{currency}:{rail}:{account}"),
  deposits_clearing: account("1020", "Assets:Clearing:Deposits:{currency}"),
  withdrawals_clearing: account("1030", "Assets:Clearing:Withdrawals:{currency}"),
  payouts_clearing: account("1040", "Assets:Clearing:Payouts:{currency}"),
  loan_clearing: account("1050", "Assets:Clearing:Loans:{currency}"),
  conversions_in_transit: account("1060", "Assets:Conversions-in-Transit:{currency}"),
  receivable_principal: account("1210", "Assets:Receivables:Principal:{currency}"),
  receivable_interest: account("1220", "Assets:Receivables:Interest:{currency}"),
  suspense: account("1990", "Assets:Suspense:{currency}"),
  other: account("1980", "Assets:Other:{currency}"),
  loan_payable: account("2210", "Liabilities:Loans:Principal:{currency}"),
  interest_payable: account("2220", "Liabilities:Loans:Interest:{currency}"),
  deferred_interest: account("2310", "Liabilities:Deferred-Interest:{currency}"),
  opening_balance: account("3010", "Equity:Opening-Balances:{currency}"),
  trading: account("3020", "Equity:Trading:{currency}"),
  interest_income: account("4310", "Income:Interest:{currency}"),
  fees: account("6850", "Expenses:Fees:{currency}"),
  interest_expense: account("7310", "Expenses:Interest:{currency}"),
  fx_realized: account("7910", "Income:Exchange:Realized:{currency}"),
  fx_unrealized: account("7920", "Income:Exchange:Unrealized:{currency}"),
  rounding: account("7990", "Expenses:Rounding:{currency}"),
}).pipe(
  Schema.filter((chart) => {
    const issues: Array<{ path: ReadonlyArray<string>; message: string }> = []
    if (!chart.cash.name.includes("{account}")) {
      issues.push({
        path: ["cash", "name"],
        message: "a name with {account} in it, since every partner account has its own cash account",
      })
    }
    const owners = new Map<string, string>()
    for (const [role, { name }] of Object.entries(chart)) {
      const owner = owners.get(name.toLowerCase())
      if (owner === undefined) owners.set(name.toLowerCase(), role)
      else issues.push({ path: [role, "name"], message: `a name of its own: ${owner} has this one already` })
    }
    return issues
  }),
)
export type Chart = typeof Chart.Type
