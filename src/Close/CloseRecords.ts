/** Stores closes and reopenings: `ledger.closes`, `ledger.close_balances` and the state of the period. */
import { Effect, Schema } from "effect"
import { byBook } from "../Book/ByBook.ts"
import type { Book } from "../Book.ts"
import type { Sql } from "../Database/Client.ts"
import { int4, int8, jsonOf, nullable, oneOf, type RowOf, text } from "../Database/Columns.ts"
import { closes as keptCloses } from "../Database/Tables/Close.ts"
import { plainArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import type { Digest } from "./Digest.ts"
import { osUser } from "./Person.ts"

const Accepted = Schema.Struct({
  id: Schema.String,
  what: Schema.String,
  reason: Schema.String,
  /** A digest of the finding's evidence, where the acceptance holds for later months until the digest changes. */
  evidence: Schema.optionalWith(Schema.String, { exact: true }),
  /**
   * What the finding said then, where it is about one day (`YYYY-MM-DD`, in the book's time zone) or one amount. Closes of earlier
   * versions have none of these.
   */
  subject: Schema.optionalWith(Schema.String, { exact: true }),
  date: Schema.optionalWith(Schema.String, { exact: true }),
  currency: Schema.optionalWith(Schema.String, { exact: true }),
  amount: Schema.optionalWith(Schema.String, { exact: true }),
})

/** A finding that a person accepted at a close. */
export type Accepted = typeof Accepted.Type

const keptCloseColumns = {
  bookId: int4,
  sequence: int4,
  action: oneOf("close", "reopen"),
  /** `2026-10` */
  period: text,
  hash: nullable(text),
  previousHash: nullable(text),
  entries: int8,
  who: text,
  /** The users of operating system and database that were logged in. */
  osUser: text,
  databaseUser: text,
  /** ISO 8601, our clock. */
  at: text,
  reason: nullable(text),
  accepted: jsonOf(Schema.Array(Accepted)),
  /** SHA-256 over this record, chained to the one before: `ledger.record_hash`. Null: an earlier version wrote it. */
  recordHash: nullable(text),
}

/** A close or a reopening. */
export type KeptClose = Omit<RowOf<typeof keptCloseColumns>, "bookId">

/** All closes and reopenings of the books, the oldest first. */
export const closesOfBooks = Effect.fn("Close.closesOfBooks")(function* (books: ReadonlyArray<Book>) {
  const database = yield* Database
  const ids = books.map(({ bookId }) => String(bookId))
  const rows = yield* database.rows(
    "Close.closesOf",
    keptCloseColumns,
    (sql) => sql`
      select book_id as "bookId", sequence, action, to_char(period, 'YYYY-MM') as period, hash,
        previous_hash as "previousHash", entries, who, os_user as "osUser", database_user as "databaseUser",
        to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at, reason, accepted,
        record_hash as "recordHash"
      from ledger.closes where book_id = any (${plainArray(sql, ids, "int4")}) order by book_id, sequence`,
  )
  return byBook(rows)
})

export const closesOf = (book: Book) =>
  Effect.map(
    closesOfBooks([book]),
    (closes): ReadonlyArray<KeptClose> => closes.of(book).map(({ bookId: _, ...close }) => close),
  )

/** What the hash of each of the book's records ought to be, by its sequence. */
export const recordHashesOf = Effect.fn("Close.recordHashesOf")(function* (book: Book) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Close.recordHashesOf",
    { sequence: int4, hash: text },
    (sql) => sql`select sequence, hash from ledger.record_hashes(${book.bookId})`,
  )
  return new Map(rows.map(({ hash, sequence }) => [sequence, hash]))
})

/** The close of a month that is in force: its last, unless it was reopened since. */
export const standingClose = (closes: ReadonlyArray<KeptClose>, period: string): KeptClose | undefined => {
  const last = closes.findLast((close) => close.period === period)
  return last?.action === "close" ? last : undefined
}

/** The book's last close, whether or not its month was reopened since. */
export const lastClose = (closes: ReadonlyArray<KeptClose>): KeptClose | undefined =>
  closes.findLast(({ action }) => action === "close")

/** The findings accepted at the book's last close. */
export const lastAccepted = (closes: ReadonlyArray<KeptClose>): ReadonlyArray<Accepted> =>
  lastClose(closes)?.accepted ?? []

export const lastHash = (closes: ReadonlyArray<KeptClose>): string | null => lastClose(closes)?.hash ?? null

const nextSequence = (closes: ReadonlyArray<KeptClose>): number => (closes.at(-1)?.sequence ?? 0) + 1

export interface Doing {
  readonly who: string
  readonly reason: string | null
}

/**
 * Part of the caller's transaction. Updates before it inserts: an insert that conflicts would already run the closing
 * trigger.
 */
