/**
 * `--again` supersedes whole batches. What such a batch has beyond the days that are written now leaves the accounting system with it,
 * and stands in no batch then: whoever asked for it is told. What of it is archived cannot be exported here again.
 */
import { Effect } from "effect"
import { ofBook } from "../../Book/ByBook.ts"
import type { Book } from "../../Book.ts"
import { bool } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { nativeBasis } from "../../Format/Entry.ts"
import { accumulates, isFormatName } from "../../Format/Formats.ts"
import { type Archived, archivedDays } from "./ArchivedDays.ts"
import type { Plan } from "./Plan.ts"
import {
  box,
  everyStep,
  firstDay,
  intersect,
  lastDay,
  type Region,
  type Slab,
  subtract,
  union,
} from "./Region.ts"
import { contentsOf } from "./Selected.ts"
import { coveredBy, type StandingBatch, standingOfBooks } from "./StandingBatches.ts"

const daysText = ({ from, to }: Slab): string => {
  if (from === firstDay) return `until ${to}`
  return to === lastDay ? `from ${from} on` : `from ${from} to ${to}`
}

/** Entries; of the base currency what only that journal has, too. */
const holds = Effect.fn("Export.TakenOut.holds")(function* (bookId: number, basis: string, slab: Slab) {
  const { from, to } = slab
  const covered = coveredBy(subtract(box(from, to, 0n, everyStep), [slab]), 0n)
  const contents = yield* contentsOf(
    [bookId],
    { kind: "range", text: "", from, to, since: null, covered, asOf: null },
    basis !== nativeBasis,
  )
  return ofBook(contents, bookId).holds
})

/** Whether the batch has entries that are archived. Of the base currency, whose batches are of days, whether any of these days has. */
const hasArchived = Effect.fn("Export.TakenOut.hasArchived")(function* (
  bookId: number,
  { basis, batch }: StandingBatch,
  left: Region,
) {
  if (left.length === 0) return false
  const database = yield* Database
  const days = JSON.stringify(left.map(({ from, to }) => ({ from, to })))
  const { found } = yield* database.row("Export.TakenOut.archived", { found: bool }, (sql) =>
    basis === nativeBasis
      ? sql`
          select exists (
            select from export.archived_totals t where t.book_id = ${bookId} and t.batch = ${batch}) as found`
      : sql`
          select exists (
            select from json_to_recordset(${days}::text::json) as d ("from" date, "to" date)
            join ledger.archived_months m on m.book_id = ${bookId}
              and m.period between date_trunc('month', d."from"::timestamp)::date and d."to") as found`,
  )
  return found
})

/** What the batch has of archived months, where there is anything: neither what left nor what stayed can be exported from there. */
const warnOfArchived = Effect.fn("Export.TakenOut.warnOfArchived")(function* (
  bookId: number,
  batch: StandingBatch,
  format: string,
  left: Region,
  archived: Archived,
) {
  if (archived === null) return
  const then = intersect(left, box(null, archived.lastDay, 0n, everyStep))
  const isLost =
    (yield* hasArchived(bookId, batch, then)) ||
    (yield* Effect.exists(then, (slab) => holds(bookId, batch.basis, slab)))
  if (!isLost) return
  yield* Effect.logWarning(
    `${batch.code}/${batch.batch} has entries for ${format} of archived months, through ${archived.lastDay}: ${archived.where}. Where it is superseded they stand in no batch, and nothing here can export them again: leave them in the accounting system.`,
  )
})

const warnOf = Effect.fn("Export.TakenOut.warnOf")(function* (
  { bookId }: Book,
  { formats, selection, supersedes }: Plan,
  standing: ReadonlyArray<StandingBatch>,
  archived: Archived,
) {
  for (const format of formats.filter(accumulates)) {
    const own = standing.filter((one) => one.formats.includes(format))
    const gone = own.filter(({ batch }) => supersedes.includes(batch))
    const kept = own.filter((one) => !gone.includes(one)).map(({ region }) => region)
    const written = box(selection.from, selection.to, 0n, everyStep)
    for (const batch of gone) {
      const left = subtract(batch.region, union([written, ...kept]))
      yield* warnOfArchived(bookId, batch, format, left, archived)
      const here = archived === null ? left : subtract(left, box(null, archived.lastDay, 0n, everyStep))
      const lacking = yield* Effect.filter(here, (slab) => holds(bookId, batch.basis, slab))
      if (lacking.length === 0) continue
      const ways = archived === null ? ", or everything at once with --all --again" : ""
      yield* Effect.logWarning(
        `${batch.code}/${batch.batch} has entries for ${format} that are not in ${selection.text}: those ${lacking.map(daysText).join(", ")}. Where it is superseded they stand in no batch: export them as well${ways}.`,
      )
    }
  }
})

export interface Superseding {
  readonly book: Book
  readonly passes: ReadonlyArray<{ readonly plans: ReadonlyArray<Plan> }>
}

export const warnOfTakenOut = Effect.fn("Export.warnOfTakenOut")(function* (
  planned: ReadonlyArray<Superseding>,
) {
  const superseding = planned.flatMap(({ book, passes }) =>
    passes.flatMap(({ plans }) =>
      plans.filter(({ supersedes }) => supersedes.length > 0).map((plan) => ({ book, plan })),
    ),
  )
  if (superseding.length === 0) return
  const bookIds = [...new Set(superseding.map(({ book }) => book.bookId))]
  const standing = yield* standingOfBooks(bookIds, null)
  const archives = yield* archivedDays(bookIds)
  for (const { book, plan } of superseding) {
    yield* warnOf(book, plan, standing.of(book), archives.get(book.bookId) ?? null)
  }
})

/** The same of one batch that a person declares superseded. What is not archived comes with the next export. */
export const warnOfSuperseded = Effect.fn("Export.warnOfSuperseded")(function* (
  { bookId }: Book,
  batch: number,
) {
  const archived = (yield* archivedDays([bookId])).get(bookId) ?? null
  const standing = (yield* standingOfBooks([bookId], null)).of({ bookId })
  const gone = standing.find((one) => one.batch === batch)
  for (const format of gone?.formats ?? []) {
    if (gone === undefined || !isFormatName(format) || !accumulates(format)) continue
    const kept = standing.filter((one) => one !== gone && one.formats.includes(format))
    const left = subtract(gone.region, union(kept.map(({ region }) => region)))
    yield* warnOfArchived(bookId, gone, format, left, archived)
  }
})
