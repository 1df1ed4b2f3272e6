/** Everything that can be done with an export after it was written: show, commit, acknowledge, supersede and download it. */
import { join, resolve } from "node:path"
import { Effect } from "effect"
import { Database } from "../Database.ts"
import { accumulates, type FormatName, isFormatName } from "../Format/Formats.ts"
import { outdatedBatches } from "../Reconcile/OutdatedBatches.ts"
import type { ValuationOptions } from "../Valuation/ValuedBook.ts"
import { value } from "../Valuation.ts"
import { folderProblems } from "./Batch/Kept/AsWritten.ts"
import { batchDifferences } from "./Batch/Kept/Committed.ts"
import { download as downloadBatch } from "./Batch/Kept/Download.ts"
import { areKept, keepFiles } from "./Batch/Kept/KeptFiles.ts"
import { findBatch, type KnownBatch, nameOf } from "./Batch/Kept/KnownBatch.ts"
import { changeState, changesOf, type StateChange, supersedeBy } from "./Batch/Kept/States.ts"
import type { Lineage } from "./Batch/Manifest/Lineage.ts"
import type { Manifest } from "./Batch/Manifest.ts"
import { exportError } from "./ExportError.ts"
import { newestMapping } from "./Mapping/KeptMappings.ts"
import type { Selection } from "./Request/ExportScope.ts"
import { planBook } from "./Request/Plans.ts"
import { hasNews } from "./Request/Selected.ts"
import { warnOfSuperseded } from "./Request/TakenOut.ts"
import { fingerprintsOf } from "./Source/ValuedMonths.ts"

/** A batch with its history. `exports`: the folder that the batches' folders stand in. */
export const show = Effect.fn("Batches.show")(function* (reference: string, exports: string) {
  const batch = yield* findBatch(reference)
  const folder = resolve(exports, batch.place)
  const outdated = batch.manifest.base === undefined ? [] : yield* outdatedBatches([batch.book.bookId])
  return {
    batch,
    changes: yield* changesOf(batch.book.bookId, batch.batch),
    /** For a standing batch in the base currency: the months that were valued again since it was written. */
    outdated: outdated.find((one) => one.batch === batch.batch)?.months ?? [],
    kept: yield* areKept(batch.book.bookId, batch.manifest),
    folder: join(exports, batch.place),
    problems: yield* folderProblems(folder, batch),
  }
})

/** One change of a book's batches at a time, and none while its export runs. The batch is read again within. */
const locked = <A, E, R>(reference: string, work: (batch: KnownBatch) => Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const database = yield* Database
    const { book } = yield* findBatch(reference)
    return yield* database
      .withSessionLock(`export ${book.bookId}`, Effect.flatMap(findBatch(reference), work))
      .pipe(
        Effect.catchTag("LockBusy", () =>
          exportError("Busy", `An export of the book ${book.code} runs: wait for it to finish, or stop it.`),
        ),
      )
  })

const refuse = (batch: KnownBatch, what: string) =>
  exportError(
    "State",
    `${nameOf(batch)} is ${batch.state}: ${what}. See: tieout batches show ${nameOf(batch)}`,
  )

/** An accounting system's batch with the whole selection took the place of others only because that was asked for. */
const wasAgain = ({ formats }: Manifest, { delta, supersedes }: Lineage): boolean =>
  !delta && supersedes.length > 0 && formats.some((name) => isFormatName(name) && accumulates(name))

const inOneText = (
  selection: Pick<Selection, "covered" | "since">,
  plan: Pick<Lineage, "follows" | "supersedes">,
) => JSON.stringify([selection.since, selection.covered, plan.follows, plan.supersedes])

/**
 * Whether the months of a batch in the base currency have changed since it was written. Values the book through the batch's end
 * first.
 */
const valuedAnew = Effect.fn("Batches.valuedAnew")(function* (
  { book, manifest }: KnownBatch,
  selection: Selection,
  options: ValuationOptions,
) {
  const { base } = manifest
  if (base === undefined) return []
  if (base.currency !== options.baseCurrency) return [`the base currency is ${options.baseCurrency} now`]
  yield* value([book], selection.to === null ? null : selection.to.slice(0, 7), options)
  const valuedThen = base.months.map(({ fingerprint, period }) => `${period} ${fingerprint}`)
  const now = yield* fingerprintsOf(book.bookId, selection)
  return now.join() === valuedThen.join() ? [] : ["its months have been valued anew"]
})

