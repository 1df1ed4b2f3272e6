/** What became of a batch: preview → committed → acknowledged → superseded. The database allows no other change. */
import { Effect } from "effect"
import { int4, nullable, oneOf, text } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"

const changes = ["committed", "acknowledged", "superseded"] as const

/** The column of `export.batch_state`. */
export const batchState = oneOf("preview", ...changes)
export type BatchState = "preview" | (typeof changes)[number]

export interface StateChange {
  readonly state: (typeof changes)[number]
  readonly who: string
  /** Why it was superseded; a note of who imported it. */
  readonly reason: string | null
  /** The batch that took its place. */
  readonly byBatch: number | null
}

/** With our time of it, ISO 8601 in UTC. */
export interface KeptChange extends StateChange {
  readonly at: string
}

/** Part of the caller's transaction, under the lock of the book's exports. */
export const changeState = Effect.fn("Export.changeState")(function* (
  bookId: number,
  batch: number,
  { byBatch, reason, state, who }: StateChange,
) {
  const database = yield* Database
  yield* database.execute(
    "Export.changeState",
    (sql) => sql`
      insert into export.batch_states (book_id, batch, sequence, state, who, reason, by_batch)
      select ${bookId}, ${batch}, coalesce(max(s.sequence), 0) + 1, ${state}, ${who}, ${reason}::text, ${byBatch}::integer
      from export.batch_states s where s.book_id = ${bookId} and s.batch = ${batch}`,
  )
})

/** Batches whose place another one takes. */
export const supersedeBy = Effect.fn("Export.supersedeBy")(function* (
  bookId: number,
  batches: ReadonlyArray<number>,
  byBatch: number,
  who: string,
) {
  const reason = `Exported again as batch ${byBatch}.`
  yield* Effect.forEach(
    batches,
    (batch) => changeState(bookId, batch, { state: "superseded", who, reason, byBatch }),
    { discard: true },
  )
})

const changeColumns = {
  state: oneOf(...changes),
  who: text,
  at: text,
  reason: nullable(text),
  byBatch: nullable(int4),
}

/** The changes of a batch after it was written, the first first. */
export const changesOf = Effect.fn("Export.changesOf")(function* (bookId: number, batch: number) {
  const database = yield* Database
  const kept: ReadonlyArray<KeptChange> = yield* database.rows(
    "Export.changesOf",
    changeColumns,
    (sql) => sql`
      select state, who, to_char(at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at, reason, by_batch as "byBatch"
      from export.batch_states where book_id = ${bookId} and batch = ${batch} order by sequence`,
  )
  return kept
})
