/**
 * The evidence that a stream was read, kept with the stream: by the transaction that stores what was read or right after it,
 * under the run's fence. A read counts when it was followed to its end, whoever asked for it and however little it brought. It
 * began when its first page was asked for, by the service's clock: the page's `Date` less the time that the answer took, and no
 * later than by ours, since one answer of a clock that is ahead would prove months to come for good. Our clock alone proves
 * nothing about the service's: if an answer has no `Date`, the read is kept without a time, and a close needs a person to accept that.
 */
import { Effect, Option } from "effect"
import type { Book } from "../../Book.ts"
import { traced } from "../../Common/Effects/Traced.ts"
import type { Sql } from "../../Database/Client.ts"
import { columnsOf, plainArray, textArray } from "../../Database/TextArray.ts"
import { Database } from "../../Database.ts"
import type { Instant } from "../../Partner/Instant.ts"
import { PartnerError } from "../../Partner/PartnerError.ts"
import { Run } from "../../Run.ts"
import type { StreamError } from "./Failures.ts"
import { QuarantineFlood } from "./FloodGate.ts"

/** A read that was followed to its end. */
export interface WholeRead {
  readonly stream: string
  /** The service's clock when it was asked for the first page. */
  readonly beganAt: Option.Option<Instant>
}

/** Keeps the reads of `t (stream, began_at)`. */
const readsOf = (sql: Sql, { bookId }: Book, runId: number) => sql`
  insert into sync.stream_reads as r (book_id, stream, began_at, ended_at, run_id)
  select ${bookId}, t.stream, t.began_at, now(), ${runId} from t order by t.stream
  on conflict (book_id, stream) do update set began_at = greatest(r.began_at, excluded.began_at),
    ended_at = excluded.ended_at, run_id = excluded.run_id, trouble = null, status = null, detail = null,
    failing_since = null`

/** Part of the caller's transaction. A later read never takes back what an earlier one proved. */
export const noteReads = traced("Sync.noteReads")(function* (book: Book, reads: ReadonlyArray<WholeRead>) {
  if (reads.length === 0) return
  const database = yield* Database
  const { runId } = yield* Run
  const streams = reads.map(({ stream }) => stream)
  const times = reads.map(({ beganAt }) => Option.getOrNull(beganAt))
  yield* database.execute(
    "Sync.noteReads",
    (sql) => sql`
      with t as (
        select stream, began_at::timestamptz
        from unnest(${textArray(sql, streams)}, ${plainArray(sql, times)}) as t (stream, began_at))
      ${readsOf(sql, book, runId)}`,
  )
})

/** A statement that was followed to its end. */
export interface WholeStatement {
  readonly accountId: string
  /** When the request for the last page was sent, ISO 8601, our clock. */
  readonly tailReadAt: string
  readonly read: WholeRead
}

/** Part of the caller's transaction: as `noteReads` for statements, and when each account's was read to its end. */
export const noteStatements = traced("Sync.noteStatements")(function* (
  book: Book,
  statements: ReadonlyArray<WholeStatement>,
) {
  if (statements.length === 0) return
  const database = yield* Database
  const { runId } = yield* Run
  yield* database.execute("Sync.noteStatements", (sql) => {
    const { plain, text } = columnsOf(sql, statements)
    return sql`
      with t as (
        select account_id::uuid, tail_read_at::timestamptz, stream, began_at::timestamptz
        from unnest(${text(({ accountId }) => accountId)}, ${text(({ tailReadAt }) => tailReadAt)},
          ${text(({ read }) => read.stream)}, ${plain(({ read }) => Option.getOrNull(read.beganAt))})
          as t (account_id, tail_read_at, stream, began_at)),
      tails as (
        update mirror.accounts a set tail_read_at = t.tail_read_at
        from t where a.book_id = ${book.bookId} and a.account_id = t.account_id)
      ${readsOf(sql, book, runId)}`
  })
})

/** Why a stream was not read. */
export interface Trouble {
  /** `PartnerError.reason`; `NoPath`: the settings say that there is no such list; `Inactive`: the client's status says so. */
  readonly reason: string
  readonly status: number | null
  readonly detail: string
}

export const noPath: Trouble = { reason: "NoPath", status: null, detail: "" }

/** Part of the caller's transaction. What was proved before stays. */
export const noteTrouble = Effect.fn("Sync.noteTrouble")(function* (
  book: Book,
  stream: string,
  { detail, reason, status }: Trouble,
) {
  const database = yield* Database
  yield* database.execute(
    "Sync.noteTrouble",
    (sql) => sql`
      insert into sync.stream_reads as r (book_id, stream, trouble, status, detail, failing_since)
      values (${book.bookId}, ${stream}, ${reason}, ${status}, ${detail}, now())
      on conflict (book_id, stream) do update set trouble = excluded.trouble, status = excluded.status,
        detail = excluded.detail, failing_since = coalesce(r.failing_since, excluded.failing_since)`,
  )
})

const troubleOf = (error: StreamError): Trouble =>
  error instanceof PartnerError
    ? { reason: error.reason, status: error.status ?? null, detail: error.message }
    : { reason: error._tag, status: null, detail: error.why }

/** Keeps, in a transaction of its own, why a stream could not be read; the failure goes on. */
export const noting =
  (book: Book, stream: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.tapError(effect, (error) =>
      error instanceof PartnerError || error instanceof QuarantineFlood
        ? Effect.flatMap(Run, ({ commit }) => commit(noteTrouble(book, stream, troubleOf(error))))
        : Effect.void,
    )

/** Records that a client that was read before is not to be read any more, and why. */
export const noteStopped = (book: Book, detail: string) =>
  noteTrouble(book, "accounts", { reason: "Inactive", status: null, detail })
