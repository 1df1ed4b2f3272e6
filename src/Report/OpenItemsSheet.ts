/**
 * `open-items.csv`: the open items of every balance-sheet account beside cash at the end of the month: items in flight one by
 * one, and a line per closed month for what passes through. A line `closing` ends each account with its balance, the sum of
 * its lines, in a column of its own. The
 * status is the service's at the close, where the month is closed, or else its latest.
 */
import { Effect, Stream } from "effect"
import { parse, print } from "../Common/MinorUnits.ts"
import { Database } from "../Database.ts"
import type { BookAccounts } from "../Export/Source/Accounts.ts"
import { exactly } from "../Export/Source/Balances.ts"
import type { Account } from "../Format/Entry.ts"
import { type OpenItem, openItemColumns, openItemLines } from "../Inquiry/OpenItems.ts"
import type { AccountBalance } from "./ReportBalances.ts"
import type { ReportScope } from "./ReportScope.ts"
import type { Row } from "./Sheet.ts"

export const openItemsSheet = {
  name: "open-items.csv",
  columns: {
    account_code: "text",
    account_name: "text",
    account_role: "text",
    currency: "text",
    line: "text",
    period: "text",
    item_type: "text",
    item_id: "text",
    since: "text",
    age_days: "figure",
    amount: "figure",
    balance: "figure",
    status: "text",
    external_reference: "text",
    counterparty: "text",
  },
} as const

export type OpenItemRow = Row<typeof openItemsSheet.columns>

/** The items that wait at the end of the month. */
export interface Waiting {
  /** Entries in suspense. */
  readonly suspense: number
  /** Conversions in transit, each once. */
  readonly transit: number
}

/** What is in flight at the end of the month, item by item. */
export interface InFlight {
  /** The first of them, for the page. */
  readonly first: ReadonlyArray<OpenItemRow>
  readonly count: number
}

/** What passes through in an open month is listed movement by movement as well, and is of that month. */
const isInFlight = ({ line, period }: OpenItem): boolean => line === "item" && period === null

/** Counts as the lines pass, and keeps the first items in flight. */
const counter = (suspenseAccounts: ReadonlySet<number>, keep: number) => {
  let suspense = 0
  let flying = 0
  const conversions = new Set<string>()
  const first: Array<OpenItemRow> = []
  return {
    take: (role: string, item: OpenItem, row: OpenItemRow): void => {
      const { accountId, itemId, line } = item
      if (line === "item" && suspenseAccounts.has(accountId)) suspense += 1
      if (line === "item" && role === "conversions_in_transit" && itemId !== null) conversions.add(itemId)
      if (!isInFlight(item)) return
      flying += 1
      if (first.length < keep) first.push(row)
    },
    waiting: (): Waiting => ({ suspense, transit: conversions.size }),
    inFlight: (): InFlight => ({ first, count: flying }),
  }
}

const headOf = ({ code, currency, name, role }: Account) => ({
  account_code: code,
  account_name: name,
  account_role: role,
  currency,
})

const rowOf = (account: Account, item: OpenItem, amount: bigint): OpenItemRow => ({
  ...headOf(account),
  line: item.line,
  period: item.period,
  item_type: item.itemType,
  item_id: item.itemId,
  since: item.since,
  age_days: item.age === null ? null : String(item.age),
  amount: print(amount, account.scale),
  balance: null,
  status: item.status,
  external_reference: item.externalReference,
  counterparty: item.counterparty,
})

const closingOf = (account: Account, closing: bigint): OpenItemRow => ({
  ...headOf(account),
  line: "closing",
  period: null,
  item_type: null,
  item_id: null,
  since: null,
  age_days: null,
  amount: null,
  balance: print(closing, account.scale),
  status: null,
  external_reference: null,
  counterparty: null,
})

/** Adds up the lines of each account as they arrive, and ends the account with their sum. */
const walk = (
  { byKey }: BookAccounts,
  closings: ReadonlyMap<Account, bigint>,
  seen: (role: string, item: OpenItem, row: OpenItemRow) => void,
) => {
  let current: Account | undefined
  let sum = 0n
  const end = (): ReadonlyArray<OpenItemRow> => {
    const held = current
    if (held === undefined) return []
    if (sum !== (closings.get(held) ?? 0n))
      throw new Error(`the open items of ${held.code} are not its balance`)
    return [closingOf(held, sum)]
  }
  const take = (item: OpenItem): ReadonlyArray<OpenItemRow> => {
    const account = byKey.get(String(item.accountId))
    if (account === undefined) throw new Error(`ledger account ${item.accountId} is not one of the book's`)
    const ended = account === current ? [] : end()
    if (account !== current) sum = 0n
    current = account
    const amount = parse(item.amount, account.scale)
    sum += amount
    const row = rowOf(account, item, amount)
    seen(account.role, item, row)
    return [...ended, row]
  }
  return { take, end }
}

/**
 * The rows, and once all have been read what they count, and the first `keep` items in flight. A defect where the lines of an account do not add up to its closing
 * balance. `suspenseAccounts`: by their numbers in the ledger.
 */
export const openItemRows = (
  scope: ReportScope,
  accounts: BookAccounts,
  balances: ReadonlyArray<AccountBalance>,
  suspenseAccounts: ReadonlySet<number>,
  keep: number,
) => {
  const counted = counter(suspenseAccounts, keep)
  const rows = Stream.unwrap(
    Effect.map(Database, (database) => {
      const closings = new Map(balances.map(({ account, closing }) => [account, closing] as const))
      const { end, take } = walk(accounts, closings, counted.take)
      const { asOf, book, period } = scope
      return database
        .rowStream("Report.openItems", openItemColumns, (sql) =>
          openItemLines(sql, { bookId: book.bookId, through: period, asOf, accountId: null, drill: null }),
        )
        .pipe(
          Stream.chunks,
          Stream.mapEffect((chunk) => exactly(() => [...chunk].flatMap(take))),
          Stream.concat(Stream.fromEffect(exactly(end))),
        )
    }),
  )
  return { rows, waiting: counted.waiting, inFlight: counted.inFlight }
}
