/** `difference.csv`, only with `--as-of`: per account, how the month's figures now differ from those at that time. */
import { Effect } from "effect"
import { parse, print } from "../Common/MinorUnits.ts"
import { int4, type RowOf, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { type BookAccounts, readAccounts } from "../Export/Source/Accounts.ts"
import { exactly } from "../Export/Source/Balances.ts"
import type { Account } from "../Format/Entry.ts"
import { recordedAfter } from "../Ledger/AsOf.ts"
import type { AccountBalance } from "./ReportBalances.ts"
import type { ReportScope } from "./ReportScope.ts"
import type { Row } from "./Sheet.ts"

export const differenceSheet = {
  name: "difference.csv",
  columns: {
    account_code: "text",
    account_name: "text",
    account_role: "text",
    currency: "text",
    opening_then: "figure",
    opening_now: "figure",
    closing_then: "figure",
    closing_now: "figure",
    difference: "figure",
    postings_since: "figure",
  },
} as const

interface Later {
  readonly before: bigint
  readonly within: bigint
  readonly postings: number
}

const nothing: Later = { before: 0n, within: 0n, postings: 0 }

const laterOf = (rows: ReadonlyArray<LaterRow>, { byKey }: BookAccounts): ReadonlyMap<Account, Later> => {
  const found = new Map<Account, Later>()
  for (const { account_id: id, before, postings, within } of rows) {
    const account = byKey.get(String(id))
    if (account === undefined) continue
    const held = found.get(account) ?? nothing
    found.set(account, {
      before: held.before + parse(before, account.scale),
      within: held.within + parse(within, account.scale),
      postings: held.postings + postings,
    })
  }
  return found
}

const laterColumns = {
  account_id: int4,
  before: text,
  within: text,
  postings: int4,
}

type LaterRow = RowOf<typeof laterColumns>

/** All accounts of now, with or without a difference; one that was made since stood at zero. For an as-of report. */
export const differenceRows = Effect.fn("Report.difference")(function* (
  scope: ReportScope,
  then: BookAccounts,
  balances: ReadonlyArray<AccountBalance>,
) {
  const database = yield* Database
  const accounts = yield* readAccounts(scope.book.bookId)
  const rows = yield* database.rows(
    "Report.difference",
    laterColumns,
    (sql) => sql`
      select p.account_id, count(*)::integer as postings,
        coalesce(sum(p.amount) filter (where e.period < ${scope.first}::text::date), 0)::text as before,
        coalesce(sum(p.amount) filter (where e.period = ${scope.first}::text::date), 0)::text as within
      from ledger.journal_entries e
      join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
      where e.book_id = ${scope.book.bookId} and e.period <= ${scope.first}::text::date ${recordedAfter(sql, scope.asOf)}
      group by p.account_id`,
  )
  const later = yield* exactly(() => laterOf(rows, accounts))
  const held = new Map(balances.map((balance) => [balance.account, balance]))
  const stood = new Map(
    [...then.byKey].map(([key, account]) => [accounts.byKey.get(key), held.get(account)] as const),
  )
  return accounts.ordered.map((account): Row<typeof differenceSheet.columns> => {
    const { closing, opening } = stood.get(account) ?? { closing: 0n, opening: 0n }
    const { before, postings, within } = later.get(account) ?? nothing
    const money = (minor: bigint) => print(minor, account.scale)
    return {
      account_code: account.code,
      account_name: account.name,
      account_role: account.role,
      currency: account.currency,
      opening_then: money(opening),
      opening_now: money(opening + before),
      closing_then: money(closing),
      closing_now: money(closing + before + within),
      difference: money(before + within),
      postings_since: String(postings),
    }
  })
})
