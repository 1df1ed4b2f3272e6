/** The state of the book for the manifest: how far the service was read, and what is known to be wrong or missing. */
import { Effect } from "effect"
import { byBook, isIn, ofBook } from "../../Book/ByBook.ts"
import { bool, int4, int8, nullable, numeric, type RowOf, text, uuid } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import {
  nothingUnanswered,
  type Unanswered,
  unansweredFindings,
  unansweredThen,
} from "../../Reconcile/Unanswered.ts"
import { isOlderThan } from "../../Reconcile/Unread.ts"
import type { Manifest } from "../Batch/Manifest.ts"

const accountColumns = {
  bookId: int4,
  account_id: uuid,
  currency: text,
  status: text,
  entries: int8,
  last_entry_id: nullable(uuid),
  last_balance: nullable(numeric),
  balance: numeric,
  last_occurred_at: nullable(text),
  tail_read_at: nullable(text),
  balance_read_at: text,
}

const bookColumns = {
  bookId: int4,
  known_since: text,
  now: text,
  /** The day of the snapshot, or of `asOf`, in the accounting time zone. */
  today: text,
  unnumbered: int4,
  /** Accounts whose statement was never read to its end though it can be, or ends elsewhere than the balance that the service reports. */
  unread: int4,
  /** How the connection's last sync ended; null where there was none, or where it read and proved this book all the same. */
  last_sync: nullable(text),
  /** The connection's last sync could not read this book. */
  failed: bool,
  /** The day (accounting time zone) on which the reading of the statement began that was read longest ago; null for a closed month. */
  read_on: nullable(text),
}
type BookRow = RowOf<typeof bookColumns>

const plural = (count: number, one: string, many: string): string => `${count} ${count === 1 ? one : many}`

const unnumberedText = (unnumbered: number): ReadonlyArray<string> =>
  unnumbered > 0
    ? [
        `${plural(unnumbered, "journal entry without a journal number is", "journal entries without a journal number are")} left out`,
      ]
    : []

const reasonsOf = (
  { failed, last_sync: lastSync, read_on: readOn, unnumbered, unread }: BookRow,
  to: string | null,
  { findings, quarantined }: Unanswered,
): ReadonlyArray<string> => [
  ...(lastSync !== null && lastSync !== "done" ? [`the last sync has not finished (${lastSync})`] : []),
  ...(failed ? ["the last sync could not read this book"] : []),
  ...(unread > 0
    ? [`${plural(unread, "account is", "accounts are")} not read up to the balance that the service reports`]
    : []),
  ...(to !== null && readOn !== null && readOn <= to
    ? [`the statements were read on ${readOn}, before ${to} was over`]
    : []),
  ...(findings > 0 ? [`${plural(findings, "blocking finding is", "blocking findings are")} open`] : []),
  ...(quarantined > 0 ? [`${plural(quarantined, "item is", "items are")} in quarantine`] : []),
  ...unnumberedText(unnumbered),
]

/** What is known of a time that is past: how far the service had been read is kept as it is now alone. */
const reasonsThen = (
  { unnumbered }: BookRow,
  { findings, quarantined }: Unanswered,
): ReadonlyArray<string> => [
  ...(findings > 0 ? [`${plural(findings, "blocking finding was", "blocking findings were")} open`] : []),
  ...(quarantined > 0 ? [`${plural(quarantined, "item was", "items were")} in quarantine`] : []),
  ...unnumberedText(unnumbered),
]

const readAccounts = Effect.fn("Export.readFacts.accounts")(function* (bookIds: ReadonlyArray<number>) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.readFacts.accounts",
    accountColumns,
    (sql) => sql`
      select a.book_id as "bookId", a.account_id, a.currency, a.status, a.entries, a.last_entry_id, a.last_balance, a.balance,
        to_char(a.last_occurred_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as last_occurred_at,
        to_char(a.tail_read_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as tail_read_at,
        to_char(a.balance_read_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as balance_read_at
      from mirror.accounts a where a.book_id ${isIn(sql, bookIds)} order by a.account_id`,
  )
  return byBook(rows)
})

