/** Batches as the database knows them, with their state. */
import { Effect, Either, Option, Schema } from "effect"
import { byBook, isIn } from "../../../Book/ByBook.ts"
import { chooseBooks } from "../../../Book/ChosenBooks.ts"
import { allBooks, type Book } from "../../../Book.ts"
import { arrayOf, bool, int4, nullable, text } from "../../../Database/Columns.ts"
import { Database } from "../../../Database.ts"
import { outdatedBatches } from "../../../Reconcile/OutdatedBatches.ts"
import { exportError } from "../../ExportError.ts"
import { manifestHash } from "../../Request/Lineage.ts"
import { Manifest } from "../Manifest.ts"
import { type BatchState, batchState } from "./States.ts"

export interface ListedBatch {
  readonly book: string
  readonly batch: number
  readonly scope: string
  readonly formats: ReadonlyArray<string>
  readonly state: BatchState
  readonly entries: number
  readonly delta: boolean
  /** Of a batch in the base currency; null: every line in the currency that moved. */
  readonly baseCurrency: string | null
  /** For an as-of export, which never counts as exported: that time, ISO 8601 in UTC. Null: an ordinary export. */
  readonly asOf: string | null
  /** ISO 8601, our clock: when it was written. */
  readonly at: string
  readonly who: string | null
  /** In the base currency: the months, `YYYY-MM`, that have changed since it was written. */
  readonly outdated: ReadonlyArray<string>
}

export interface KnownBatch {
  readonly book: Book
  readonly batch: number
  readonly state: BatchState
  /** Below the folder of all exports. */
  readonly place: string
  readonly at: string
  readonly who: string | null
  /** manifest.json, byte for byte. */
  readonly text: string
  readonly manifest: Manifest
  /** Of that text. */
  readonly sha256: string
}

const decode = Schema.decodeUnknownEither(Schema.parseJson(Manifest))

const listedColumns = {
  bookId: int4,
  batch: int4,
  scope: text,
  formats: arrayOf(text),
  state: batchState,
  entries: int4,
  delta: bool,
  baseCurrency: nullable(text),
  asOf: nullable(text),
  at: text,
  who: nullable(text),
}

/** Of one book or all, the newest first. */
export const listBatches = Effect.fn("Export.listBatches")(function* (wanted: Option.Option<string>) {
  const database = yield* Database
  const books = yield* chooseBooks(Option.none(), wanted)
  const ids = books.map(({ bookId }) => bookId)
  const outdated = byBook(yield* outdatedBatches(ids))
  const batches = byBook(
    yield* database.rows(
      "Export.listBatches",
      listedColumns,
      (sql) => sql`
        select b.book_id as "bookId", b.batch, b.scope, b.formats, export.batch_state(b.book_id, b.batch) as state,
          coalesce((b.manifest ->> 'entries')::integer, 0) as entries,
          coalesce((b.manifest #>> '{lineage,delta}')::boolean, false) as delta,
          b.manifest #>> '{base,currency}' as "baseCurrency", b.manifest #>> '{scope,asOf}' as "asOf",
          to_char(b.committed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at, b.who
        from export.batches b where b.book_id ${isIn(sql, ids)} order by b.book_id, b.batch desc`,
    ),
  )
  return books.flatMap((book) => {
    const months = new Map(outdated.of(book).map((one) => [one.batch, one.months]))
    return batches.of(book).map(
      ({ bookId: _, ...row }): ListedBatch => ({
        book: book.code,
        ...row,
        outdated: months.get(row.batch) ?? [],
      }),
    )
  })
})

const batchColumns = {
  state: batchState,
  place: text,
  at: text,
  who: nullable(text),
  text,
  sha256: text,
}

/** The batch that a text such as `ORG/3` names: the book's code and the batch's number. */
export const findBatch = Effect.fn("Export.findBatch")(function* (reference: string) {
  const database = yield* Database
  const [, code, digits] = /^(.+)\/([1-9]\d{0,8})$/.exec(reference.trim()) ?? []
  if (code === undefined || digits === undefined) {
    return yield* exportError(
      "Usage",
      `Found ${JSON.stringify(reference)}, expected a book's code and a batch's number, such as ORG/3.`,
    )
  }
  const batch = Number(digits)
  const book = (yield* allBooks(Option.none())).find((one) => one.code.toLowerCase() === code.toLowerCase())
  const [row] =
    book === undefined
      ? []
      : yield* database.rows(
          "Export.findBatch",
          batchColumns,
          (sql) => sql`
            select export.batch_state(b.book_id, b.batch) as state, b.folder as place, b.who,
              to_char(b.committed_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') as at,
              b.manifest::text as text, ${manifestHash(sql)} as sha256
            from export.batches b where b.book_id = ${book.bookId} and b.batch = ${batch}`,
        )
  if (book === undefined || row === undefined) {
    return yield* exportError("Usage", `There is no batch ${code}/${batch}. See: tieout batches list`)
  }
  const manifest = decode(row.text)
  if (Either.isLeft(manifest)) {
    return yield* Effect.dieMessage(`the manifest of batch ${code}/${batch} is not one of ours`)
  }
  return { ...row, book, batch, manifest: manifest.right } satisfies KnownBatch
})

export const nameOf = ({ batch, book }: Pick<KnownBatch, "batch" | "book">): string => `${book.code}/${batch}`
