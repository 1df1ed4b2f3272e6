/** The service's accounts as last listed, and how far each one's statement is known. */
import { Effect, Option } from "effect"
import type { Book } from "../Book.ts"
import { traced } from "../Common/Effects/Traced.ts"
import type { Amount } from "../Common/Money.ts"
import * as Money from "../Common/Money.ts"
import { bool, int8, nullable, numeric, text, uuid } from "../Database/Columns.ts"
import { columnsOf, plainArray, textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { Account } from "../Partner.ts"
import { heldFrom } from "./StatementEntries.ts"

/** The head of a statement, which the next entry has to continue. Balances in the account's currency, major unit. */
export interface StatementHead {
  /** Entries that are mirrored and posted: the position of the last one. */
  readonly entries: bigint
  readonly lastBalance: Option.Option<Amount>
  /** The number of held entries: the next held one takes the place after them. */
  readonly held: bigint
}

export interface MirroredAccount extends StatementHead {
  readonly accountId: string
  readonly currency: string
  readonly paymentRails: string
  readonly status: string
  /** Whether the list of accounts showed it when the list was last read completely. */
  readonly listed: boolean
  /** Whether its statement was ever read to its end. */
  readonly wasRead: boolean
  /** The balance that the service reports. */
  readonly balance: Amount
}

const accountColumns = {
  account_id: uuid,
  currency: text,
  payment_rails: text,
  status: text,
  listed: bool,
  was_read: bool,
  balance: numeric,
  entries: int8,
  last_balance: nullable(numeric),
  held: int8,
}

const made = Effect.gen(function* () {
  const database = yield* Database

  const read = traced("Mirror.Accounts.read")(function* (book: Book, ids: ReadonlyArray<string> | null) {
    const rows = yield* database.rows(
      "Mirror.Accounts.read",
      accountColumns,
      (sql) => sql`
          select a.account_id, a.currency, a.payment_rails, a.status, a.unlisted_since is null as listed,
            a.tail_read_at is not null as was_read, a.balance,
            a.entries, a.last_balance, (
              select coalesce(max(s.position) - ${heldFrom}::bigint, 0) from mirror.statement_entries s
              where s.book_id = a.book_id and s.account_id = a.account_id and s.position >= ${heldFrom}) as held
          from mirror.accounts a
          where a.book_id = ${book.bookId} ${ids === null ? sql`` : sql`and a.account_id = any (${plainArray(sql, ids, "uuid")})`}
          order by a.account_id`,
    )
    return rows.map(
      (row): MirroredAccount => ({
        accountId: row.account_id,
        currency: row.currency,
        paymentRails: row.payment_rails,
        status: row.status,
        listed: row.listed,
        wasRead: row.was_read,
        balance: Money.fromTrusted(row.balance),
        entries: row.entries,
        lastBalance: Option.map(Option.fromNullable(row.last_balance), Money.fromTrusted),
        held: row.held,
      }),
    )
  })

  const all = (book: Book) => read(book, null)

  /** Those with these identifiers: each is looked up, however many the book has. */
  const some = (book: Book, ids: Iterable<string>) => read(book, [...ids])

  const one = (book: Book, accountId: string) =>
    Effect.map(read(book, [accountId]), ([account]) => Option.fromNullable(account))

  /**
   * Part of the caller's transaction. `readAt` is when the request was sent, ISO 8601, our clock. An account keeps its currency once
   * something of it is booked; before, one wrong answer would keep its entries out for good.
   */
  const put = traced("Mirror.Accounts.put")(function* (
    book: Book,
    runId: number,
    readAt: string,
    accounts: ReadonlyArray<Account>,
  ) {
    if (accounts.length === 0) return
    const rows = [...new Map(accounts.map((account) => [account.accountId, account])).values()].sort(
      (a, b) => (a.accountId < b.accountId ? -1 : 1),
    )
    yield* database.execute("Mirror.Accounts.put", (sql) => {
      const { text } = columnsOf(sql, rows)
      return sql`
          insert into mirror.accounts as a
            (book_id, account_id, currency, payment_rails, status, balance, balance_read_at, raw, run_id)
          select ${book.bookId}, t.account_id::uuid, t.currency, t.payment_rails, t.status, t.balance::numeric,
            ${readAt}, t.raw::json, ${runId}
          from unnest(${text((row) => row.accountId)}, ${text((row) => row.currency)},
            ${text((row) => row.paymentRails)}, ${text((row) => row.status)},
            ${text((row) => Money.toText(row.balance))}, ${text((row) => row.raw)})
            as t (account_id, currency, payment_rails, status, balance, raw)
          on conflict (book_id, account_id) do update set
            status = excluded.status, payment_rails = excluded.payment_rails, balance = excluded.balance,
            balance_read_at = excluded.balance_read_at, raw = excluded.raw, run_id = excluded.run_id,
            currency = case when a.currency <> excluded.currency and a.entries = 0 and not exists (
                select from ledger.accounts l where l.book_id = a.book_id and l.partner_account_id = a.account_id)
              then excluded.currency else a.currency end`
    })
  })

  /** Part of the caller's transaction: the list of accounts was read completely, and shows these. */
  const listed = traced("Mirror.Accounts.listed")(function* (book: Book, ids: ReadonlySet<string>) {
    yield* database.execute(
      "Mirror.Accounts.listed",
      (sql) => sql`
          update mirror.accounts a set unlisted_since = case when a.unlisted_since is null then now() end
          -- Those of which it is another than before.
          where a.book_id = ${book.bookId}
            and (a.unlisted_since is not null) = (a.account_id::text in (select i from unnest(${textArray(sql, [...ids])}) i))`,
    )
  })

  return { all, some, one, put, listed }
})

export class MirrorAccounts extends Effect.Service<MirrorAccounts>()("tieout/Mirror/Accounts", {
  effect: made,
}) {
  static readonly made = Effect.map(made, (parts) => new MirrorAccounts(parts))
}
