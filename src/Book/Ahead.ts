/** Months that have not begun: there is nothing to prove or to write of them. */
import { Data, Effect } from "effect"
import { bool } from "../Database/Columns.ts"
import { plainArray } from "../Database/TextArray.ts"
import { Database } from "../Database.ts"

/** The month lies ahead; exit code 2. */
class AheadError extends Data.TaggedError("AheadError")<{ readonly message: string }> {}

/** Whether a month (`2027-03`) has not begun in any of the books' time zones, by the database's clock, and none of them has entries of it or of a later one. */
export const liesAhead = Effect.fn("Book.liesAhead")(function* (
  bookIds: ReadonlyArray<number>,
  month: string,
) {
  const database = yield* Database
  const first = `${month}-01`
  const { ahead } = yield* database.row(
    "Book.liesAhead",
    { ahead: bool },
    (sql) => sql`
      select coalesce(bool_and(${first}::text::date > ledger.day_of(now(), l.time_zone)
        and not exists (
          select 1 from ledger.periods p where p.book_id = l.book_id and p.period >= ${first}::text::date)), false) as ahead
      from ledger.locks l
      where l.book_id = any (${plainArray(sql, bookIds.map(String), "int4")})`,
  )
  return ahead
})

/** Fails where a month lies ahead for all of the books. */
export const refuseAhead = Effect.fn("Book.refuseAhead")(function* (
  bookIds: ReadonlyArray<number>,
  month: string,
) {
  if (yield* liesAhead(bookIds, month)) {
    return yield* new AheadError({
      message: `${month} lies ahead: there is nothing to prove of it. Name a month that has begun.`,
    })
  }
})
