/**
 * The bridge from the provider's statement to the books for one month: the statement's movements by the time of its entries,
 * minus entries of this and earlier months that the books date later because they came late, plus late entries of earlier
 * months that are dated here, are the books' movements. Nothing may be left over. It covers cash alone: a late entry without
 * cash is not part of it.
 *
 * Amounts are text in the major unit of the account's currency at its scale; debit (money in) positive.
 */
import { Effect } from "effect"
import type { Book } from "../Book.ts"
import { bool, int4, nullable, type RowOf, text, uuid } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { journalNumber } from "../Format/Entry.ts"
import type { CheckQuery } from "../Reconcile/Findings.ts"
import { printed } from "../Reconcile/Printed.ts"
import type { Month } from "./Month.ts"

const accountBridgeColumns = {
  accountId: uuid,
  currency: text,
  /** Statement entries of the month. */
  entries: int4,
  /** The statement's balance before the month's first entry. */
  opening: text,
  movements: text,
  closing: text,
  /** Entries of the month that the books date to a later one. */
  lateElsewhere: text,
  /** Entries of earlier, closed months that the books date in this one. */
  lateHere: text,
  /** The opening balance before the first known entry, where this month books it. */
  openingBooked: text,
  /** The statement's entries of earlier months, and its opening balance, that the books date after this month. */
  carried: text,
  /** Zero before the books' first entry, whatever the statement says. */
  booksOpening: text,
  booksMovements: text,
  booksClosing: text,
  /** What is left over between the movements, and between the closing balances: must be zero. */
  difference: text,
  closingDifference: text,
}

/**
 * One account. `booksOpening = opening − lateHere − openingBooked − carried`,
 * `booksMovements = movements − lateElsewhere + lateHere + openingBooked`, and from both
 * `booksClosing = closing − lateElsewhere − carried`.
 */
export type AccountBridge = RowOf<typeof accountBridgeColumns>

export interface LateEntry {
  readonly accountId: string
  readonly currency: string
  readonly amount: string
  /** Null: not numbered yet. */
  readonly number: string | null
  readonly occurredAt: string
  readonly effectiveDate: string
  readonly lateFor: string
  readonly description: string
}

export interface Bridge {
  readonly book: string
  readonly period: string
  readonly accounts: ReadonlyArray<AccountBridge>
  readonly lateElsewhere: ReadonlyArray<LateEntry>
  readonly lateHere: ReadonlyArray<LateEntry>
}

const amounts = [
  "opening",
  "movements",
  "closing",
  "lateElsewhere",
  "lateHere",
  "openingBooked",
  "carried",
  "booksOpening",
  "booksMovements",
  "booksClosing",
  "difference",
  "closingDifference",
] as const

const atScale = (row: AccountBridge): AccountBridge => {
  const texts = Object.fromEntries(amounts.map((name) => [name, printed(row[name], row.currency)]))
  return { ...row, ...texts }
}

/** Accounts with any entry up to the end of the month. */
const accountBridges = Effect.fn("Close.bridge.accounts")(function* ({ book, end, period, timeZone }: Month) {
  const database = yield* Database
  const first = `${period}-01`
  const rows = yield* database.rows(
    "Close.bridge.accounts",
    accountBridgeColumns,
    (sql) => sql`
      with statement as (
        select a.account_id, a.currency, s.entries::integer as entries, coalesce(a.last_balance, 0) - s.after as closing,
          s.movements, s.known
        from mirror.accounts a
        cross join lateral (
          select count(*) filter (where x.inside) as entries, count(*) filter (where not x.after) as known,
            coalesce(sum(x.moved) filter (where x.inside), 0) as movements,
            coalesce(sum(x.moved) filter (where x.after), 0) as after
          from (
            select case e.type when 'CREDIT' then e.amount else -e.amount end as moved,
              e.occurred_at >= ${end}::text::timestamptz as after,
              e.occurred_at >= ${first}::text::timestamp at time zone ${timeZone}::text
                and e.occurred_at < ${end}::text::timestamptz as inside
            from mirror.statement_entries e
            where e.book_id = a.book_id and e.account_id = a.account_id and not e.held) x) s
        where a.book_id = ${book.bookId}),
      odd as (
        select j.partner_account_id as account_id,
          coalesce(sum(p.amount) filter (where j.source_type = 'statement_entry'
            and j.late_for = ${first}::text::date), 0) as elsewhere,
          coalesce(sum(p.amount) filter (where j.source_type = 'statement_entry'
            and j.late_for is not null and j.period = ${first}::text::date), 0) as here,
          coalesce(sum(p.amount) filter (where j.source_type = 'opening'
            and j.period = ${first}::text::date), 0) as opened,
          coalesce(sum(p.amount) filter (where j.period > ${first}::text::date
            and (j.source_type = 'opening' or j.late_for < ${first}::text::date)), 0) as carried
        from ledger.journal_entries j
        join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
        join ledger.accounts c on c.book_id = p.book_id and c.account_id = p.account_id and c.role = 'cash'
        where j.book_id = ${book.bookId} and (j.source_type = 'opening' or j.late_for is not null)
        group by j.partner_account_id),
      books as (
        select c.partner_account_id as account_id,
          coalesce(sum(b.debit - b.credit) filter (where b.period = ${first}::text::date), 0) as movements,
          coalesce(sum(b.debit - b.credit) filter (where b.period <= ${first}::text::date), 0) as closing
        from ledger.accounts c
        left join ledger.balances b on b.book_id = c.book_id and b.account_id = c.account_id
        where c.book_id = ${book.bookId} and c.role = 'cash' group by c.partner_account_id)
      select s.account_id as "accountId", s.currency, s.entries, (s.closing - s.movements)::text as opening,
        s.movements::text as movements, s.closing::text as closing,
        coalesce(o.elsewhere, 0)::text as "lateElsewhere", coalesce(o.here, 0)::text as "lateHere",
        coalesce(o.opened, 0)::text as "openingBooked", coalesce(o.carried, 0)::text as carried,
        (coalesce(b.closing, 0) - coalesce(b.movements, 0))::text as "booksOpening",
        coalesce(b.movements, 0)::text as "booksMovements",
        coalesce(b.closing, 0)::text as "booksClosing",
        (coalesce(b.movements, 0) - (s.movements - coalesce(o.elsewhere, 0) + coalesce(o.here, 0)
          + coalesce(o.opened, 0)))::text as difference,
        (coalesce(b.closing, 0) - (s.closing - coalesce(o.elsewhere, 0) - coalesce(o.carried, 0)))::text as "closingDifference"
      from statement s
      left join odd o on o.account_id = s.account_id
      left join books b on b.account_id = s.account_id
      where s.known > 0 or b.closing <> 0 or b.movements <> 0
      order by s.account_id`,
  )
  return rows.map(atScale)
})

