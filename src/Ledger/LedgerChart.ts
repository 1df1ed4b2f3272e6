/**
 * From a role to the code and name that a book's chart gives it. Both are templates, which `ledger.filled` of the database
 * fills in with the account's currency, its book's code and, of cash, the service's account and its payment rails.
 */
import type { Chart } from "../Settings/Chart.ts"
import type { Rule } from "../Settings/Rules.ts"
import type { Line } from "./JournalEntry.ts"

/** The part of an account's identifier that tells it apart in a name; the whole one is beside every posting. */
export const shortAccount = (accountId: string): string => accountId.slice(0, 8)

interface Template {
  readonly code: string
  readonly name: string
}

export const templateOf = (chart: Chart, { role, rule }: Pick<Line, "role" | "rule">): Template =>
  rule ?? chart[role]

/** The templates of all accounts that the settings name, as JSON. Rules with one code have one name. */
export const templatesOf = (chart: Chart, rules: ReadonlyArray<Rule>): string => {
  const ofRules = new Map<string, Template>()
  for (const { account } of rules) ofRules.set(account.code, account)
  return JSON.stringify([
    ...Object.entries(chart).map(([role, { code, name }]) => ({ role, rule_code: "", code, name })),
    ...[...ofRules.values()].map(({ code, name }) => ({ role: null, rule_code: code, code, name })),
  ])
}
