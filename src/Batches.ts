/** What becomes of an export after it was written: looked at, committed, acknowledged, superseded, downloaded again. */
import { join, resolve } from "node:path"
import { Effect } from "effect"
import { newestMapping } from "./AccountMapping/Store.ts"
import { Database } from "./Database.ts"
import { folderProblems } from "./Export/AsWritten.ts"
import { batchDifferences } from "./Export/Committed.ts"
import { download as downloadBatch } from "./Export/Download.ts"
import { exportError } from "./Export/ExportError.ts"
import { accumulates, type FormatName, isFormatName } from "./Export/Formats.ts"
import { areKept, keepFiles } from "./Export/KeptFiles.ts"
import { findBatch, type KnownBatch, nameOf } from "./Export/KnownBatch.ts"
import type { Lineage, Manifest } from "./Export/Manifest.ts"
import { planBook } from "./Export/Plans.ts"
import type { Selection } from "./Export/Scope.ts"
import { hasNews } from "./Export/Selected.ts"
import { changeState, changesOf, type StateChange, supersedeBy } from "./Export/States.ts"

/** A batch with what became of it. `exports`: the folder that the batches' folders stand in. */
export const show = Effect.fn("Batches.show")(function* (reference: string, exports: string) {
  const batch = yield* findBatch(reference)
  const folder = resolve(exports, batch.place)
  return {
    batch,
    changes: yield* changesOf(batch.book.bookId, batch.batch),
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

/** An accounting system's batch with all that was asked for took the place of others only because it was told to. */
const wasAgain = ({ formats }: Manifest, { delta, supersedes }: Lineage): boolean =>
  !delta && supersedes.length > 0 && formats.some((name) => isFormatName(name) && accumulates(name))

const inOneText = (
  selection: Pick<Selection, "covered" | "since">,
  plan: Pick<Lineage, "follows" | "supersedes">,
) => JSON.stringify([selection.since, selection.covered, plan.follows, plan.supersedes])

/** Whether the base-currency journal has other months now than a batch of it was written from. */
const isValuedAnew = Effect.fn("Batches.isValuedAnew")(function* (bookId: number, { base }: Manifest) {
  if (base === undefined) return false
  const database = yield* Database
  const [row] = yield* database.query(
    "Batches.isValuedAnew",
    (sql) => sql<Array<{ same: number }>>`
      select count(*)::integer as same
      from json_to_recordset(${JSON.stringify(base.months)}::text::json) as w (period text, fingerprint text)
      join valuation.months m on m.book_id = ${bookId} and to_char(m.period, 'YYYY-MM') = w.period
        and m.fingerprint = w.fingerprint and m.state is not null`,
  )
  return row?.same !== base.months.length
})

/** Why a preview is not what an export would write now; nothing: it is. */
const staleness = Effect.fn("Batches.staleness")(function* (
  { book, manifest }: KnownBatch,
  lineage: Lineage,
) {
  const { scope, tables, throughNumbering } = manifest
  const selection: Selection = { ...scope, through: null, asOf: null }
  const formats: ReadonlyArray<FormatName> = manifest.formats.filter(isFormatName)
  const { plans } = yield* planBook(
    book.bookId,
    lineage.currencyBasis,
    scope.kind === "since-last" ? null : { ...selection, covered: [] },
    formats,
    wasAgain(manifest, lineage),
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
    ...((yield* isValuedAnew(book.bookId, manifest)) ? ["its months have been valued anew"] : []),
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

/** Makes a preview count, if it is still what an export would write. `keep`: its files in the database too. */
export const commit = Effect.fn("Batches.commit")(function* (
  reference: string,
  exports: string,
  who: string,
  keep: boolean,
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
        ...(yield* staleness(batch, lineage)),
      ]
      if (reasons.length > 0) return yield* stale(batch, reasons)
      yield* database.transaction(
        Effect.gen(function* () {
          yield* changeState(book.bookId, batch.batch, {
            state: "committed",
            who,
            reason: null,
            byBatch: null,
          })
          yield* supersedeBy(book.bookId, lineage.supersedes, batch.batch, who)
          if (keep) yield* keepFiles(book.bookId, folder, manifest)
        }),
      )
      return { batch, superseded: lineage.supersedes }
    }),
  )
})

const change = (reference: string, allowed: (batch: KnownBatch) => string | null, made: StateChange) =>
  locked(reference, (batch) =>
    Effect.gen(function* () {
      const why = allowed(batch)
      if (why !== null) return yield* refuse(batch, why)
      yield* changeState(batch.book.bookId, batch.batch, made)
      return batch
    }),
  )

/** Notes that the accounting system has it. */
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
