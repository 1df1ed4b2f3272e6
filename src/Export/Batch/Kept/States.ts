/** The states of a batch: preview → committed → acknowledged → superseded. The database allows no other change. */
import { and, eq } from "drizzle-orm"
import { Effect } from "effect"
import { oneOf } from "../../../Database/Columns.ts"
import { isoSeconds } from "../../../Database/Tables/ColumnTypes.ts"
import { batchStates } from "../../../Database/Tables/Export.ts"
import { Database } from "../../../Database.ts"

/** What may happen to a batch after it was written. */
const changes = batchStates.state.enumValues

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

/** With the time of the change by our clock, ISO 8601 in UTC. */
export interface KeptChange extends StateChange {
  readonly at: string
}

interface BatchChange extends StateChange {
  readonly bookId: number
  readonly batch: number
}

/** Part of the caller's transaction, under the locks of the books' exports. */
const changeStates = Effect.fn("Export.changeStates")(function* (changes: ReadonlyArray<BatchChange>) {
  if (changes.length === 0) return
  const database = yield* Database
  const rows = changes.map(({ batch, bookId, byBatch, reason, state, who }) => ({
    ...{ book_id: bookId, batch, state, who, reason, by_batch: byBatch },
  }))
  yield* database.execute(
    "Export.changeStates",
    (sql) => sql`
      insert into export.batch_states (book_id, batch, sequence, state, who, reason, by_batch)
      select c.book_id, c.batch, 1 + (
          select coalesce(max(s.sequence), 0) from export.batch_states s
          where s.book_id = c.book_id and s.batch = c.batch),
        c.state, c.who, c.reason, c.by_batch
      from json_to_recordset(${JSON.stringify(rows)}::text::json)
        as c (book_id integer, batch integer, state text, who text, reason text, by_batch integer)
      order by c.book_id, c.batch`,
  )
})

export const changeState = (bookId: number, batch: number, change: StateChange) =>
  changeStates([{ bookId, batch, ...change }])

/** Batches that a later one of their book supersedes. */
export interface Superseding {
  readonly bookId: number
  readonly batches: ReadonlyArray<number>
  readonly byBatch: number
  readonly who: string
}

export const supersedeBy = (superseding: ReadonlyArray<Superseding>) =>
  changeStates(
    superseding.flatMap(({ batches, bookId, byBatch, who }) =>
      batches.map(
        (batch): BatchChange => ({
          ...{ bookId, batch, state: "superseded", who, byBatch },
          reason: `Exported again as batch ${byBatch}.`,
        }),
      ),
    ),
  )

/** The changes of a batch after it was written, the oldest first. */
export const changesOf = Effect.fn("Export.changesOf")(function* (bookId: number, batch: number) {
  const database = yield* Database
  const { at, byBatch, reason, state, who } = batchStates
  const kept: ReadonlyArray<KeptChange> = yield* database.orm("Export.changesOf", (orm) =>
    orm
      .select({ state, who, at: isoSeconds(at), reason, byBatch })
      .from(batchStates)
      .where(and(eq(batchStates.bookId, bookId), eq(batchStates.batch, batch)))
      .orderBy(batchStates.sequence),
  )
  return kept
})
