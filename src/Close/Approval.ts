/** Approvals of closes: `ledger.close_approvals`. An approval holds as long as its close does. */
import { Effect, Option } from "effect"
import { chooseBooks } from "../Book/ChosenBooks.ts"
import { booksInSentence } from "../Book/InSentence.ts"
import { allBooks, type Book } from "../Book.ts"
import { bool, int4, type RowOf, text } from "../Database/Columns.ts"
import { closeApprovals } from "../Database/Tables/Close.ts"
import { Database } from "../Database.ts"
import { lockBooks } from "../Ledger/LockBooks.ts"
import { closeError } from "./CloseError.ts"
import { closesOf, standingClose } from "./CloseRecords.ts"
import { foldedName, osUser } from "./Person.ts"

const approvalColumns = {
  sequence: int4,
  /** The hash of the close. */
  closeHash: text,
  name: text,
  /** The users of the operating system and of the database that were logged in. */
  osUser: text,
  databaseUser: text,
  twoPersons: bool,
  /** ISO 8601, our clock. */
  at: text,
  /** Chained to the close's: `ledger.approval_hash`. */
  hash: text,
  /** The hash computed anew from the stored record; it differs from `hash` if the record was altered. */
  expected: text,
}

export type Approval = RowOf<typeof approvalColumns>

/** All approvals of a book up to an instant, or up to now, also of closes that were undone since. */
export const approvalsOf = Effect.fn("Close.approvalsOf")(function* (book: Book, asOf: string | null = null) {
  const database = yield* Database
  return yield* database.rows(
    "Close.approvalsOf",
    approvalColumns,
    (sql) => sql`
      select a.sequence, a.close_hash as "closeHash", a.name, a.os_user as "osUser", a.database_user as "databaseUser",
        a.two_persons as "twoPersons", to_char(a.at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at, a.hash,
        ledger.approval_hash(a) as expected
      from ledger.close_approvals a
      where a.book_id = ${book.bookId} and (${asOf}::text is null or a.at <= ${asOf}::text::timestamptz)
      order by a.sequence`,
  )
})

export interface ApprovalRequest {
  /** `2026-10` */
  readonly period: string
  readonly book: Option.Option<string>
  readonly name: string
  /** `close.twoPersons` */
  readonly twoPersons: boolean
}

const approveBook = Effect.fn("Close.approveBook")(function* (
  book: Book,
  { name, period, twoPersons }: ApprovalRequest,
) {
  const database = yield* Database
  const own = standingClose(yield* closesOf(book), period)
  // Only a reopening has no hash.
  if (own === undefined || own.hash === null) return null
  const { hash, sequence, who } = own
  const [known] = (yield* approvalsOf(book)).filter((approval) => approval.sequence === sequence)
  if (known !== undefined) {
    return { before: `${period} of ${book.code} was approved already, on ${known.at} by ${known.name}.` }
  }
  const user = yield* osUser
  const { sameUser } = yield* database.row(
    "Close.approveBook.users",
    { sameUser: bool },
    (sql) => sql`
      select c.os_user = ${user} and c.database_user = session_user as "sameUser"
      from ledger.closes c where c.book_id = ${book.bookId} and c.sequence = ${sequence}`,
  )
  if (twoPersons && (sameUser || foldedName(name) === foldedName(who))) {
    return yield* closeError(
      "Usage",
      `${period} of ${book.code} was closed by ${who}${sameUser ? `, logged in as the same user (${user})` : ""}: with close.twoPersons another person approves it, under another name and logged in as another user of the operating system or the database.`,
    )
  }
  yield* database.orm("Close.approveBook", (orm) =>
    orm
      .insert(closeApprovals)
      .values({ bookId: book.bookId, sequence, closeHash: hash, name, osUser: user, twoPersons }),
  )
  const [made] = (yield* approvalsOf(book)).filter((approval) => approval.sequence === sequence)
  return made === undefined ? null : { approved: { book: book.code, period, ...made } }
})

/** Approves the closes of a month that stand without approval, of one book or of all that have it closed: all or none. */
export const approve = Effect.fn("Close.approve")(function* (request: ApprovalRequest) {
  const database = yield* Database
  const chosen = yield* chooseBooks(Option.none(), request.book)
  // Also one without accounts, which an acceptance closed.
  const books = Option.isSome(request.book) ? chosen : yield* allBooks(Option.none())
  // Of two at once the second finds what the first approved.
  const approving = Effect.forEach(books, (book) => approveBook(book, request))
  const made = yield* database.transaction(Effect.zipRight(lockBooks(books), approving))
  const approved = made.flatMap((one) => (one?.approved === undefined ? [] : [one.approved]))
  if (approved.length > 0) return approved
  const [before] = made.flatMap((one) => one?.before ?? [])
  if (before !== undefined) return yield* closeError("Usage", before)
  const codes = booksInSentence(chosen)
  const only = Option.isSome(request.book) ? ` --book ${codes}` : ""
  return yield* closeError(
    "NotClosed",
    `${request.period} is not closed in ${codes || "any book"}: only a close is approved. To close it: tieout close ${request.period}${only}`,
  )
})
