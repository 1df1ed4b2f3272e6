/** A committed batch against the ledger as it is now: the same entries must still add up to the batch's totals. */
import { and, eq } from "drizzle-orm"
import { Effect, Either, Schema } from "effect"
import { parse, print } from "../../../Common/MinorUnits.ts"
import { int2, int8, numeric, text } from "../../../Database/Columns.ts"
import { batches } from "../../../Database/Tables/Export.ts"
import { Database } from "../../../Database.ts"
import { Manifest } from "../Manifest.ts"

/** A control total that is no longer the ledger's; amounts and counts as text, `null` where one side has none. */
export interface BatchDifference {
  readonly currency: string
  readonly figure: "debit" | "credit" | "entries" | "postings"
  readonly exported: string | null
  readonly ledger: string | null
}

const totalColumns = {
  currency: text,
  scale: int2,
  debit: numeric,
  credit: numeric,
  entries: int8,
  postings: int8,
}

const decode = Schema.decodeUnknownEither(Manifest)

const ledgerTotals = Effect.fn("Export.ledgerTotals")(function* (bookId: number, batch: number) {
  const database = yield* Database
  return yield* database.rows(
    "Export.ledgerTotals",
    totalColumns,
    (sql) => sql`
      select t.currency, c.scale, sum(t.entries)::bigint as entries, sum(t.postings)::bigint as postings,
        sum(t.debit) as debit, sum(t.credit) as credit
      from (
        select e.currency, count(distinct e.entry_id) as entries, count(*) as postings,
          coalesce(sum(e.amount) filter (where e.amount > 0), 0) as debit,
          coalesce(-sum(e.amount) filter (where e.amount < 0), 0) as credit
        from export.batch_lines e
        where e.book_id = ${bookId} and e.batch = ${batch} group by e.currency
        union all
        select a.currency, a.entries, a.postings, a.debit, a.credit from export.archived_totals a
        where a.book_id = ${bookId} and a.batch = ${batch}) t
      join ledger.currencies c on c.code = t.currency
      group by t.currency, c.scale`,
  )
})

type Figures = ReadonlyMap<string, { readonly [figure in BatchDifference["figure"]]: string }>

const compare = (exported: Figures, ledger: Figures): ReadonlyArray<BatchDifference> => {
  const currencies = [...new Set([...exported.keys(), ...ledger.keys()])].sort()
  return currencies.flatMap((currency) =>
    (["debit", "credit", "entries", "postings"] as const).flatMap((figure) => {
      const [ours, theirs] = [
        exported.get(currency)?.[figure] ?? null,
        ledger.get(currency)?.[figure] ?? null,
      ]
      return ours === theirs ? [] : [{ currency, figure, exported: ours, ledger: theirs }]
    }),
  )
}

/**
 * The differences between a batch's control totals and the ledger now; empty if there are none, null if there is no such batch.
 * One aggregate over the batch's entries. Used by check 9 of the reconciliation.
 */
export const batchDifferences = Effect.fn("Export.batchDifferences")(function* (
  bookId: number,
  batch: number,
) {
  const database = yield* Database
  const [row] = yield* database.orm("Export.batchDifferences", (orm) =>
    orm
      .select({ manifest: batches.manifest })
      .from(batches)
      .where(and(eq(batches.bookId, bookId), eq(batches.batch, batch))),
  )
  if (row === undefined) return null
  const manifest = decode(row.manifest)
  if (Either.isLeft(manifest)) {
    return yield* Effect.dieMessage(`the manifest of batch ${batch} of book ${bookId} is not one of ours`)
  }
  // Entries of the base-currency journal are not the ledger's, and an open month of theirs is replaced when it changes.
  if (manifest.right.base !== undefined) return []
  const totals = yield* ledgerTotals(bookId, batch)
  const exported: Figures = new Map(
    manifest.right.currencies.map(({ currency, debit, credit, entries, postings }) => [
      currency,
      { debit, credit, entries: String(entries), postings: String(postings) },
    ]),
  )
  const ledger: Figures = new Map(
    totals.map(({ currency, scale, debit, credit, entries, postings }) => [
      currency,
      {
        debit: print(parse(debit, scale), scale),
        credit: print(parse(credit, scale), scale),
        entries: entries.toString(),
        postings: postings.toString(),
      },
    ]),
  )
  return compare(exported, ledger)
})
