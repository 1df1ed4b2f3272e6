/** Committed exports and their files: only these can be downloaded. */
import { and, eq, sql as fragment } from "drizzle-orm"
import { Effect, Either, Option, Schema } from "effect"
import { bool, float8, int4, json, nullable, text } from "../../Database/Columns.ts"
import { asText } from "../../Database/Tables/ColumnTypes.ts"
import { batches } from "../../Database/Tables/Export.ts"
import { books } from "../../Database/Tables/Mirror.ts"
import { Database } from "../../Database.ts"
import { type BatchState, batchState } from "../../Export/Batch/Kept/States.ts"
import { manifestFile } from "../../Export/Batch/Manifest.ts"

export interface BatchFile {
  readonly name: string
  readonly bytes: number | null
}

export interface BatchRow {
  readonly code: string
  readonly batch: number
  readonly scope: string
  /** Null: the books' own currencies. */
  readonly baseCurrency: string | null
  /** Epoch milliseconds, of an as-of batch: what the books said then, and nothing to import. */
  readonly asOf: number | null
  readonly complete: boolean
  readonly state: BatchState
  readonly entries: number
  /** Epoch milliseconds. */
  readonly committedAt: number
  readonly files: ReadonlyArray<BatchFile>
}

const listed = 20
/** Batches per book, so that the search grows with books and not with nights. */
const listedOfBook = 3

const Files = Schema.Array(
  Schema.Struct({
    name: Schema.String.pipe(Schema.pattern(/^[A-Za-z0-9_][A-Za-z0-9_.-]*$/)),
    bytes: Schema.NonNegative,
  }),
)
const decodeFiles = Schema.decodeUnknownEither(Files)

/** The manifest's files and the manifest itself. */
const filesOf = (files: unknown): ReadonlyArray<BatchFile> => {
  const decoded = decodeFiles(files)
  return Either.isRight(decoded) ? [...decoded.right, { name: manifestFile, bytes: null }] : []
}

const columns = {
  code: text,
  batch: int4,
  scope: text,
  base_currency: nullable(text),
  as_of: nullable(float8),
  complete: bool,
  state: batchState,
  entries: int4,
  committed_at: float8,
  files: json,
}

/** The last batches, the newest first. */
export const recentBatches = Effect.fn("Overview.batches")(function* () {
  const database = yield* Database
  const rows = yield* database.rows(
    "Overview.batches",
    columns,
    (sql) => sql`
      with recent as (
        select k.code, e.book_id, e.batch, e.scope, e.committed_at from mirror.books k
        cross join lateral (
          select * from export.batches x where x.book_id = k.book_id order by x.batch desc limit ${listedOfBook}) e
        order by e.committed_at desc, k.code, e.batch desc limit ${listed})
      select r.code, r.batch, r.scope, (extract(epoch from r.committed_at) * 1000)::float8 as committed_at,
        (extract(epoch from b.as_of) * 1000)::float8 as as_of, nullif(b.currency_basis, 'native') as base_currency,
        export.batch_state(b.book_id, b.batch) as state,
        coalesce((b.manifest ->> 'complete')::boolean, false) as complete,
        coalesce((b.manifest ->> 'entries')::integer, 0) as entries, b.manifest -> 'files' as files
      from recent r join export.batches b on b.book_id = r.book_id and b.batch = r.batch
      order by r.committed_at desc, r.code, r.batch desc`,
  )
  return rows.map(
    (row): BatchRow => ({
      code: row.code,
      batch: row.batch,
      scope: row.scope,
      baseCurrency: row.base_currency,
      asOf: row.as_of,
      complete: row.complete,
      state: row.state,
      entries: row.entries,
      committedAt: row.committed_at,
      files: filesOf(row.files),
    }),
  )
})

/** A file of a batch: below the exports folder, and in the database by the book's number; none where no such batch names such a file. */
export const batchFile = Effect.fn("Overview.batchFile")(function* (
  code: string,
  batch: number,
  name: string,
) {
  const database = yield* Database
  const [row] = yield* database.orm("Overview.batchFile", (orm) =>
    orm
      .select({
        bookId: batches.bookId,
        folder: batches.folder,
        manifest: asText(batches.manifest),
        files: fragment`${batches.manifest} -> 'files'`,
      })
      .from(batches)
      .innerJoin(books, eq(books.bookId, batches.bookId))
      .where(and(eq(books.code, code), eq(batches.batch, batch))),
  )
  return Option.flatMap(Option.fromNullable(row), ({ bookId, files, folder, manifest }) =>
    Option.map(Option.fromNullable(filesOf(files).find((file) => file.name === name)), ({ bytes }) => ({
      bookId,
      folder,
      bytes,
      manifest,
    })),
  )
})
