/** Small histories for the oracle's own tests. */
import type {
  AccountFact,
  BookFacts,
  EntryFact,
  ExpectedBalance,
  ReceivableFact,
  ResourceFact,
} from "../Facts.ts"
import { amountOf, textOf } from "./Decimal.ts"

/** A signed amount, the resource that it belongs to, and the day of October 2026 where it matters (a decimal is the hour). */
export type Move = readonly [amount: string, related: string | null, day?: number]

const relatedOf = (name: string | null): EntryFact["related"] => {
  if (name === null) return null
  const [type = "", id = ""] = name.split(" ")
  return { type, id }
}

/** Entries are named `<accountId>-1`, `<accountId>-2` …; `related` is `"DEPOSIT d1"`. */
export const statement = (
  accountId: string,
  currency: string,
  moves: ReadonlyArray<Move>,
  opening = "0",
): AccountFact => {
  let balance = amountOf(opening)
  const entries = moves.map(([amount, related, day = 1], index): EntryFact => {
    balance += amountOf(amount)
    return {
      entryId: `${accountId}-${index + 1}`,
      type: amount.startsWith("-") ? "DEBIT" : "CREDIT",
      amount: amount.replace("-", ""),
      balanceAfter: textOf(balance),
      related: relatedOf(related),
      occurredAt: `2026-10-${String(day).padStart(2, "0")}T12:00:00Z`,
    }
  })
  return { accountId, currency, rail: "SWIFT", entries }
}

const usd = (amount: string) => ({ amount, currency: "USD" })

export const deposit = (id: string, amount: string, fee: string | null = null): ResourceFact => ({
  type: "DEPOSIT",
  id,
  status: "COMPLETED",
  accountId: "usd",
  amount: usd(amount),
  fee: fee === null ? null : usd(fee),
  transactionHash: `hash-of-${id}`,
})

export const withdrawal = (
  id: string,
  form: "money" | "flat",
  amount: string,
  fee: string,
  status = "COMPLETED",
): ResourceFact => ({
  type: "WITHDRAWAL",
  id,
  status,
  accountId: "usd",
  form,
  amount: usd(amount),
  fee: usd(fee),
  transactionHash: null,
})

/** `sell` and `buy` as `"1000 USD"`, on the accounts `usd`, `usdt` …: named as their currency in small letters. */
export const conversion = (id: string, sell: string, buy: string, fee: string): ResourceFact => {
  const money = (text: string) => {
    const [amount = "", currency = ""] = text.split(" ")
    return { amount, currency }
  }
  return {
    type: "CONVERSION",
    id,
    status: "COMPLETED",
    sellAccountId: money(sell).currency.toLowerCase(),
    sell: money(sell),
    buyAccountId: money(buy).currency.toLowerCase(),
    buy: money(buy),
    fee: money(fee),
  }
}

export type Version = readonly [
  status: ReceivableFact["versions"][number]["status"],
  principal: string,
  due: string,
  repayments?: ReadonlyArray<string>,
]

/** Versions are served on the first, second … of October; the transaction `disbursed` is named from the first. */
export const receivable = (
  receivableId: string,
  initialPrincipal: string,
  versions: ReadonlyArray<Version>,
  disbursed: string | null = null,
): ReceivableFact => ({
  receivableId,
  clientId: "c",
  currency: "USD",
  rail: "SWIFT",
  issueDate: "2026-09-30T00:00:00Z",
  initialPrincipal,
  versions: versions.map(([status, currentPrincipal, repaymentAmount, repayments = []], index) => ({
    servedAt: `2026-10-${String(index + 1).padStart(2, "0")}T00:00:00Z`,
    status,
    currentPrincipal,
    repaymentAmount,
    disbursed: disbursed === null ? null : { txId: disbursed, txTimestamp: "2026-09-30T00:00:00Z" },
    repayments: repayments.map((txId) => ({ txId, txTimestamp: "2026-10-01T00:00:00Z" })),
  })),
})

export const book = (
  accounts: ReadonlyArray<AccountFact>,
  rest: Partial<Omit<BookFacts, "settings" | "accounts">> & {
    readonly settings?: Partial<BookFacts["settings"]>
  } = {},
): BookFacts => ({
  accounts,
  resources: rest.resources ?? [],
  receivables: rest.receivables ?? [],
  reclassified: rest.reclassified ?? [],
  settings: {
    timeZone: "UTC",
    flatWithdrawalFee: "inside",
    view: "lender",
    repaymentAmount: "outstanding",
    interest: "as_stated",
    interestBetweenReads: "0",
    ...rest.settings,
  },
})

/** `{ "cash:USD": "995" }`, so that a row of the posting table reads as it stands in the design. */
export const told = (balances: ReadonlyArray<Omit<ExpectedBalance, "accountId">>): Record<string, string> =>
  Object.fromEntries(
    balances.map(({ role, currency, code, balance }) => [
      `${role}:${currency}${code === null ? "" : `:${code}`}`,
      balance,
    ]),
  )
