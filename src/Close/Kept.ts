/** Stores closes and reopenings: `ledger.closes`, `ledger.close_balances` and the state of the period. */
import { Effect, Schema } from "effect"
import type { Book } from "../Book.ts"
import { int4, int8, jsonOf, nullable, oneOf, type RowOf, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import type { Digest } from "./Digest.ts"
import { osUser } from "./Who.ts"

const Accepted = Schema.Struct({
  id: Schema.String,
  what: Schema.String,
  reason: Schema.String,
  /** A digest of the finding's evidence, where the acceptance holds for later months until the digest changes. */
  evidence: Schema.optionalWith(Schema.String, { exact: true }),
})

/** A finding that a person accepted at a close. */
export type Accepted = typeof Accepted.Type

const keptCloseColumns = {
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
}

/** A close or a reopening. */
export type KeptClose = RowOf<typeof keptCloseColumns>

/** All closes and reopenings of a book, the oldest first. */
export const closesOf = Effect.fn("Close.closesOf")(function* (book: Book) {
  const database = yield* Database
  return yield* database.rows(
    "Close.closesOf",
    keptCloseColumns,
    (sql) => sql`
      select sequence, action, to_char(period, 'YYYY-MM') as period, hash, previous_hash as "previousHash", entries, who,
        os_user as "osUser", database_user as "databaseUser",
        to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at, reason, accepted
      from ledger.closes where book_id = ${book.bookId} order by sequence`,
  )
})

/** The close of a month that is in force: its last, unless it was reopened since. */
export const standing = (closes: ReadonlyArray<KeptClose>, period: string): KeptClose | undefined => {
  const last = closes.findLast((close) => close.period === period)
  return last?.action === "close" ? last : undefined
}

/** The findings accepted at the book's last close. */
export const lastAccepted = (closes: ReadonlyArray<KeptClose>): ReadonlyArray<Accepted> =>
  closes.findLast(({ action }) => action === "close")?.accepted ?? []

export const lastHash = (closes: ReadonlyArray<KeptClose>): string | null =>
  closes.findLast(({ action }) => action === "close")?.hash ?? null

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
  book: Book,
  period: string,
  status: "open" | "closed",
) {
  const database = yield* Database
  const first = `${period}-01`
  const changed = yield* database.execute(
    "Close.setStatus",
    (sql) => sql`
      update ledger.periods set status = ${status} where book_id = ${book.bookId} and period = ${first}::text::date
      returning 1`,
  )
  if (changed > 0 || status === "open") return
  yield* database.execute(
    "Close.setStatus.empty",
    (sql) => sql`
      insert into ledger.periods (book_id, period, status) values (${book.bookId}, ${first}::text::date, ${status})`,
  )
})

/** The balances at the end of the month of all accounts that the book has ever used. */
const keepBalances = Effect.fn("Close.keepBalances")(function* (
  book: Book,
  sequence: number,
  period: string,
) {
  const database = yield* Database
  const first = `${period}-01`
  yield* database.execute(
    "Close.keepBalances",
    (sql) => sql`
      insert into ledger.close_balances (book_id, sequence, account_id, code, name, currency, debit, credit, balance)
      select ${book.bookId}, ${sequence}, b.account_id, b.code, b.name, b.currency, b.debit, b.credit, b.balance
      from ledger.balances_at(${book.bookId}, ${first}::text::date) b`,
  )
})

/** Part of the caller's transaction. */
export const keepClose = Effect.fn("Close.keepClose")(function* (
  book: Book,
  period: string,
  { entries, hash }: Digest,
  { accepted, reason, who }: Doing & { readonly accepted: ReadonlyArray<Accepted> },
  valuationMethod: string | null,
) {
  const database = yield* Database
  const user = yield* osUser
  const closes = yield* closesOf(book)
  const sequence = nextSequence(closes)
  yield* setStatus(book, period, "closed")
  yield* database.execute(
    "Close.keepClose",
    (sql) => sql`
      insert into ledger.closes (book_id, sequence, period, action, hash, previous_hash, entries, who, os_user, reason,
        accepted, valuation_method)
      values (${book.bookId}, ${sequence}, ${`${period}-01`}::text::date, 'close', ${hash}, ${lastHash(closes)},
        ${entries.toString()}::text::bigint, ${who}, ${user}, ${reason}, ${JSON.stringify(accepted)}::text::jsonb,
        ${valuationMethod})`,
  )
  yield* keepBalances(book, sequence, period)
  return sequence
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
  yield* setStatus(book, undone.period, "open")
  yield* database.execute(
    "Close.keepReopening",
    (sql) => sql`
      insert into ledger.closes (book_id, sequence, period, action, hash, previous_hash, entries, who, os_user, reason, accepted)
      values (${book.bookId}, ${sequence}, ${`${undone.period}-01`}::text::date, 'reopen', null, ${undone.hash}, 0, ${who},
        ${user}, ${reason}, '[]')`,
  )
  return sequence
})
