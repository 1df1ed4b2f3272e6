/** The balance of cash accounts at the end of every day of the month, for the charts. Smallest units. */
import { Effect } from "effect"
import { parse } from "../Common/MinorUnits.ts"
import { int4, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import type { BookAccounts } from "../Export/Source/Accounts.ts"
import { exactly } from "../Export/Source/Balances.ts"
import type { AccountBalance } from "./ReportBalances.ts"
import { entriesOfMonth, type ReportScope } from "./ReportScope.ts"

export interface DailyBalances {
  readonly balance: AccountBalance
  /** The opening, and then one per day. */
  readonly points: ReadonlyArray<bigint>
}

const postingsOf = ({ movements }: AccountBalance): number =>
  movements.reduce((sum, { postings }) => sum + postings, 0)

/** The busiest accounts, at most `most`, in the order of the trial balance. */
const busiest = (balances: ReadonlyArray<AccountBalance>, most: number): ReadonlyArray<AccountBalance> => {
  const cash = balances.filter(
    ({ account, movements, opening }) => account.role === "cash" && (opening !== 0n || movements.length > 0),
  )
  const chosen = new Set([...cash].sort((a, b) => postingsOf(b) - postingsOf(a)).slice(0, most))
  return cash.filter((balance) => chosen.has(balance))
}

const dayColumns = {
  account_id: int4,
  day: int4,
  amount: text,
}

const pointsOf = (
  opening: bigint,
  days: number,
  moved: ReadonlyMap<number, bigint>,
): ReadonlyArray<bigint> => {
  const points = [opening]
  for (let day = 1; day <= days; day += 1) points.push((points[day - 1] ?? 0n) + (moved.get(day) ?? 0n))
  return points
}

export const readDaily = Effect.fn("Report.daily")(function* (
  scope: ReportScope,
  { byKey }: BookAccounts,
  balances: ReadonlyArray<AccountBalance>,
  most: number,
) {
  const database = yield* Database
  const chosen = busiest(balances, most)
  const rows = yield* database.rows(
    "Report.daily",
    dayColumns,
    (sql) => sql`
      select p.account_id, extract(day from j.effective_date)::integer as day, sum(p.amount)::text as amount
      from ${entriesOfMonth(sql, scope)}
      join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
      join ledger.accounts a on a.book_id = p.book_id and a.account_id = p.account_id and a.role = 'cash'
      group by p.account_id, j.effective_date`,
  )
  const days = Number(scope.last.slice(8))
  return yield* exactly(() =>
    chosen.map((balance): DailyBalances => {
      const moved = new Map<number, bigint>()
      for (const { account_id: id, amount, day } of rows) {
        if (byKey.get(String(id)) !== balance.account) continue
        moved.set(day, (moved.get(day) ?? 0n) + parse(amount, balance.account.scale))
      }
      return { balance, points: pointsOf(balance.opening, days, moved) }
    }),
  )
})
