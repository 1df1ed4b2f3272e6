/** The span of time that a backfill reads again: whole days of the accounting time zone. */
import { Effect } from "effect"
import { bool, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"

export interface Days {
  /** First and last day, both included, `YYYY-MM-DD`. */
  readonly from: string
  readonly to: string
}

export interface Window extends Days {
  /** The first instant in it and the first one after it, UTC, ISO 8601 with six decimals. */
  readonly start: string
  readonly end: string
}

/** The database knows every time zone's rules; so do the books, which are dated by them. */
export const windowOf = Effect.fn("Backfill.windowOf")(function* ({ from, to }: Days, timeZone: string) {
  const database = yield* Database
  const { end, start } = yield* database.row(
    "Backfill.windowOf",
    { start: text, end: text },
    (sql) => sql`
      select to_char(ledger.begin_of_day(${from}::text::date, ${timeZone}::text) at time zone 'UTC',
          'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as start,
        to_char(ledger.begin_of_day(${to}::text::date + 1, ${timeZone}::text) at time zone 'UTC',
          'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as end`,
  )
  return { from, to, start, end } satisfies Window
})

/** Whether the days lie ahead by the database's clock, and no book has anything from then on: there is nothing to prove of them. */
export const lieAhead = Effect.fn("Backfill.lieAhead")(function* ({ from }: Days, timeZone: string) {
  const database = yield* Database
  const { ahead } = yield* database.row(
    "Backfill.lieAhead",
    { ahead: bool },
    (sql) => sql`
      select ${from}::text::date > ledger.day_of(now(), ${timeZone}::text)
        and not exists (
          select 1 from ledger.periods p where p.period >= date_trunc('month', ${from}::text::date)::date) as ahead`,
  )
  return ahead
})