const lateColumns = {
  elsewhere: bool,
  accountId: uuid,
  currency: text,
  amount: text,
  period: text,
  number: nullable(int4),
  occurredAt: text,
  effectiveDate: text,
  lateFor: text,
  description: text,
}

const lateRows = Effect.fn("Close.bridge.late")(function* (book: Book, period: string) {
  const database = yield* Database
  const first = `${period}-01`
  return yield* database.rows(
    "Close.bridge.late",
    lateColumns,
    (sql) => sql`
      select j.late_for = ${first}::text::date as elsewhere, j.partner_account_id as "accountId", p.currency,
        p.amount::text as amount, to_char(j.period, 'YYYY-MM') as period, n.number,
        to_char(j.occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as "occurredAt",
        j.effective_date::text as "effectiveDate", to_char(j.late_for, 'YYYY-MM') as "lateFor", j.description
      from ledger.journal_entries j
      join ledger.postings p on p.book_id = j.book_id and p.entry_id = j.entry_id
      join ledger.accounts c on c.book_id = p.book_id and c.account_id = p.account_id and c.role = 'cash'
      left join ledger.journal_numbers n on n.book_id = j.book_id and n.entry_id = j.entry_id
      where j.book_id = ${book.bookId} and j.source_type = 'statement_entry'
        and (j.late_for = ${first}::text::date or j.late_for is not null and j.period = ${first}::text::date)
      order by j.effective_date, j.partner_account_id, j.position`,
  )
})

/** Consistent where the caller's transaction is a snapshot. */
export const bridgeOf = Effect.fn("Close.bridge")(function* (month: Month) {
  const { book, period } = month
  const accounts = yield* accountBridges(month)
  const late = (yield* lateRows(book, period)).map(({ elsewhere, number, period: dated, ...entry }) => ({
    elsewhere,
    entry: {
      ...entry,
      amount: printed(entry.amount, entry.currency),
      number: number === null ? null : journalNumber(book.code, dated, number),
    } satisfies LateEntry,
  }))
  return {
    book: book.code,
    period,
    accounts,
    lateElsewhere: late.filter(({ elsewhere }) => elsewhere).map(({ entry }) => entry),
    lateHere: late.filter(({ elsewhere }) => !elsewhere).map(({ entry }) => entry),
  } satisfies Bridge
})

/** The accounts in which something is left over between the statement and the books. */
const unbridged = ({ accounts }: Bridge): ReadonlyArray<AccountBridge> =>
  accounts.filter(({ closingDifference, difference }) =>
    [difference, closingDifference].some((amount) => /[1-9]/.test(amount)),
  )

/** The check `bridge`: nothing is left over between the month's statements and the books. */
export const leftOver = ({ bookId }: Book, bridge: Bridge): CheckQuery => ({
  checks: ["bridge"],
  found: (sql) => {
    const rows = unbridged(bridge).map(({ accountId, closingDifference, currency, difference }) => ({
      id: accountId,
      message: `Between the statement of account ${accountId} and the books ${difference} ${currency} of the month's movements and ${closingDifference} ${currency} of the closing balance are left over.`,
      evidence: { accountId, currency, difference, closingDifference, period: bridge.period },
    }))
    return sql`
      select 'bridge' as check_name, ${bookId}::integer as book_id, 'account' as subject_type, r ->> 'id' as subject_id,
        true as ripe, r ->> 'message' as message, r -> 'evidence' as evidence
      from jsonb_array_elements(${JSON.stringify(rows)}::text::jsonb) r`
  },
})
