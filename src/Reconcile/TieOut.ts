/**
 * Whether everything ties out, and what does not. `reconcile.book_standings` in `drizzle/rules.sql` decides and counts; every
 * command and page that says so prints the sentence made here.
 */
import { Effect, Schema } from "effect"
import { count, counted } from "../Common/Text.ts"
import { int4, int8, jsonOf, type RowOf, text } from "../Database/Columns.ts"
import { plainArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"
import { Settings } from "../Settings.ts"
import { fewBooks, readingMany } from "./Planning.ts"
import { type NotRead, notReadClause } from "./Unread.ts"

const countByMonth = jsonOf(Schema.Record({ key: Schema.String, value: Schema.Number }))

const tieOutColumns = {
  accounts: int4,
  /** Accounts whose cash or chain does not tie out. */
  off: int4,
  /** Accounts of which the service says another balance, where no run has proved yet what it read within the hour. */
  beingRead: int4,
  /** Items that stand in suspense. */
  suspense: int4,
  /** Conversions in transit. */
  transit: int4,
  /** Conversions in transit that block the close of a month, by month (`2026-10`). */
  blocked: countByMonth,
  /** Items in loan clearing: legs whose cash has not come, and what else stands there. */
  loans: int4,
  /** Legs that block the close of a month, by month. */
  loansBlocked: countByMonth,
  /** Clearing postings that name no movement. */
  clearing: int4,
  /** Suspense accounts with a balance but without an open finding. */
  unexplained: int4,
  /** Other blocking findings. */
  otherBlocking: int4,
  /** Other warnings: reported, but everything may still tie out. */
  otherWarnings: int4,
  /** All blocking findings that nobody has accepted for good. */
  blockingFindings: int4,
  /** Blocking findings that a close accepted for good: nobody has to act. */
  accepted: int4,
  /** Rows in quarantine, without those whose finding a close accepted for good. */
  quarantined: int4,
  /** Movements that ended after their statement was read: the next sync proves them. */
  waiting: int4,
}

/** What does not tie out; each item is counted once. */
export type TieOut = RowOf<typeof tieOutColumns>

const bookTieOutColumns = {
  ...tieOutColumns,
  bookId: int4,
  connection: text,
  code: text,
  /** Accounts whose statement has never been read to its end. */
  unread: int4,
  /** Booked statement entries. */
  entries: int8,
}

export type BookTieOut = RowOf<typeof bookTieOutColumns>

/** The books with these ids, by code; null: all books. */
export const bookTieOuts = Effect.fn("Reconcile.tieOuts")(function* (books: ReadonlyArray<number> | null) {
  const database = yield* Database
  const { transitDays } = (yield* Settings).reconcile
  // Many are read with all others, by a statement of its own: the server keeps a plan that suits it.
  const named = books === null || books.length > fewBooks ? null : books
  const read = database.rows(
    "Reconcile.tieOuts",
    bookTieOutColumns,
    (sql) => sql`
      select s.book_id as "bookId", s.connection, s.code, s.accounts, s.off, s.being_read as "beingRead", s.unread, s.entries,
        s.suspense, s.transit, s.blocked, s.loans,
        s.loans_blocked as "loansBlocked", s.clearing, s.unexplained, s.other_blocking as "otherBlocking", s.other_warnings as "otherWarnings",
        s.blocking_findings as "blockingFindings", s.accepted, s.quarantined,
        (select count(*) from reconcile.deferred d where d.book_id = s.book_id)::integer as waiting
      from reconcile.book_standings(${transitDays}::integer${named === null ? sql`` : sql`, ${plainArray(sql, named.map(String), "int4")}`}) s
      order by s.code`,
  )
  if (named !== null) return yield* read
  const all = yield* readingMany(database, read)
  if (books === null) return all
  const wanted = new Set(books)
  return all.filter(({ bookId }) => wanted.has(bookId))
})

const blockedOf = (
  all: ReadonlyArray<Readonly<Record<string, number>>>,
): Readonly<Record<string, number>> => {
  const months = new Map<string, number>()
  for (const blocked of all)
    for (const [month, count] of Object.entries(blocked)) months.set(month, (months.get(month) ?? 0) + count)
  return Object.fromEntries([...months].sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Several books combined. */
export const combined = (all: ReadonlyArray<TieOut>): TieOut => {
  const sum = (count: (book: TieOut) => number) => all.reduce((total, book) => total + count(book), 0)
  return {
    accounts: sum((book) => book.accounts),
    off: sum((book) => book.off),
    beingRead: sum((book) => book.beingRead),
    suspense: sum((book) => book.suspense),
    transit: sum((book) => book.transit),
    blocked: blockedOf(all.map((book) => book.blocked)),
    loans: sum((book) => book.loans),
    loansBlocked: blockedOf(all.map((book) => book.loansBlocked)),
    clearing: sum((book) => book.clearing),
    unexplained: sum((book) => book.unexplained),
    otherBlocking: sum((book) => book.otherBlocking),
    otherWarnings: sum((book) => book.otherWarnings),
    blockingFindings: sum((book) => book.blockingFindings),
    accepted: sum((book) => book.accepted),
    quarantined: sum((book) => book.quarantined),
    waiting: sum((book) => book.waiting),
  }
}

const blocking = (blocked: Readonly<Record<string, number>>): string => {
  const months = Object.entries(blocked).map(
    ([month, items], at) =>
      `${count(items)}${at > 0 ? "" : items === 1 ? " blocks" : " block"} ${at > 0 ? "that of" : "the close of"} ${month}`,
  )
  return months.length === 0 ? "" : ` (${months.join(", ")})`
}

/** What is open beside cash, part by part; empty if nothing is. */
export const openParts = (found: TieOut): ReadonlyArray<string> => {
  const {
    accepted,
    beingRead,
    blocked,
    blockingFindings,
    clearing,
    loans,
    loansBlocked,
    otherBlocking,
    quarantined,
    suspense,
    transit,
    unexplained,
    waiting,
  } = found
  const parts = [
    ...(beingRead > 0 ? [`${counted(beingRead, "account is", "accounts are")} being read`] : []),
    ...(suspense > 0 ? [`${counted(suspense, "item stands", "items stand")} in suspense`] : []),
    ...(transit > 0
      ? [`${counted(transit, "conversion is", "conversions are")} in transit${blocking(blocked)}`]
      : []),
    ...(loans > 0
      ? [`${counted(loans, "item is", "items are")} open in loan clearing${blocking(loansBlocked)}`]
      : []),
    ...(clearing > 0
      ? [`${counted(clearing, "clearing posting names", "clearing postings name")} no movement`]
      : []),
    ...(unexplained > 0
      ? [`${counted(unexplained, "account holds", "accounts hold")} what no open item explains`]
      : []),
    ...(otherBlocking > 0
      ? [`${counted(otherBlocking, "blocking finding is", "blocking findings are")} open`]
      : []),
    ...(accepted > 0 ? [`${counted(accepted, "accepted finding is", "accepted findings are")} open`] : []),
    ...(quarantined > 0 ? [`${counted(quarantined, "row is", "rows are")} in quarantine`] : []),
    ...(waiting > 0
      ? [`${counted(waiting, "movement waits", "movements wait")} for the next sync to be proved`]
      : []),
  ]
  // Nothing ties out while any finding blocks.
  return parts.length > 0 || found.off > 0 || blockingFindings === 0
    ? parts
    : [`${counted(blockingFindings, "blocking finding is", "blocking findings are")} open`]
}

/** Whether cash, chains, clearing, transit, loans and suspense are explained, and no blocking finding is open. */
export const tiesOut = (found: TieOut): boolean => found.off === 0 && openParts(found).length === 0

/**
 * `Everything ties out`, if there is anything, or what does not: `Cash ties out; 3 items stand in suspense, 4 conversions are
 * in transit (2 block the close of 2026-10)`. Streams that were not read are only named. Without a full stop.
 */
export const tieOutSentence = (found: TieOut, notRead: ReadonlyArray<NotRead> = []): string => {
  const whole = notRead.length === 0
  const unread = notReadClause(notRead)
  const none = found.accounts === 0
  if (tiesOut(found) && !none) return `${whole ? "Everything ties out" : "What was read ties out"}${unread}`
  const cash = none
    ? "No accounts have been read yet"
    : found.off > 0
      ? `${counted(found.off, "account does", "accounts do")} not tie out`
      : `Cash ties out${whole && found.beingRead === 0 ? "" : " as far as it was read"}`
  const parts = openParts(found)
  return `${cash}${parts.length === 0 ? "" : `; ${parts.join(", ")}`}${unread}`
}

/** How many parts `tieout reconcile` and `tieout items` show: all but quarantine, what waits, and what is being read. */
export const openItemCount = (found: TieOut): number =>
  openParts({ ...found, beingRead: 0, quarantined: 0, waiting: 0 }).length

/** Whether a person must act before the books can be relied on; items in transit need no action. */
export const needsAttention = ({ blockingFindings, off, quarantined }: TieOut): boolean =>
  off + blockingFindings + quarantined > 0
