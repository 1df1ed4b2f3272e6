import { Schema } from "effect"
import { Count, Hash } from "./Values.ts"

/** Entries that earlier batches hold: those dated from `from` to `to` and numbered after the step `after` (absent: from the first) through the step `through`. */
export const Covered = Schema.Struct({
  from: Schema.String,
  to: Schema.String,
  after: Schema.optionalWith(Schema.String, { exact: true }),
  through: Schema.String,
})
export type Covered = typeof Covered.Type

/** Where a batch stands among the others of its book, and on which closes. All as it was when it was written. */
export const Lineage = Schema.Struct({
  state: Schema.Literal("preview", "committed"),
  /** The book's batch before this one, with the hash of its manifest.json; null for the first. */
  previous: Schema.NullOr(Schema.Struct({ batch: Count, manifestSha256: Hash })),
  /** `native`: every line in the currency that moved. */
  currencyBasis: Schema.String,
  /** Only entries that the batches before it do not have. */
  delta: Schema.Boolean,
  follows: Schema.Array(Count),
  /** Batches that this one supersedes. */
  supersedes: Schema.Array(Count),
  /** The close of every closed month of the selection; of `--since-last`, of those that the batch has entries of. */
  closes: Schema.Array(
    Schema.Struct({
      period: Schema.String.pipe(Schema.pattern(/^\d{4}-\d{2}$/)),
      sequence: Count,
      hash: Hash,
      /** Who had approved the close; null: nobody. Absent in a batch of an older version. */
      approvedBy: Schema.optionalWith(Schema.NullOr(Schema.String), { exact: true }),
    }),
  ),
})
export type Lineage = typeof Lineage.Type
