/**
 * The open items that make up the balance of a balance-sheet account beside cash: `ledger.open_items` in `drizzle/rules.sql`
 * defines the lines. The lines of an account add up to its balance.
 */
import { Effect } from "effect"
import { isIn } from "../Book/ByBook.ts"
import type { Sql } from "../Database/Client.ts"
import { int4, nullable, oneOf, type RowOf, text, uuid } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { accountColumns } from "./Register.ts"

const itemAccountColumns = {
  ...accountColumns,
  /** Major unit of `currency`, debit positive. */
  balance: text,
}

export type ItemAccount = RowOf<typeof itemAccountColumns>

export const openItemColumns = {
  accountId: int4,
  line: oneOf("item", "month"),
  /** `2026-10`: of a month's line, and of an item that is listed for one month. */
  period: nullable(text),
  /** The identifier's type for `explain`; null: a month's line. */
  itemType: nullable(text),
  itemId: nullable(uuid),
  /** Days of the accounting time zone. */
  since: text,
  last: text,
  /** Age in days at the end of `through`, or today; null: a month's line. */
  age: nullable(int4),
  amount: text,
  status: nullable(text),
  externalReference: nullable(text),
  counterparty: nullable(text),
}

/** An item, or what one month leaves on the account. Amounts in the major unit of the account's currency, debit positive. */
export type OpenItem = RowOf<typeof openItemColumns>

export interface OpenItemsScope {
  readonly bookId: number
  /** Up to the end of this month, `2026-10`; null: all. */
  readonly through: string | null
  /** Only what was recorded up to then, ISO 8601 in UTC; null: all. */
  readonly asOf: string | null
  /** One account; null: all. */
  readonly accountId: number | null
  /** A closed month, `2026-10`, to list movement by movement instead of as one line. */
  readonly drill: string | null
}

const monthOrNull = (month: string | null) => (month === null ? null : `${month}-01`)

/** The lines by account, in the order of a trial balance; within an account months first, then items, the oldest first. */
export const openItemLines = (sql: Sql, { accountId, asOf, bookId, ...months }: OpenItemsScope) => {
  const through = monthOrNull(months.through)
  return sql`
    with day as (
      select least(ledger.day_of(coalesce(${asOf}::text::timestamptz, now()), l.time_zone),
        coalesce((${through}::text::date + interval '1 month')::date - 1, 'infinity')) as today
      from ledger.locks l where l.book_id = ${bookId})
    select i.account_id as "accountId", case when i.item_id is null then 'month' else 'item' end as line,
      to_char(i.period, 'YYYY-MM') as period, i.item_type as "itemType", i.item_id as "itemId",
      i.since::text as since, i.last::text as last,
      case when i.item_id is not null then d.today - i.since end as age, i.amount::text as amount, i.status,
      i.external_reference as "externalReference", i.counterparty
    from ledger.open_items(${bookId}::integer, coalesce(${through}::text::date, 'infinity'),
      coalesce(${asOf}::text::timestamptz, 'infinity'), ${accountId}::integer,
      ${monthOrNull(months.drill)}::text::date) i
    join ledger.accounts a on a.book_id = ${bookId} and a.account_id = i.account_id
    cross join day d
    order by a.code collate "C", a.name collate "C", a.currency collate "C", a.role collate "C", a.account_id,
      i.item_id is not null, i.since, i.item_id`
}

/** All lines. Part of the caller's repeatable-read transaction, where there is one. */
export const openItems = Effect.fn("OpenItems.items")(function* (scope: OpenItemsScope) {
  const database = yield* Database
  return yield* database.rows("OpenItems.items", openItemColumns, (sql) => openItemLines(sql, scope))
})

/**
 * The books' accounts of a code that have open items, and their balances: at the end of a month (`2026-10`), or of all that is
 * booked. Without a code all of them.
 */
export const itemAccounts = Effect.fn("OpenItems.accounts")(function* (
  bookIds: ReadonlyArray<number>,
  code: string | null = null,
  through: string | null = null,
) {
  const database = yield* Database
  return yield* database.rows(
    "OpenItems.accounts",
    itemAccountColumns,
    (sql) => sql`
      select a.book_id as "bookId", a.account_id as "accountId", a.code, a.name, a.role, a.currency, b.balance::text as balance
      from ledger.accounts a
      cross join lateral ledger.balance_of(a.book_id, a.account_id,
        coalesce(${monthOrNull(through)}::text::date, 'infinity')) b
      where a.book_id ${isIn(sql, bookIds)} ${code === null ? sql`` : sql`and a.code = ${code}`}
        and ledger.open_item_reading(a.role, a.rule_code, a.name) is not null
      order by a.code collate "C", a.name collate "C", a.currency collate "C", a.account_id`,
  )
})
