/**
 * The bridge from the provider's statement to the books for one month: the statement's movements by the time of its entries,
 * minus entries of this and earlier months that the books date later because they came late, plus late entries of earlier
 * months that are dated here, are the books' movements. Nothing may be left over. It covers cash alone: a late entry without
 * cash is not part of it.
 *
 * Amounts are text in the major unit of the account's currency at its scale; debit (money in) positive.
 */
import { Effect } from "effect"
import { byBook } from "../Book/ByBook.ts"
import { printed } from "../Common/AmountText.ts"
import { int4, type RowOf, text, uuid } from "../Database/Columns.ts"
import { plainArray, textArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { CheckQuery } from "../Reconcile/Findings.ts"
import { type LateEntry, lateEntries } from "./LateEntries.ts"
import type { Month } from "./Month.ts"

const accountBridgeColumns = {
  bookId: int4,
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
export type AccountBridge = Omit<RowOf<typeof accountBridgeColumns>, "bookId">

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

const atScale = <A extends AccountBridge>(row: A): A => {
  const texts = Object.fromEntries(amounts.map((name) => [name, printed(row[name], row.currency)]))
  return { ...row, ...texts }
}

/**
 * Accounts of which any posted entry is `known` up to the end of the month. Entries count from 1; those before the first known one, which a
 * backfill found, stand at 0 and below. Statements are read from the month's first moment on. Materialized, or the server may read all
 * journals once for each book.
 */
const accountBridges = Effect.fn("Close.bridge.accounts")(function* (
  months: ReadonlyArray<Month>,
  period: string,
) {
  const database = yield* Database
  const first = `${period}-01`
  const ids = months.map(({ book }) => String(book.bookId))
  const ends = months.map(({ end }) => end)
  const zones = months.map(({ timeZone }) => timeZone)
  const rows = yield* database.rows(
    "Close.bridge.accounts",
    accountBridgeColumns,
    (sql) => sql`
      with months as materialized (
        select m.book_id, m.ends, ledger.begin_of_day(${first}::text::date, m.zone) as begins
        from unnest(${plainArray(sql, ids, "int4")}, ${plainArray(sql, ends, "timestamptz")}, ${textArray(sql, zones)})
          as m (book_id, ends, zone)),
      statement as (
        select a.book_id, a.account_id, a.currency, coalesce(s.entries, 0)::integer as entries,
          coalesce(a.last_balance, 0) - coalesce(s.after, 0) as closing, coalesce(s.movements, 0) as movements,
          case when a.entries > coalesce(s.later, 0) then true else exists (
            select from mirror.statement_entries o
            where o.book_id = a.book_id and o.account_id = a.account_id and o.position <= 0 and o.occurred_at < m.ends) end as known
        from months m
        join mirror.accounts a on a.book_id = m.book_id
        left join lateral (
          select e.account_id, count(*) filter (where e.occurred_at < m.ends) as entries,
            count(*) filter (where e.occurred_at >= m.ends) as later,
            sum(case e.type when 'CREDIT' then e.amount else -e.amount end) filter (where e.occurred_at < m.ends) as movements,
            sum(case e.type when 'CREDIT' then e.amount else -e.amount end) filter (where e.occurred_at >= m.ends) as after
          from mirror.statement_entries e
          where e.book_id = m.book_id and e.occurred_at >= m.begins and not e.held
            -- No time zone begins the month earlier: this says how few they are before the books are looked at.
            and e.occurred_at >= ${first}::text::timestamp at time zone 'UTC' - interval '1 day'
          group by e.account_id) s on s.account_id = a.account_id),
      odd as materialized (
        select j.book_id, j.partner_account_id as account_id,
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
        where j.book_id in (select m.book_id from months m) and (j.source_type = 'opening' or j.late_for is not null)
        group by j.book_id, j.partner_account_id),
      books as materialized (
        select c.book_id, c.partner_account_id as account_id,
          coalesce(sum(b.debit - b.credit) filter (where b.period = ${first}::text::date), 0) as movements,
          coalesce(sum(b.debit - b.credit) filter (where b.period <= ${first}::text::date), 0) as closing
        from ledger.accounts c
        left join ledger.balances b on b.book_id = c.book_id and b.account_id = c.account_id
        where c.book_id in (select m.book_id from months m) and c.role = 'cash' group by c.book_id, c.partner_account_id)
      select s.book_id as "bookId", s.account_id as "accountId", s.currency, s.entries, (s.closing - s.movements)::text as opening,
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
      left join odd o on o.book_id = s.book_id and o.account_id = s.account_id
      left join books b on b.book_id = s.book_id and b.account_id = s.account_id
      where s.known or b.closing <> 0 or b.movements <> 0
      order by s.account_id`,
  )
  return rows.map(atScale)
})

/** The bridges of months of one period, by `bookId`. Consistent where the caller's transaction is a snapshot. */
export const bridgesOf = Effect.fn("Close.bridges")(function* (months: ReadonlyArray<Month>, period: string) {
  const accounts = byBook(yield* accountBridges(months, period))
  const late = yield* lateEntries(months, period)
  const lateIn = ({ book }: Month, inLaterMonths: boolean) =>
    late.of(book).flatMap(({ elsewhere, entry }) => (elsewhere === inLaterMonths ? [entry] : []))
  const bridges = months.map((month): readonly [number, Bridge] => [
    month.book.bookId,
    {
      book: month.book.code,
      period,
      accounts: accounts.of(month.book).map(({ bookId: _, ...account }) => account),
      lateElsewhere: lateIn(month, true),
      lateHere: lateIn(month, false),
    },
  ])
  return new Map(bridges)
})

/** The bridge of one month. */
export const bridgeOf = Effect.fn("Close.bridge")(function* (month: Month) {
  const { book, period } = month
  const bridges = yield* bridgesOf([month], period)
  return bridges.get(book.bookId) ?? (yield* Effect.dieMessage(`book ${book.code} has no bridge`))
})

/** The accounts in which something is left over between the statement and the books. */
const unbridged = ({ accounts }: Bridge): ReadonlyArray<AccountBridge> =>
  accounts.filter(({ closingDifference, difference }) =>
    [difference, closingDifference].some((amount) => /[1-9]/.test(amount)),
  )

/** The check `bridge`: nothing is left over between the months' statements and the books. */
export const leftOver = (bridges: ReadonlyMap<number, Bridge>): CheckQuery => ({
  checks: ["bridge"],
  found: (sql) => {
    const rows = [...bridges].flatMap(([bookId, bridge]) =>
      unbridged(bridge).map(({ accountId, closingDifference, currency, difference }) => ({
        book: bookId,
        id: accountId,
        message: `Between the statement of account ${accountId} and the books ${difference} ${currency} of the month's movements and ${closingDifference} ${currency} of the closing balance are left over.`,
        evidence: { accountId, currency, difference, closingDifference, period: bridge.period },
      })),
    )
    return sql`
      select 'bridge' as check_name, (r ->> 'book')::integer as book_id, 'account' as subject_type, r ->> 'id' as subject_id,
        true as ripe, r ->> 'message' as message, r -> 'evidence' as evidence
      from jsonb_array_elements(${JSON.stringify(rows)}::text::jsonb) r`
  },
})