const setStatus = Effect.fn("Close.setStatus")(function* (
  books: ReadonlyArray<Book>,
  period: string,
  status: "open" | "closed",
) {
  const database = yield* Database
  const first = `${period}-01`
  const arrayOfBooks = (sql: Sql, ids: ReadonlyArray<number>) => plainArray(sql, ids.map(String), "int4")
  const ids = books.map(({ bookId }) => bookId)
  const changed = yield* database.rows(
    "Close.setStatus",
    { bookId: int4 },
    (sql) => sql`
      update ledger.periods set status = ${status}
      where book_id = any (${arrayOfBooks(sql, ids)}) and period = ${first}::text::date
      returning book_id as "bookId"`,
  )
  const known = new Set(changed.map(({ bookId }) => bookId))
  const empty = ids.filter((bookId) => !known.has(bookId))
  if (empty.length === 0 || status === "open") return
  yield* database.execute(
    "Close.setStatus.empty",
    (sql) => sql`
      insert into ledger.periods (book_id, period, status)
      select b, ${first}::text::date, ${status} from unnest(${arrayOfBooks(sql, empty)}) b`,
  )
})

/** The balances at the end of the month of all accounts that the books have ever used. */
const keepBalances = Effect.fn("Close.keepBalances")(function* (kept: string, period: string) {
  const database = yield* Database
  const first = `${period}-01`
  yield* database.execute(
    "Close.keepBalances",
    (sql) => sql`
      insert into ledger.close_balances (book_id, sequence, account_id, code, name, currency, debit, credit, balance)
      select k.book_id, k.sequence, b.account_id, b.code, b.name, b.currency, b.debit, b.credit, b.balance
      from json_to_recordset(${kept}::text::json) as k (book_id integer, sequence integer)
      cross join lateral ledger.balances_at(k.book_id, ${first}::text::date) b`,
  )
})

/** A book whose month closes. */
export interface Closing {
  readonly book: Book
  readonly digest: Digest
  readonly previousHash: string | null
  /** All closes and reopenings of the book so far, as the caller's transaction read them after it locked the book. */
  readonly closes: ReadonlyArray<KeptClose>
  readonly accepted: ReadonlyArray<Accepted>
  readonly valuationMethod: string | null
}

/** The accepted findings `k.accepted` with their present wording: later a finding may change or be deleted. */
const withFacts = (sql: Sql) => sql`(
  select coalesce(jsonb_agg(a.item || jsonb_strip_nulls(jsonb_build_object('subject', f.subject_id, 'date', x.day,
    'currency', x.currency, 'amount', x.amount)) order by a.place), '[]')
  from jsonb_array_elements(k.accepted) with ordinality a (item, place)
  left join reconcile.findings f on f.finding_id = substr(a.item ->> 'id', 2)::bigint
  left join ledger.locks l on l.book_id = f.book_id
  cross join lateral reconcile.facts_of(f.evidence, l.time_zone) x)`

/** Part of the caller's transaction. The sequence numbers of the closes, in the order of the books. */
export const keepCloses = Effect.fn("Close.keepCloses")(function* (
  closings: ReadonlyArray<Closing>,
  period: string,
  { reason, who }: Doing,
) {
  const database = yield* Database
  const user = yield* osUser
  const kept = closings.map(({ accepted, book, closes, digest, previousHash, valuationMethod }) => ({
    book_id: book.bookId,
    sequence: nextSequence(closes),
    hash: digest.hash,
    previous_hash: previousHash,
    entries: digest.entries.toString(),
    accepted,
    valuation_method: valuationMethod,
  }))
  if (kept.length === 0) return []
  const text = JSON.stringify(kept)
  yield* setStatus(
    closings.map(({ book }) => book),
    period,
    "closed",
  )
  yield* database.execute(
    "Close.keepCloses",
    (sql) => sql`
      insert into ledger.closes (book_id, sequence, period, action, hash, previous_hash, entries, who, os_user, reason,
        accepted, valuation_method)
      select k.book_id, k.sequence, ${`${period}-01`}::text::date, 'close', k.hash, k.previous_hash, k.entries, ${who}::text,
        ${user}::text, ${reason}::text, ${withFacts(sql)}, k.valuation_method
      from json_to_recordset(${text}::text::json) as k (book_id integer, sequence integer, hash text, previous_hash text,
        entries bigint, accepted jsonb, valuation_method text)
      order by k.book_id`,
  )
  yield* keepBalances(text, period)
  return kept.map(({ sequence }) => sequence)
})

/** Part of the caller's transaction. `undone` is the close in force. */
export const keepReopening = Effect.fn("Close.keepReopening")(function* (
  book: Book,
  undone: Pick<KeptClose, "period" | "hash">,
  { reason, who }: Doing,
) {
  const database = yield* Database
  const user = yield* osUser
  const sequence = nextSequence(yield* closesOf(book))
  yield* setStatus([book], undone.period, "open")
  yield* database.orm("Close.keepReopening", (orm) =>
    orm.insert(keptCloses).values({
      ...{ bookId: book.bookId, sequence, period: `${undone.period}-01`, action: "reopen" },
      ...{ previousHash: undone.hash, entries: 0n, who, osUser: user, reason, accepted: [] },
    }),
  )
  return sequence
})
