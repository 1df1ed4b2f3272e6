/** Makes batches part of the books: from here on they are immutable. */
import { Chunk, Effect } from "effect"
import { Database } from "../../Database.ts"
import { nativeBasis } from "../../Format/Entry.ts"
import { exportError } from "../ExportError.ts"
import { type KeptFolder, keepFiles } from "./Kept/KeptFiles.ts"
import { supersedeBy } from "./Kept/States.ts"
import { print, sha256Of } from "./Manifest/ManifestSeal.ts"
import type { Manifest } from "./Manifest.ts"

export interface Commit {
  readonly bookId: number
  /** Below the folder of all exports, as the database knows it. */
  readonly place: string
  /** Where the files are now; they are kept in the database too. Null: they are not. */
  readonly keepFrom: KeptFolder | null
  readonly who: string
}

/** A batch on its way into the books. */
export interface Committing {
  readonly commit: Commit
  readonly manifest: Manifest
}

const rowOf = ({ commit: { bookId, place, who }, manifest }: Committing) => {
  const { batch, formats, lineage, scope, throughNumbering } = manifest
  const text = print(manifest)
  return {
    ...{
      book_id: bookId,
      batch,
      formats,
      folder: place,
      who,
      manifest: text,
      manifest_sha256: sha256Of(text),
    },
    ...{ scope: scope.text, from_date: scope.from, to_date: scope.to, through_numbering: throughNumbering },
    ...{ preview: lineage?.state === "preview", currency_basis: lineage?.currencyBasis ?? nativeBasis },
    ...{ since_numbering: scope.since ?? "0", covered: scope.covered, as_of: scope.asOf ?? null },
  }
}

/** The manifest goes in as the text that it is, which its column keeps. */
const insertBatches = Effect.fn("Export.insertBatches")(function* (batches: ReadonlyArray<Committing>) {
  const database = yield* Database
  const rows = batches.map(rowOf)
  const inserted = database.execute(
    "Export.commitBatches",
    (sql) => sql`
      insert into export.batches
        (book_id, batch, scope, from_date, to_date, formats, folder, through_numbering, manifest, preview, who,
          currency_basis, since_numbering, covered, as_of, manifest_sha256)
      select b.book_id, b.batch, b.scope, b.from_date, b.to_date, array(select json_array_elements_text(b.formats)),
        b.folder, b.through_numbering, b.manifest::json, b.preview, b.who, b.currency_basis, b.since_numbering,
        b.covered, b.as_of, b.manifest_sha256
      from json_to_recordset(${JSON.stringify(rows)}::text::json) as b (book_id integer, batch integer, scope text,
        from_date date, to_date date, formats json, folder text, through_numbering bigint, manifest text,
        preview boolean, who text, currency_basis text, since_numbering bigint, covered json, as_of timestamptz,
        manifest_sha256 text)
      order by b.book_id, b.batch`,
  )
  yield* Effect.catchIf(
    inserted,
    ({ constraint, sqlstate }) => sqlstate === "23505" && constraint === "batches_book_id_batch_pk",
    // This export has lost its locks on the server.
    () => {
      const [first] = batches
      return exportError(
        "Busy",
        `Another export of the book ${first?.manifest.book.code} made batch ${first?.manifest.batch} while this one had lost its connection to the database. This one wrote nothing: export again what is still to be exported.`,
      )
    },
  )
})

/** Batches that go into one statement: their manifests have some ten kilobytes each. */
const batchesPerStatement = 100

/**
 * Commits in one transaction the batches, their files, and the changes of the batches that they supersede (a preview supersedes
 * none yet). Work wrapped in `restore` may be interrupted; the commit itself only if the caller allows it.
 */
export const commitBatches = Effect.fn("Export.commitBatches")(function* (
  batches: ReadonlyArray<Committing>,
  restore: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>,
) {
  const database = yield* Database
  const superseding = batches.map(({ commit: { bookId, who }, manifest: { batch, lineage } }) => ({
    ...{ bookId, byBatch: batch, who },
    batches: lineage?.state === "committed" ? lineage.supersedes : [],
  }))
  const kept = batches.flatMap(({ commit: { bookId, keepFrom }, manifest }) =>
    keepFrom === null ? [] : [{ bookId, folder: keepFrom, manifest }],
  )
  yield* database.transaction(
    Effect.gen(function* () {
      for (const some of Chunk.chunksOf(Chunk.fromIterable(batches), batchesPerStatement)) {
        yield* insertBatches(Chunk.toReadonlyArray(some))
      }
      yield* supersedeBy(superseding)
      yield* restore(keepFiles(kept))
    }),
  )
})
