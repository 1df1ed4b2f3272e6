/** Whether a closed month still agrees with its close: the hash, its chain, and every account's balances. */
import { Effect } from "effect"
import { printed } from "../Common/AmountText.ts"
import { count, counted } from "../Common/Text.ts"
import { arrayOf, bool, int4, nullable, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { closesOf, type KeptClose, standingClose } from "./CloseRecords.ts"
import { digestOf } from "./Digest.ts"
import { lockedWith } from "./Locked.ts"
import type { Month } from "./Month.ts"

export interface Agreement {
  readonly book: string
  readonly period: string
  /** Null if there is nothing to compare with: see `locked`, or the month was closed without Tieout. */
  readonly close: KeptClose | null
  /** Set if the close of a later month locked this one, so that nothing can differ. */
  readonly locked: string | null
  readonly hash: string
  /** If entries of the month are archived: how many, and in which file. The hash is then that of the close. */
  readonly archived: { readonly entries: number; readonly file: string } | null
  readonly accounts: number
  /** What differs, and where; empty: the month agrees. */
  readonly differences: ReadonlyArray<string>
  /** Accounts that the chart or a rule calls otherwise now: their code and name when the month was closed, and now. */
  readonly renamed: ReadonlyArray<Renamed>
}

interface Renamed {
  readonly closedAs: string
  readonly now: string
}

const balanceColumns = {
  account: text,
  currency: text,
  differs: bool,
  /** As `CODE NAME`; null: not kept by the close. */
  closedAs: nullable(text),
  now: text,
  kept: arrayOf(nullable(text)),
  found: arrayOf(nullable(text)),
}

/**
 * Turnover comes from the postings of the month, the closing balance from the turnover of all months. Entries are found by the numbers
 * of the month, one by one: the journal has no index of months, and a proof of all closes would go through all of it for each.
 */
const balances = Effect.fn("Close.agreement.balances")(function* ({ book, period }: Month, sequence: number) {
  const database = yield* Database
  const first = `${period}-01`
  return yield* database.rows(
    "Close.agreement.balances",
    balanceColumns,
    (sql) => sql`
      with kept as (
        select account_id, code, name, currency, debit, credit, balance from ledger.close_balances
        where book_id = ${book.bookId} and sequence = ${sequence}),
      posted as (
        select s.account_id, sum(s.debit) as debit, sum(s.credit) as credit
        from (
          select p.account_id, greatest(p.amount, 0) as debit, greatest(-p.amount, 0) as credit
          from ledger.entry_numbers n
          cross join lateral (
            select p.account_id, p.amount from ledger.postings p
            where p.book_id = n.book_id and p.entry_id = n.entry_id offset 0) p
          where n.book_id = ${book.bookId} and n.period = ${first}::text::date
          union all
          select t.account::integer, t.debit, t.credit from ledger.archived_turnover t
          where t.book_id = ${book.bookId} and t.period = ${first}::text::date and t.basis = 'native') s
        group by s.account_id),
      balanced as (
        select b.account_id, sum(b.debit - b.credit) as balance from ledger.balances b
        where b.book_id = ${book.bookId} and b.period <= ${first}::text::date group by b.account_id)
      select coalesce(k.code, a.code, '?') as account, coalesce(k.currency, a.currency, '') as currency,
        coalesce(k.debit, 0) <> coalesce(p.debit, 0) or coalesce(k.credit, 0) <> coalesce(p.credit, 0)
          or coalesce(k.balance, 0) <> coalesce(b.balance, 0) or coalesce(k.currency <> coalesce(a.currency, ''), false) as differs,
        k.code || ' ' || k.name as "closedAs", coalesce(a.code || ' ' || a.name, '?') as now,
        array[k.debit::text, k.credit::text, k.balance::text] as kept,
        array[p.debit::text, p.credit::text, b.balance::text] as found
      from kept k
      full join posted p on p.account_id = k.account_id
      full join balanced b on b.account_id = coalesce(k.account_id, p.account_id)
      left join ledger.accounts a on a.book_id = ${book.bookId}
        and a.account_id = coalesce(k.account_id, p.account_id, b.account_id)
      order by 1, 2`,
  )
})

const archivedOf = Effect.fn("Close.agreement.archived")(function* ({ book, period }: Month) {
  const database = yield* Database
  const [row] = yield* database.rows(
    "Close.agreement.archived",
    { entries: int4, file: text },
    (sql) => sql`
      select sum(m.entries)::integer as entries, string_agg(a.file, ', ' order by a.year) as file
      from ledger.archived_months m
      join ledger.archives a on a.book_id = m.book_id and a.year = m.year
      where m.book_id = ${book.bookId} and m.period = ${`${period}-01`}::text::date having count(*) > 0`,
  )
  return row ?? null
})

const figures = (values: ReadonlyArray<string | null>, currency: string): string => {
  const [debit = "0", credit = "0", balance = "0"] = values.map((value) => printed(value ?? "0", currency))
  return `debit ${debit}, credit ${credit}, balance ${balance}`
}

const inChain = (closes: ReadonlyArray<KeptClose>, close: KeptClose): ReadonlyArray<string> => {
  const before = closes.findLast(({ action, sequence }) => action === "close" && sequence < close.sequence)
  return (before?.hash ?? null) === close.previousHash
    ? []
    : [
        `The close does not follow the one before it: it names ${close.previousHash ?? "none"}, that one is ${before?.hash ?? "not there"}.`,
      ]
}

/** For a closed month; consistent where the caller's transaction is a snapshot. */
export const agreementOf = Effect.fn("Close.agreement")(function* (month: Month) {
  const { book, period } = month
  const closes = yield* closesOf(book)
  const close = standingClose(closes, period) ?? null
  const archived = yield* archivedOf(month)
  const found = yield* digestOf(book, period, close?.previousHash ?? null)
  // The stored hash, for a journal whose entries are archived: it was proved before they left. Their number and sums are still
  // proved.
  const digest =
    archived === null
      ? found
      : { hash: close?.hash ?? found.hash, entries: found.entries + BigInt(archived.entries) }
  const locked = close === null ? yield* lockedWith(month) : null
  const result = { book: book.code, period, close, locked, hash: digest.hash, archived }
  if (close === null) {
    const differences =
      locked === null ? [`${period} of book ${book.code} is closed, but nothing is kept of its close.`] : []
    return { ...result, accounts: 0, differences, renamed: [] } satisfies Agreement
  }
  const rows = yield* balances(month, close.sequence)
  const differences = [
    ...inChain(closes, close),
    ...(digest.entries === close.entries
      ? []
      : [
          `The month has ${counted(digest.entries, "journal entry", "journal entries")}; ${count(close.entries)} ${close.entries === 1n ? "was" : "were"} closed.`,
        ]),
    ...(digest.hash === close.hash
      ? []
      : [`The journal's hash is ${digest.hash}; the close kept ${close.hash}.`]),
    ...rows
      .filter(({ differs }) => differs)
      .map(
        ({ account, currency, found, kept }) =>
          `Account ${account} (${currency}): closed with ${figures(kept, currency)}; now ${figures(found, currency)}.`,
      ),
  ]
  const renamed = rows.flatMap(({ closedAs, now }) =>
    closedAs === null || closedAs === now ? [] : [{ closedAs, now }],
  )
  return { ...result, accounts: rows.length, differences, renamed } satisfies Agreement
})
