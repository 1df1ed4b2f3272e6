/** What an archive's dump states about itself in its first line. */
import { Schema } from "effect"

/** A table's number of rows, and the digest of all of them by `RowDigests.ts`. */
const RowDigest = Schema.Struct({
  table: Schema.String,
  rows: Schema.NonNegativeInt,
  digest: Schema.String,
})
export type RowDigest = typeof RowDigest.Type

export const ArchiveHeader = Schema.Struct({
  year: Schema.Int,
  /** The books by their codes, each with the digest of its rows that leave (`ledger.archive_digest`). */
  books: Schema.Array(Schema.Struct({ book: Schema.String, rows: Schema.String })),
  /** The tables that rows leave, with the digest of all their rows. */
  tables: Schema.Array(RowDigest),
})
export type ArchiveHeader = typeof ArchiveHeader.Type
