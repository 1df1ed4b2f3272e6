/** Makes batches part of the books: from here on they are immutable. */
import { Effect } from "effect"
import { Database } from "../../Database.ts"
import { nativeBasis } from "../../Format/Entry.ts"
import { exportError } from "../ExportError.ts"
import { keepFiles } from "./KeptFiles.ts"
import type { Manifest } from "./Manifest.ts"
import { print, sha256Of } from "./ManifestSeal.ts"
import { supersedeBy } from "./States.ts"

export interface Commit {
  readonly bookId: number
  /** Below the folder of all exports, as the database knows it. */
  readonly place: string
  /** Where the files are now; they are kept in the database too. Null: they are not. */
  readonly keepFrom: string | null
  readonly who: string
}

const arrayText = (formats: ReadonlyArray<string>): string =>
  `{${formats.map((name) => `"${name}"`).join(",")}}`

const insertBatch = Effect.fn("Export.insertBatch")(function* (
  { bookId, place, who }: Commit,
  manifest: Manifest,
) {
  const database = yield* Database
  const { batch, formats, lineage, scope, throughNumbering } = manifest
  const text = print(manifest)
  const inserted = database.execute(
    "Export.commitBatch",
    (sql) => sql`
      insert into export.batches
        (book_id, batch, scope, from_date, to_date, formats, folder, through_numbering, manifest, preview, who,
          currency_basis, since_numbering, covered, as_of, manifest_sha256)
      values (${bookId}, ${batch}, ${scope.text}, ${scope.from}::text::date, ${scope.to}::text::date,
        ${arrayText(formats)}::text::text[], ${place}, ${throughNumbering}::text::bigint, ${text}::text::json,
        ${lineage?.state === "preview"}, ${who}, ${lineage?.currencyBasis ?? nativeBasis},
        ${scope.since ?? "0"}::text::bigint, ${JSON.stringify(scope.covered)}::text::json,
        ${scope.asOf ?? null}::text::timestamptz, ${sha256Of(text)})`,
  )
  yield* Effect.catchIf(
    inserted,
    ({ constraint, sqlstate }) => sqlstate === "23505" && constraint === "batches_book_id_batch_pk",
    // The server had let go of this export's lock.
    () =>
      exportError(
        "Busy",
        `Another export of the book ${manifest.book.code} made batch ${batch} while this one had lost its connection to the database. This one wrote nothing: export again what is still to be exported.`,
      ),
  )
})

/**
 * One transaction: the batches in order, their files, and the batches whose place they take (a preview takes none yet). What is
 * `restore`d may be interrupted; the commit itself may not where the caller says so.
 */
export const commitBatches = Effect.fn("Export.commitBatches")(function* (
  batches: ReadonlyArray<{ readonly commit: Commit; readonly manifest: Manifest }>,
  restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
) {
  const database = yield* Database
  yield* database.transaction(
    Effect.forEach(
      batches,
      ({ commit, manifest }) =>
        Effect.gen(function* () {
          const { bookId, keepFrom, who } = commit
          const superseded = manifest.lineage?.state === "committed" ? manifest.lineage.supersedes : []
          yield* insertBatch(commit, manifest)
          yield* supersedeBy(bookId, superseded, manifest.batch, who)
          if (keepFrom !== null) yield* restore(keepFiles(bookId, keepFrom, manifest))
        }),
      { discard: true },
    ),
  )
})
