/**
 * `--again` supersedes whole batches. What such a batch has beyond the days that are written now leaves the accounting system with it,
 * and stands in no batch then: whoever asked for it is told.
 */
import { Effect } from "effect"
import { ofBook } from "../../Book/ByBook.ts"
import type { Book } from "../../Book.ts"
import { nativeBasis } from "../../Format/Entry.ts"
import { accumulates } from "../../Format/Formats.ts"
import type { Plan } from "./Plan.ts"
import { box, everyStep, firstDay, lastDay, type Slab, subtract, union } from "./Region.ts"
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

const warnOf = Effect.fn("Export.TakenOut.warnOf")(function* (
  { bookId }: Book,
  { formats, selection, supersedes }: Plan,
  standing: ReadonlyArray<StandingBatch>,
) {
  for (const format of formats.filter(accumulates)) {
    const own = standing.filter((one) => one.formats.includes(format))
    const gone = own.filter(({ batch }) => supersedes.includes(batch))
    const kept = own.filter((one) => !gone.includes(one)).map(({ region }) => region)
    const written = box(selection.from, selection.to, 0n, everyStep)
    for (const { basis, batch, code, region } of gone) {
      const left = subtract(region, union([written, ...kept]))
      const lacking = yield* Effect.filter(left, (slab) => holds(bookId, basis, slab))
      if (lacking.length === 0) continue
      yield* Effect.logWarning(
        `${code}/${batch} has entries for ${format} that are not in ${selection.text}: those ${lacking.map(daysText).join(", ")}. Where it is superseded they stand in no batch: export them as well, or everything at once with --all --again.`,
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
  const standing = yield* standingOfBooks([...new Set(superseding.map(({ book }) => book.bookId))], null)
  for (const { book, plan } of superseding) yield* warnOf(book, plan, standing.of(book))
})
