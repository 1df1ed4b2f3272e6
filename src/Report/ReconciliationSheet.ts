/**
 * `account-reconciliation.csv`: per account of the provider, from the books' opening by kind of movement to their closing,
 * and from there to the provider's own balance. Major units at the currency's scale, debit (money in) positive.
 *
 * `closing per books + dated later + of earlier months, dated later + difference = provider's balance`, which is the running
 * balance less the movements of later months in it.
 */
import { print } from "../Common/MinorUnits.ts"
import type { ReconciledAccount } from "./Reconciliation.ts"
import type { Row } from "./Sheet.ts"

export const reconciliationSheet = {
  name: "account-reconciliation.csv",
  columns: {
    provider_account: "text",
    rail: "text",
    currency: "text",
    account_code: "text",
    account_name: "text",
    line: "text",
    kind: "text",
    postings: "figure",
    amount: "figure",
    remark: "text",
  },
} as const

type Line = Row<typeof reconciliationSheet.columns>

/** A zero has no sign. */
const negated = (amount: string): string =>
  !/[1-9]/.test(amount) ? amount : amount.startsWith("-") ? amount.slice(1) : `-${amount}`

const providerRemark = ({ early, providerAt }: ReconciledAccount): string => {
  if (providerAt === null) return "no entry yet"
  const after = `after its entry of ${providerAt}`
  return /[1-9]/.test(early) ? `${after}, without what is of later months` : after
}

const rowsOf = (account: ReconciledAccount): ReadonlyArray<Line> => {
  const { balance } = account
  const row = (line: string, amount: string, over: Partial<Line> = {}): Line => ({
    provider_account: account.accountId,
    rail: account.rail,
    currency: account.currency,
    account_code: balance?.account.code ?? null,
    account_name: balance?.account.name ?? null,
    line,
    kind: null,
    postings: null,
    amount,
    remark: null,
    ...over,
  })
  return [
    row("opening per books", account.opening),
    ...(balance?.movements ?? []).map(({ credit, debit, kind, postings }) =>
      row("movement", print(debit - credit, balance?.account.scale ?? 0), {
        kind,
        postings: String(postings),
      }),
    ),
    row("of which of earlier months, dated here", account.lateHere),
    row("closing per books", account.closing),
    row("dated later by the books", account.datedLater),
    row("of earlier months, dated later by the books", account.carried),
    row("running balance after the last entry", account.running),
    row("of later months, standing before it", negated(account.early)),
    row("provider's balance", account.provider, { remark: providerRemark(account) }),
    row("difference", account.difference, { remark: account.tiesOut ? null : "DOES NOT TIE OUT" }),
  ]
}

export const reconciliationRows = (accounts: ReadonlyArray<ReconciledAccount>): ReadonlyArray<Line> =>
  accounts.flatMap(rowsOf)