/** Why an export would now write something else than the preview; empty if it would not. */
const staleness = Effect.fn("Batches.staleness")(function* (
  batch: KnownBatch,
  lineage: Lineage,
  options: ValuationOptions,
) {
  const { book, manifest } = batch
  const { scope, tables, throughNumbering } = manifest
  const selection: Selection = { ...scope, asOf: null }
  const formats: ReadonlyArray<FormatName> = manifest.formats.filter(isFormatName)
  const { plans } = yield* planBook(
    book.bookId,
    {
      basis: lineage.currencyBasis,
      rated: tables?.rated === true,
      hasResults: () => tables?.exchangeResults ?? null,
    },
    scope.kind === "since-last" ? null : { ...selection, covered: [] },
    formats,
    wasAgain(manifest, lineage),
  ).pipe(
    // In the base currency a second batch with any of its days is refused.
    Effect.catchTag("ExportError", () => Effect.succeed({ plans: [] })),
  )
  const same = plans.some((plan) => inOneText(plan.selection, plan) === inOneText(scope, lineage))
  const news = yield* hasNews(book.bookId, { ...selection, since: throughNumbering })
  const mapping = tables === undefined ? null : ((yield* newestMapping(book.bookId))?.version ?? null)
  const differences = (yield* batchDifferences(book.bookId, manifest.batch)) ?? []
  return [
    ...(same ? [] : ["other batches of the book have been committed or superseded since"]),
    ...(news ? ["entries of its selection have been numbered since"] : []),
    ...(tables !== undefined && tables.mappingVersion !== mapping
      ? ["the accounts have a newer mapping"]
      : []),
    ...(differences.length > 0 ? ["its totals are not the ledger's any more"] : []),
    ...(yield* valuedAnew(batch, selection, options)),
  ]
})

const stale = (batch: KnownBatch, reasons: ReadonlyArray<string>) =>
  exportError(
    "Stale",
    [
      `${nameOf(batch)} is not committed:`,
      ...reasons.map((reason) => `  ${reason}`),
      "Preview it again: tieout export --preview",
    ].join("\n"),
  )

/**
 * Commits a preview, if an export would still write the same. `keep`: keep its files in the database too. `options`: the
 * valuation, for one in the base currency.
 */
export const commit = Effect.fn("Batches.commit")(function* (
  reference: string,
  exports: string,
  who: string,
  keep: boolean,
  options: ValuationOptions,
) {
  const database = yield* Database
  return yield* locked(reference, (batch) =>
    Effect.gen(function* () {
      const { book, manifest } = batch
      const { lineage } = manifest
      if (batch.state !== "preview" || lineage === undefined) {
        return yield* refuse(batch, "only a preview can be committed")
      }
      const folder = resolve(exports, batch.place)
      const reasons = [
        ...(yield* folderProblems(folder, batch)).map((problem) => `${folder}: ${problem}`),
        ...(yield* staleness(batch, lineage, options)),
      ]
      if (reasons.length > 0) return yield* stale(batch, reasons)
      // A year may have been archived since the preview told of what it takes the place of.
      yield* Effect.forEach(lineage.supersedes, (one) => warnOfSuperseded(book, one), { discard: true })
      yield* database.transaction(
        Effect.gen(function* () {
          yield* changeState(book.bookId, batch.batch, {
            state: "committed",
            who,
            reason: null,
            byBatch: null,
          })
          yield* supersedeBy([
            { bookId: book.bookId, batches: lineage.supersedes, byBatch: batch.batch, who },
          ])
          const written = { path: folder, blocks: () => undefined }
          if (keep) yield* keepFiles([{ bookId: book.bookId, folder: written, manifest }])
        }),
      )
      return { batch, superseded: lineage.supersedes }
    }),
  )
})

const change = (reference: string, allowed: (batch: KnownBatch) => string | null, made: StateChange) =>
  locked(reference, (batch) =>
    Effect.gen(function* () {
      const { asOf } = batch.manifest.scope
      if (asOf != null) {
        return yield* exportError(
          "State",
          `${nameOf(batch)} is what the books said as of ${asOf} and never counts as exported: it cannot be ${made.state}. Import and acknowledge a batch that was exported without --as-of. See: tieout batches list`,
        )
      }
      const why = allowed(batch)
      if (why !== null) return yield* refuse(batch, why)
      if (made.state === "superseded") yield* warnOfSuperseded(batch.book, batch.batch)
      yield* changeState(batch.book.bookId, batch.batch, made)
      return batch
    }),
  )

/** Records that the accounting system has it. */
export const acknowledge = Effect.fn("Batches.acknowledge")(
  (reference: string, who: string, note: string | null) =>
    change(
      reference,
      ({ state }) => (state === "committed" ? null : "only a committed batch can be acknowledged, once"),
      { state: "acknowledged", who, reason: note, byBatch: null },
    ),
)

/** From here on its entries count as not exported by it. */
export const supersede = Effect.fn("Batches.supersede")((reference: string, who: string, reason: string) =>
  change(reference, ({ state }) => (state === "superseded" ? "it is so already" : null), {
    state: "superseded",
    who,
    reason,
    byBatch: null,
  }),
)

export const download = Effect.fn("Batches.download")(function* (
  reference: string,
  to: string,
  exports: string,
) {
  const batch = yield* findBatch(reference)
  return { batch, folder: yield* downloadBatch(batch, to, exports) }
})
