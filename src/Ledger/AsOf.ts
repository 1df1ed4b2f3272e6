/**
 * `--as-of`: what the books said at an instant, by the time of recording. A moment is ISO 8601 with its offset; a day alone
 * means its end in the book's accounting time zone. Nothing in the future: later entries would change what it says.
 */

import { Data, Effect, Either, Schedule } from "effect"
import { refuseBefore } from "../Book/Archived.ts"
import { isDate } from "../Common/Time.ts"
import type { Sql } from "../Database/Client.ts"
import { bool, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"

/** A time that cannot be asked about: badly written or in the future (`Usage`), or one that is still being written (`Busy`). */
export class AsOfError extends Data.TaggedError("AsOfError")<{
  readonly reason: "Usage" | "Busy"
  readonly message: string
}> {}

export type AsOf =
  /** `2026-11-01T12:00:00.5+01:00`, as given */
  | { readonly kind: "moment"; readonly text: string }
  /** `YYYY-MM-DD` */
  | { readonly kind: "day"; readonly text: string }

const moment =
  /^(\d{4}-\d{2}-\d{2})T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?(?:Z|[+-](?:0\d|1[0-4]):[0-5]\d)$/

export const parseAsOf = (text: string): Either.Either<AsOf, AsOfError> => {
  if (isDate(text)) return Either.right({ kind: "day", text })
  const [, day] = moment.exec(text) ?? []
  if (day !== undefined && isDate(day)) return Either.right({ kind: "moment", text })
  return Either.left(
    new AsOfError({
      reason: "Usage",
      message: `--as-of: found ${JSON.stringify(text)}, expected a time with its zone, such as 2026-11-01T12:00:00Z, or a day such as 2026-11-01, which means its end.`,
    }),
  )
}

/**
 * The last microsecond that counts for a book: ISO 8601 in UTC. `timeZone` applies if the book has no entries yet. Fails if the
 * instant is in the future, or while a transaction runs that began before it: what that transaction still records bears the
 * time at which it began, and nothing shows whether it will only read.
 */
export const resolveAsOf = Effect.fn("Ledger.resolveAsOf")(
  function* (asOf: AsOf, bookId: number, timeZone: string) {
    const database = yield* Database
    const row = yield* database.row(
      "Ledger.resolveAsOf",
      { at: text, future: bool, writing: bool, hidden: bool, untimed: bool },
      (sql) => sql`
      with chosen as (
        select case when ${asOf.kind}::text = 'moment' then ${asOf.text}::text::timestamptz
          else ledger.begin_of_day(${asOf.text.slice(0, 10)}::text::date + 1, coalesce(
            (select l.time_zone from ledger.locks l where l.book_id = ${bookId}), ${timeZone}::text))
            - interval '1 microsecond' end as at)
      select to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') as at, at > now() as future,
        exists (
          select 1 from pg_stat_activity a
          where a.datname = current_database() and a.backend_type = 'client backend' and a.pid <> pg_backend_pid()
            and a.xact_start <= at) as writing,
        -- Of another role's session it shows nothing but that it is there; its locks tell whether it is in a transaction.
        exists (
          select 1 from pg_stat_activity a join pg_locks l on l.pid = a.pid and l.locktype = 'virtualxid' and l.granted
          where a.datname = current_database() and a.usesysid is not null and a.backend_type is null
            and a.pid <> pg_backend_pid()) as hidden,
        -- Where track_activities is off, no session says when its transaction began: only that it was not there before it came.
        exists (
          select 1 from pg_stat_activity a join pg_locks l on l.pid = a.pid and l.locktype = 'virtualxid' and l.granted
          where a.datname = current_database() and a.state = 'disabled' and a.backend_start <= at
            and a.pid <> pg_backend_pid()) as untimed
      from chosen`,
    )
    if (row.future) {
      return yield* new AsOfError({
        reason: "Usage",
        message: `--as-of: ${asOf.text} (until ${row.at}) is not over yet: what the books say then is not known.`,
      })
    }
    if (row.writing) {
      return yield* new AsOfError({
        reason: "Busy",
        message: `A transaction that began before ${row.at} runs just now and may record something for then: try again when it is done, or choose an earlier time.`,
      })
    }
    if (row.hidden) {
      return yield* new AsOfError({
        reason: "Busy",
        message: `A transaction of another role runs just now, and this role may not see whether it began before ${row.at}: try again when it is done, or have a superuser grant pg_read_all_stats to this role.`,
      })
    }
    if (row.untimed) {
      return yield* new AsOfError({
        reason: "Busy",
        message: `A transaction runs just now, and the server does not say whether it began before ${row.at}: try again when it is done, or have a superuser take back track_activities=off.`,
      })
    }
    yield* refuseBefore(bookId, row.at)
    return row.at
  },
  // Most transactions end within moments, so it is asked again a few times.
  Effect.retry({
    schedule: Schedule.spaced("100 millis"),
    times: 20,
    while: (error) => error instanceof AsOfError && error.reason === "Busy",
  }),
)

/** Condition on an entry `e`: it was recorded by then. `at` comes from `resolveAsOf`; null: at any time. */
export const recordedBy = (sql: Sql, at: string | null) =>
  at === null ? sql`` : sql`and e.recorded_at <= ${at}::text::timestamptz`

/** Condition on an entry `e`: it was recorded later. */
export const recordedAfter = (sql: Sql, at: string | null) =>
  at === null ? sql`` : sql`and e.recorded_at > ${at}::text::timestamptz`

/** Suffix of a folder's name: `@20261101T120000Z`, to the second. */
export const asOfSuffix = (at: string | null): string =>
  at === null ? "" : `@${at.slice(0, 19).replaceAll(/[-:]/g, "")}Z`
