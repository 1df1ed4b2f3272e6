/**
 * A plan for postings holds only while the same months are closed. Its commit may have to wait, above all behind a close. So
 * the commit takes the lock that a close takes, checks that no close came in between, and otherwise has the plan made again.
 */
import { Data, Effect } from "effect"
import type { Book } from "../Book.ts"
import { nullable, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"

/** A month was closed or reopened since the plan was made; nothing of it was posted. */
class PlanOvertaken extends Data.TaggedError("PlanOvertaken")<{ readonly book: string }> {
  override get message(): string {
    return `Months of book ${this.book} were closed or reopened meanwhile, again and again; nothing more was posted. Run the command again.`
  }
}

const planningTries = 5

const closedThrough = Effect.fn("Ledger.Plan.closedThrough")(function* ({ bookId }: Book, lock: boolean) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Ledger.Plan.closedThrough",
    { closed: nullable(text) },
    (sql) => sql`
      select closed_through::text as closed from ledger.locks where book_id = ${bookId}
      ${lock ? sql`for update` : sql``}`,
  )
  return rows[0]?.closed ?? null
})

const proofFor = (book: Book, closed: string | null) =>
  Effect.filterOrFail(
    closedThrough(book, true),
    (now) => now === closed,
    () => new PlanOvertaken({ book: book.code }),
  ).pipe(Effect.asVoid)

/**
 * Goes first in the transaction that posts the plan: waits for a close that is under way. The lock is exclusive from the start
 * because the transaction may also number what it posts: two transactions that upgrade a shared lock would deadlock.
 */
export type Proof = ReturnType<typeof proofFor>

/** Runs an effect that plans and then posts, and runs it again where a month was closed or reopened in between. */
export const plannedWithProof = <A, E, R>(book: Book, effect: (proof: Proof) => Effect.Effect<A, E, R>) =>
  Effect.flatMap(closedThrough(book, false), (closed) => effect(proofFor(book, closed))).pipe(
    Effect.retry({ times: planningTries, while: (error) => error instanceof PlanOvertaken }),
  )
