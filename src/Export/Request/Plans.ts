/**
 * Plans what an export has to write, given the standing batches. An accounting system keeps what it imported, so it gets every
 * entry once: entries that it has are left out (a delta), unless `again` asks for all. A plain-text journal, a CSV or a trial
 * balance is written whole and supersedes the one before.
 */
import { Effect } from "effect"
import { ofBook } from "../../Book/ByBook.ts"
import { nativeBasis } from "../../Format/Entry.ts"
import { accumulates, type FormatName } from "../../Format/Formats.ts"
import { exportError } from "../ExportError.ts"
import { type Archived, archivedDays, refuseArchivedDays, warnOfGap } from "./ArchivedDays.ts"
import { type Selection, sinceSelection } from "./ExportScope.ts"
import { batchesInOtherWays, refuseOtherWays, type Way } from "./OtherWays.ts"
import { entriesOf, grouped, type Had, newsOf, type Plan, type Plans, separate, wholePlans } from "./Plan.ts"
import { contentsOf } from "./Selected.ts"
import { regionsOf, type StandingBatch, standingOfBooks } from "./StandingBatches.ts"
import { type OwnBatches, tablePlans } from "./TablePlans.ts"

/** A batch is superseded as a whole, so everything else that an accounting system has from it would arrive a second time. */
const checkWhole = (
  plans: ReadonlyArray<Plan>,
  formats: ReadonlyArray<FormatName>,
  standing: ReadonlyArray<Pick<StandingBatch, "batch" | "formats">>,
) => {
  const known: ReadonlyArray<string> = formats
  for (const number of plans.flatMap(({ supersedes }) => supersedes)) {
    const other = standing
      .find(({ batch }) => batch === number)
      ?.formats.find((name) => accumulates(name) && !known.includes(name))
    if (other !== undefined) {
      return exportError(
        "Usage",
        `--again would supersede batch ${number}, which holds ${other} too: name that format as well. Nothing was written.`,
      )
    }
  }
  return Effect.void
}

/** The plan with the batches in another way that it supersedes. */
const insteadOf = (
  plan: Plan,
  others: ReadonlyArray<{ readonly format: FormatName; readonly batch: number }>,
) => ({
  ...plan,
  supersedes: [
    ...new Set([
      ...plan.supersedes,
      ...others.filter(({ format }) => plan.formats.includes(format)).map(({ batch }) => batch),
    ]),
  ].sort((a, b) => a - b),
})

const isPlan = (found: Plan | Had): found is Plan => "selection" in found

/** The plans that have entries, of those by book. */
const withNews = Effect.fn("Export.withNews")(function* (
  planned: ReadonlyArray<{ readonly bookId: number; readonly plans: ReadonlyArray<Plan> }>,
) {
  const asked = new Map<string, { readonly selection: Selection; readonly bookIds: Array<number> }>()
  for (const { bookId, plans } of planned) {
    for (const plan of plans) {
      const one = asked.get(entriesOf(plan)) ?? { selection: plan.selection, bookIds: [] }
      one.bookIds.push(bookId)
      asked.set(entriesOf(plan), one)
    }
  }
  const news = new Map<string, ReadonlySet<number>>()
  for (const [key, { bookIds, selection }] of asked) {
    const contents = yield* contentsOf(bookIds, selection)
    news.set(key, new Set(bookIds.filter((bookId) => contents.get(bookId)?.holds === true)))
  }
  return new Map(
    planned.map(({ bookId, plans }): readonly [number, Plans] => [
      bookId,
      { plans: plans.filter((plan) => news.get(entriesOf(plan))?.has(bookId) === true), had: [] },
    ]),
  )
})

const refuseArchived = (plans: ReadonlyArray<Plan>, archived: Archived) =>
  Effect.forEach(plans, (plan) => refuseArchivedDays(plan.selection, archived), { discard: true })

/** By book. `selection`: null for what is new. `again`: the whole selection, whatever the batches hold. */
export const planBooks = Effect.fn("Export.planBooks")(function* (
  bookIds: ReadonlyArray<number>,
  way: Way,
  selection: Selection | null,
  formats: ReadonlyArray<FormatName>,
  again: boolean,
  perFormat: boolean,
) {
  const archives = yield* archivedDays(bookIds)
  const archivedOf = (bookId: number): Archived => archives.get(bookId) ?? null
  const { basis } = way
  // In the base currency all of the days are written: no other refusal may tell of a way to what is archived.
  if (selection !== null && (selection.asOf !== null || basis !== nativeBasis)) {
    for (const archived of archives.values()) yield* refuseArchivedDays(selection, archived)
  }
  if (selection !== null && selection.asOf !== null) {
    const plan: Plan = { selection, formats, delta: false, follows: [], supersedes: [] }
    const plans: Plans = { plans: perFormat ? separate([plan]) : [plan], had: [] }
    return new Map(bookIds.map((bookId) => [bookId, plans]))
  }
  const others = yield* batchesInOtherWays(bookIds, way, formats)
  const instead = yield* refuseOtherWays(
    bookIds,
    others,
    way,
    selection ?? sinceSelection(0n, []),
    formats,
    again,
  )
  const plain = formats.filter((name) => !accumulates(name))
  // What is written whole takes the place of a former base currency's as well: nothing else would ever bring that up to date.
  const inAnyBase = basis !== nativeBasis && plain.length > 0
  const standing = yield* standingOfBooks(bookIds, inAnyBase ? null : basis)
  const found = bookIds.map(
    (bookId): OwnBatches => ({
      bookId,
      own: standing.of({ bookId }).filter((batch) => batch.basis === basis),
    }),
  )
  if (selection === null) {
    for (const { bookId, own } of found) {
      for (const format of formats) yield* warnOfGap(format, regionsOf(format, own), archivedOf(bookId))
    }
    const news = found.map(({ bookId, own }) => {
      const plans = formats.map((format) => newsOf(format, own, archivedOf(bookId)))
      return { bookId, plans: perFormat ? plans : grouped(plans, formats) }
    })
    for (const { bookId, plans } of news) yield* refuseArchived(plans, archivedOf(bookId))
    return yield* withNews(news)
  }
  const tables = yield* Effect.forEach(formats.filter(accumulates), (format) =>
    tablePlans(found, basis, selection, format, again),
  )
  const made = new Map<number, Plans>()
  for (const { bookId, own } of found) {
    const ofTables = tables.flatMap((plans) => plans.get(bookId) ?? [])
    const taken = instead.of({ bookId })
    const replacing = ofTables.filter(isPlan).map((plan) => insteadOf(plan, taken))
    const whole = inAnyBase ? standing.of({ bookId }).filter((batch) => batch.basis !== nativeBasis) : own
    const all = [...wholePlans(selection, plain, whole, perFormat), ...replacing]
    const plans = perFormat ? separate(all) : grouped(all, formats)
    yield* checkWhole(plans, formats, [...own, ...others.of({ bookId })])
    yield* refuseArchived(plans, archivedOf(bookId))
    made.set(bookId, { plans, had: ofTables.filter((one): one is Had => !isPlan(one)) })
  }
  return made
})

/** Of one book. */
export const planBook = (
  bookId: number,
  way: Way,
  selection: Selection | null,
  formats: ReadonlyArray<FormatName>,
  again: boolean,
) => Effect.map(planBooks([bookId], way, selection, formats, again, false), (plans) => ofBook(plans, bookId))
