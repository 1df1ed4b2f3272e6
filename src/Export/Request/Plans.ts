/**
 * Plans what an export has to write, given the standing batches. An accounting system keeps what it imported, so it gets every
 * entry once: entries that it has are left out (a delta), unless `again` asks for all. A plain-text journal, a CSV or a trial
 * balance is written whole and supersedes the one before.
 */
import { Effect } from "effect"
import { byBook, isIn, ofBook } from "../../Book/ByBook.ts"
import { arrayOf, bool, int4 } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { nativeBasis } from "../../Format/Entry.ts"
import { accumulates, type FormatName } from "../../Format/Formats.ts"
import type { Covered } from "../Batch/Manifest.ts"
import { exportError } from "../ExportError.ts"
import { type Archived, archivedDays, refuseArchivedDays, warnOfGap } from "./ArchivedDays.ts"
import { type Selection, sinceSelection } from "./ExportScope.ts"
import { batchesInOtherWays, refuseOtherWays, type Way } from "./OtherWays.ts"
import { entriesOf, grouped, type Had, newsOf, type Plan, type Plans, separate, wholePlans } from "./Plan.ts"
import { box, everyStep, intersect, union } from "./Region.ts"
import { contentsOf, selected } from "./Selected.ts"
import { coveredBy, regionsOf, type StandingBatch, standingOfBooks } from "./StandingBatches.ts"

type Part = Covered & { readonly book_id: number; readonly batch: number }

/**
 * By book, which of the rectangles have entries of the selection, by their batch, and whether an entry is in none of them. One pass
 * over the selection; what it keeps are days and steps, not entries.
 */
const overlaps = Effect.fn("Export.overlaps")(function* (
  bookIds: ReadonlyArray<number>,
  selection: Selection,
  parts: ReadonlyArray<Part>,
) {
  const database = yield* Database
  const rows = yield* database.rows(
    "Export.overlaps",
    { bookId: int4, batches: arrayOf(int4), news: bool },
    (sql) => sql`
      with points as materialized (
        select distinct e.book_id, e.effective_date as day, e.numbering as step from ledger.journal e
        where ${selected(sql, isIn(sql, bookIds), selection)}),
      parts as materialized (
        select * from json_to_recordset(${JSON.stringify(parts)}::text::json)
          as c (book_id integer, batch integer, "from" date, "to" date, after bigint, through bigint)),
      found as materialized (
        select p.book_id, p.day, p.step, array_agg(c.batch) as batches
        from points p
        left join parts c on c.book_id = p.book_id and p.day between c."from" and c."to"
          and p.step > coalesce(c.after, 0) and p.step <= c.through
        group by p.book_id, p.day, p.step)
      select f.book_id as "bookId", bool_or(f.batches = array[null]::integer[]) as news,
        coalesce((
          select array_agg(distinct x.batch order by x.batch) from found g cross join unnest(g.batches) as x (batch)
          where g.book_id = f.book_id and x.batch is not null), '{}') as batches
      from found f group by f.book_id`,
  )
  return byBook(rows)
})

/** What the batches of an accounting system's format already hold of the dates. */
interface OwnBatches {
  readonly bookId: number
  readonly own: ReadonlyArray<StandingBatch>
}

const wholeOf = (selection: Selection, format: FormatName): Plan => ({
  ...{ selection, formats: [format], delta: false, follows: [], supersedes: [] },
})

/** In the base currency: the journal changes as a whole. */
const basePlan = Effect.fn("Export.basePlan")(function* (
  basis: string,
  selection: Selection,
  format: FormatName,
  { own }: OwnBatches,
  again: boolean,
) {
  const meeting = own.map(({ batch }) => batch)
  if (again) return { ...wholeOf(selection, format), supersedes: meeting }
  return yield* exportError(
    "Usage",
    `Batch ${own.map(({ batch, code }) => `${code}/${batch}`).join(", ")} has days of ${selection.text} for ${format} in ${basis} already. That journal changes as a whole: --again writes it again, to be imported in its place. Nothing was written.`,
  )
})

/** An accounting system's format over given dates, by book. */
const tablePlans = Effect.fn("Export.tablePlans")(function* (
  standing: ReadonlyArray<OwnBatches>,
  basis: string,
  selection: Selection,
  format: FormatName,
  again: boolean,
) {
  const wanted = box(selection.from, selection.to, 0n, everyStep)
  const books = standing.map(({ bookId, own }) => ({
    bookId,
    own: own
      .filter(({ formats }) => formats.includes(format))
      .map((batch) => ({ ...batch, region: intersect(batch.region, wanted) }))
      .filter(({ region }) => region.length > 0),
  }))
  const met = books.filter(({ own }) => own.length > 0)
  const made = new Map<number, Plan | Had>(books.map(({ bookId }) => [bookId, wholeOf(selection, format)]))
  if (basis !== nativeBasis) {
    for (const book of met) {
      made.set(book.bookId, yield* basePlan(basis, selection, format, book, again))
    }
    return made
  }
  if (met.length === 0) return made
  const parts = met.flatMap(({ bookId, own }) =>
    own.flatMap(({ batch, region }) =>
      coveredBy(region, 0n).map((part): Part => ({ ...part, book_id: bookId, batch })),
    ),
  )
  const overlap = yield* overlaps(
    met.map(({ bookId }) => bookId),
    selection,
    parts,
  )
  for (const { bookId, own } of met) {
    const [found] = overlap.of({ bookId })
    if (found === undefined || found.batches.length === 0) continue
    const { batches, news } = found
    const whole = wholeOf(selection, format)
    if (again) made.set(bookId, { ...whole, supersedes: batches })
    else if (!news) made.set(bookId, { formats: [format], batches })
    else {
      const had = union(own.filter(({ batch }) => batches.includes(batch)).map(({ region }) => region))
      const rest = { ...selection, covered: coveredBy(had, 0n) }
      made.set(bookId, { ...whole, selection: rest, delta: true, follows: batches })
    }
  }
  return made
})

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
  if (selection !== null && selection.asOf !== null) {
    for (const archived of archives.values()) yield* refuseArchivedDays(selection, archived)
    const plan: Plan = { selection, formats, delta: false, follows: [], supersedes: [] }
    const plans: Plans = { plans: perFormat ? separate([plan]) : [plan], had: [] }
    return new Map(bookIds.map((bookId) => [bookId, plans]))
  }
  const { basis } = way
  const others = yield* batchesInOtherWays(bookIds, way, formats)
  const instead = yield* refuseOtherWays(
    bookIds,
    others,
    way,
    selection ?? sinceSelection(0n, []),
    formats,
    again,
  )
  const standing = yield* standingOfBooks(bookIds, basis)
  const found = bookIds.map((bookId): OwnBatches => ({ bookId, own: standing.of({ bookId }) }))
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
  const plain = formats.filter((name) => !accumulates(name))
  const tables = yield* Effect.forEach(formats.filter(accumulates), (format) =>
    tablePlans(found, basis, selection, format, again),
  )
  const made = new Map<number, Plans>()
  for (const { bookId, own } of found) {
    const ofTables = tables.flatMap((plans) => plans.get(bookId) ?? [])
    const taken = instead.of({ bookId })
    const replacing = ofTables.filter(isPlan).map((plan) => insteadOf(plan, taken))
    const all = [...wholePlans(selection, plain, own, perFormat), ...replacing]
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
