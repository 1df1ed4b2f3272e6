/** Every account of the book with its balance before the month and its movements by kind. Smallest units, debit positive. */
import { and, eq } from "drizzle-orm"
import { Effect } from "effect"
import { parse } from "../Common/MinorUnits.ts"
import type { Sql } from "../Database/Client.ts"
import { int4, type RowOf, text } from "../Database/Columns.ts"
import { accounts as ledgerAccounts } from "../Database/Tables/Ledger.ts"
import { Database } from "../Database.ts"
import { exportError } from "../Export/ExportError.ts"
import type { BookAccounts } from "../Export/Source/Accounts.ts"
import { exactly } from "../Export/Source/Balances.ts"
import type { Account } from "../Format/Entry.ts"
import { recordedAfter } from "../Ledger/AsOf.ts"
import { entriesOfMonth, type ReportScope } from "./ReportScope.ts"

/** The movements of one kind on an account; both sides positive. */
export interface Movement {
  readonly kind: string
  readonly postings: number
  readonly debit: bigint
  readonly credit: bigint
}

export interface AccountBalance {
  readonly account: Account
  readonly opening: bigint
  readonly debit: bigint
  readonly credit: bigint
  readonly closing: bigint
  readonly movements: ReadonlyArray<Movement>
}

const sumColumns = {
  account_id: int4,
  amount: text,
}

type SumRow = RowOf<typeof sumColumns>

const movementColumns = {
  account_id: int4,
  kind: text,
  postings: int4,
  debit: text,
  credit: text,
}

type MovementRow = RowOf<typeof movementColumns>

/** From monthly turnovers, less what was recorded after the report's time. `only`: a condition on accounts. */
const balancesUntil = (
  sql: Sql,
  scope: ReportScope,
  before: "previous" | "first" | "next",
  only = sql`true`,
) => {
  const months = { previous: -1, first: 0, next: 1 }[before]
  const limit = sql`(${scope.first}::text::date + ${months}::integer * interval '1 month')::date`
  const recordedSince =
    scope.asOf === null
      ? sql``
      : sql`union all
      select p.account_id, -p.amount
      from ledger.journal_entries e
      join ledger.postings p on p.book_id = e.book_id and p.entry_id = e.entry_id
      where e.book_id = ${scope.book.bookId} and e.period < ${limit} ${recordedAfter(sql, scope.asOf)}`
  return sql`
    select account_id, sum(amount)::text as amount from (
      select account_id, debit - credit as amount from ledger.balances
      where book_id = ${scope.book.bookId} and period < ${limit}
      ${recordedSince}
    ) part where ${only} group by account_id`
}

const sumsOf = (rows: ReadonlyArray<SumRow>, { byKey }: BookAccounts) => {
  const sums = new Map<Account, bigint>()
  for (const { account_id: id, amount } of rows) {
    const account = byKey.get(String(id))
    if (account !== undefined) sums.set(account, (sums.get(account) ?? 0n) + parse(amount, account.scale))
  }
  return sums
}

const movementsOf = (rows: ReadonlyArray<MovementRow>, { byKey }: BookAccounts) => {
  const byAccount = new Map<Account, Map<string, Movement>>()
  for (const { account_id: id, credit, debit, kind, postings } of rows) {
    const account = byKey.get(String(id))
    if (account === undefined) continue
    const kinds = byAccount.get(account) ?? new Map<string, Movement>()
    byAccount.set(account, kinds)
    const held = kinds.get(kind)
    kinds.set(kind, {
      kind,
      postings: (held?.postings ?? 0) + postings,
      debit: (held?.debit ?? 0n) + parse(debit, account.scale),
      credit: (held?.credit ?? 0n) + parse(credit, account.scale),
    })
  }
  return byAccount
}

/**
 * The suspense accounts with their balances at the end of the month. An account that a rule or a reclassification named may have the role suspense,
 * but is not counted as suspense.
 */
export const readSuspense = Effect.fn("Report.suspense")(function* (
  scope: ReportScope,
  accounts: BookAccounts,
) {
  const database = yield* Database
  const { accountId: id, bookId, role, ruleCode } = ledgerAccounts
  const ids = yield* database.orm("Report.suspenseAccounts", (orm) =>
    orm
      .select({ id })
      .from(ledgerAccounts)
      .where(and(eq(bookId, scope.book.bookId), eq(role, "suspense"), eq(ruleCode, ""))),
  )
  const list = ids.map((account) => account.id)
  const rows = yield* database.rows("Report.suspense", sumColumns, (sql) =>
    balancesUntil(sql, scope, "next", sql`account_id = any(${list}::integer[])`),
  )
  return { accountIds: new Set(list), sums: yield* exactly(() => sumsOf(rows, accounts)) }
})

/** Every account's balance at the beginning of the previous month. */
export const readBefore = Effect.fn("Report.before")(function* (scope: ReportScope, accounts: BookAccounts) {
  const database = yield* Database
  const rows = yield* database.rows("Report.before", sumColumns, (sql) =>
    balancesUntil(sql, scope, "previous"),
  )
  return yield* exactly(() => sumsOf(rows, accounts))
})

export const total = (amounts: ReadonlyArray<bigint>): bigint => amounts.reduce((sum, one) => sum + one, 0n)

/**
 * All accounts, in the order of the export's trial balance. Fails with `Disagrees` where the turnovers that the database
 * keeps are not the sums of their postings.
 */
export const readBalances = Effect.fn("Report.balances")(function* (
  scope: ReportScope,
  accounts: BookAccounts,
) {
  const database = yield* Database
  const before = yield* database.rows("Report.balances.opening", sumColumns, (sql) =>
    balancesUntil(sql, scope, "first"),
  )
  const after = yield* database.rows("Report.balances.closing", sumColumns, (sql) =>
    balancesUntil(sql, scope, "next"),
  )
  const moved = yield* database.rows(
    "Report.balances.movements",
    movementColumns,
    (sql) => sql`
      select p.account_id, j.kind, count(*)::integer as postings, sum(greatest(p.amount, 0))::text as debit,
        sum(greatest(-p.amount, 0))::text as credit
      from ${entriesOfMonth(sql, scope)}
      join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
      group by p.account_id, j.kind order by p.account_id, j.kind collate "C"`,
  )
  const { closings, movements, openings } = yield* exactly(() => ({
    openings: sumsOf(before, accounts),
    closings: sumsOf(after, accounts),
    movements: movementsOf(moved, accounts),
  }))
  const balances = accounts.ordered.map((account): AccountBalance => {
    const own = [...(movements.get(account)?.values() ?? [])]
    const opening = openings.get(account) ?? 0n
    const debit = total(own.map((movement) => movement.debit))
    const credit = total(own.map((movement) => movement.credit))
    return { account, opening, debit, credit, closing: opening + debit - credit, movements: own }
  })
  const wrong = balances.find(({ account, closing }) => closing !== (closings.get(account) ?? 0n))
  if (wrong === undefined) return balances
  const { code, currency, name } = wrong.account
  return yield* exportError(
    "Disagrees",
    `In the ledger, the postings of account ${code} (${name}, ${currency}) and its balances do not agree: run \`tieout reconcile --full\`. Nothing was written.`,
  )
})
