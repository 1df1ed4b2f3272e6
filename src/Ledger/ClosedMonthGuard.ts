/**
 * A plan for postings holds only while the same months are closed. Its commit may have to wait, above all behind a close. So
 * the commit takes the lock that a close takes, checks that no close came in between, and otherwise has the plan made again.
 */
import { Data, Effect } from "effect"
import type { Book } from "../Book.ts"
import { int4, nullable, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"

/** A month was closed or reopened since the plan was made; nothing of it was posted. */
class PlanOvertaken extends Data.TaggedError("PlanOvertaken")<{ readonly book: string }> {
  override get message(): string {
    return `Months of book ${this.book} were closed or reopened meanwhile, again and again; nothing more was posted. Run the command again.`
  }
}

const planningTries = 5

/** By book. */
type Closed = ReadonlyMap<number, string | null>

const closedThrough = Effect.fn("Ledger.Plan.closedThrough")(function* (
  books: ReadonlyArray<Book>,
  lock: boolean,
) {
  const database = yield* Database
  const ids = `{${books.map(({ bookId }) => bookId).join(",")}}`
  const rows = yield* database.rows(
    "Ledger.Plan.closedThrough",
    { book_id: int4, closed: nullable(text) },
    (sql) => sql`
      select book_id, closed_through::text as closed from ledger.locks
      where book_id = any (${ids}::integer[]) order by book_id ${lock ? sql`for update` : sql``}`,
  )
  return new Map(rows.map(({ book_id: bookId, closed }) => [bookId, closed]))
})

const proofFor = (books: ReadonlyArray<Book>, closed: Closed) =>
  Effect.flatMap(closedThrough(books, true), (now) => {
    const overtaken = books.find(({ bookId }) => now.get(bookId) !== closed.get(bookId))
    return overtaken === undefined ? Effect.void : Effect.fail(new PlanOvertaken({ book: overtaken.code }))
  })

/**
 * Goes first in the transaction that posts the plan: waits for a close that is under way. The lock is exclusive from the start
 * because the transaction may also number what it posts: two transactions that upgrade a shared lock would deadlock.
 */
export type Proof = ReturnType<typeof proofFor>

/**
 * Runs an effect that plans and then posts, for all its books at once, and runs it again where a month of any of them was closed or
 * reopened in between.
 */
export const plannedWithProof = <A, E, R>(
  books: ReadonlyArray<Book>,
  effect: (proof: Proof) => Effect.Effect<A, E, R>,
) =>
  Effect.flatMap(closedThrough(books, false), (closed) => effect(proofFor(books, closed))).pipe(
    Effect.retry({ times: planningTries, while: (error) => error instanceof PlanOvertaken }),
  )