const readOf = (accounts: ReadonlyArray<RowOf<typeof accountColumns>>): Manifest["read"] =>
  accounts.map((account) => ({
    accountId: account.account_id,
    currency: account.currency,
    status: account.status,
    entries: Number(account.entries),
    lastEntryId: account.last_entry_id,
    lastOccurredAt: account.last_occurred_at,
    lastBalance: account.last_balance,
    tailReadAt: account.tail_read_at,
    balance: account.balance,
    balanceReadAt: account.balance_read_at,
  }))

export interface Facts {
  readonly knownSince: string
  /** The snapshot's time, which is the batch's. */
  readonly createdAt: string
  /** The day of that time, or of the time that it is as of, in the book's time zone. */
  readonly createdOn: string
  readonly reasons: ReadonlyArray<string>
  readonly read: Manifest["read"]
}

/** By book. `to` is the last day of the scope, where it has one; `asOf`: what was wrong or missing then. */
export const factsOfBooks = Effect.fn("Export.factsOfBooks")(function* (
  bookIds: ReadonlyArray<number>,
  to: string | null,
  asOf: string | null = null,
) {
  const database = yield* Database
  const books = yield* database.rows(
    "Export.readFacts",
    bookColumns,
    (sql) => sql`
      select b.book_id as "bookId",
        to_char(b.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as known_since,
        to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as now,
        ledger.day_of(coalesce(${asOf}::text::timestamptz, now()), l.time_zone)::text as today,
        (select count(*)::integer from ledger.unnumbered u
          join ledger.journal_entries j on j.book_id = u.book_id and j.entry_id = u.entry_id
          where u.book_id = b.book_id and j.recorded_at <= coalesce(${asOf}::text::timestamptz, 'infinity')) as unnumbered,
        (select count(*)::integer from mirror.accounts a
          where a.book_id = b.book_id
            and (a.balance <> coalesce(a.last_balance, 0) or a.tail_read_at is null and not exists (
              -- That it is gone is a finding, which a person may have answered for.
              select 1 from reconcile.statement_standing s
              where s.book_id = a.book_id and s.account_id = a.account_id and s.gone))) as unread,
        case when not coalesce((r.summary ->> 'proved')::boolean, false) or sync.failed_to_read(r.summary, b.code)
            or exists (
              select 1 from reconcile.statement_standing s
              where s.book_id = b.book_id and not s.gone and ${isOlderThan(sql, sql`r`)})
            or exists (
              select 1 from sync.stream_reads s
              where s.book_id = b.book_id and s.stream = 'accounts' and ${isOlderThan(sql, sql`r`)})
            then r.state end as last_sync,
        coalesce(sync.failed_to_read(r.summary, b.code), false) as failed,
        -- By the service's clock where it stated one, and by ours where that is behind: as a close counts it. Of a closed month each
        -- was read after it, or a person has answered for it.
        case when l.closed_through >= date_trunc('month', ${to}::text::date) then null else (
          select ledger.day_of(min(least(a.tail_read_at, s.began_at)), l.time_zone)::text
          from mirror.accounts a
          join reconcile.statement_standing s on s.book_id = a.book_id and s.account_id = a.account_id and not s.gone
          where a.book_id = b.book_id) end as read_on
      from mirror.books b
      join ledger.locks l on l.book_id = b.book_id
      left join lateral sync.last_sync(b.connection) r on true
      where b.book_id ${isIn(sql, bookIds)}`,
  )
  const accounts = yield* readAccounts(bookIds)
  const unanswered = yield* asOf === null
    ? unansweredFindings(bookIds, to)
    : unansweredThen(bookIds, to, asOf)
  return new Map(
    books.map((book): readonly [number, Facts] => {
      const open = unanswered.get(book.bookId) ?? nothingUnanswered
      return [
        book.bookId,
        {
          knownSince: book.known_since,
          createdAt: book.now,
          createdOn: book.today,
          reasons: asOf === null ? reasonsOf(book, to, open) : reasonsThen(book, open),
          read: readOf(accounts.of(book)),
        },
      ]
    }),
  )
})

/** Of one book. */
export const readFacts = (bookId: number, to: string | null) =>
  Effect.map(factsOfBooks([bookId], to), (facts) => ofBook(facts, bookId))
