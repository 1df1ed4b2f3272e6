/**
 * What an export has to write, after what the batches that stand have. An accounting system keeps what it imported: it gets
 * every entry once, so that what it has is left out (a delta), unless all is asked for again. A plain-text journal, a CSV or
 * a trial balance is a whole that takes the place of the one before.
 */
import { Effect } from "effect"
import { arrayOf, bool, int4 } from "../../Database/Columns.ts"
import { Database } from "../../Database.ts"
import { nativeBasis } from "../../Format/Entry.ts"
import { accumulates, type FormatName } from "../../Format/Formats.ts"
import type { Covered } from "../Batch/Manifest.ts"
import { exportError } from "../ExportError.ts"
import { type Archived, archivedDays, refuseArchivedDays, warnOfGap, withArchived } from "./ArchivedDays.ts"
import { box, everyStep, intersect, subtract, union, wholeThrough } from "./Region.ts"
import { type Selection, sinceSelection } from "./Scope.ts"
import { hasNews, selected } from "./Selected.ts"
import { coveredBy, regionsOf, type StandingBatch, standingBatches } from "./StandingBatches.ts"

export interface Plan {
  readonly selection: Selection
  readonly formats: ReadonlyArray<FormatName>
  readonly delta: boolean
  readonly follows: ReadonlyArray<number>
  readonly supersedes: ReadonlyArray<number>
}

/** Formats of which the batches have everything that was asked for. */
export interface Had {
  readonly formats: ReadonlyArray<FormatName>
  readonly batches: ReadonlyArray<number>
}

export interface Plans {
  readonly plans: ReadonlyArray<Plan>
  readonly had: ReadonlyArray<Had>
}

/**
 * Which of the rectangles have entries of the selection, by their batch, and whether an entry is in none of them. One pass
 * over the selection; what it keeps are days and steps, not entries.
 */
const overlap = Effect.fn("Export.overlap")(function* (
  bookId: number,
  selection: Selection,
  parts: ReadonlyArray<Covered & { readonly batch: number }>,
) {
  const database = yield* Database
  return yield* database.row(
    "Export.overlap",
    { batches: arrayOf(int4), news: bool },
    (sql) => sql`
      with points as materialized (
        select distinct e.effective_date as day, e.numbering as step from ledger.journal e
        where ${selected(sql, bookId, selection)}),
      parts as materialized (
        select * from json_to_recordset(${JSON.stringify(parts)}::text::json)
          as c (batch integer, "from" date, "to" date, after bigint, through bigint)),
      found as materialized (
        select p.day, p.step, array_agg(c.batch) as batches
        from points p
        left join parts c on p.day between c."from" and c."to" and p.step > coalesce(c.after, 0) and p.step <= c.through
        group by p.day, p.step)
      select coalesce(bool_or(f.batches = array[null]::integer[]), false) as news,
        coalesce((
          select array_agg(distinct x.batch order by x.batch) from found g cross join unnest(g.batches) as x (batch)
          where x.batch is not null), '{}') as batches
      from found f`,
  )
})

/** An accounting system's format over given dates. */
const tablePlan = Effect.fn("Export.tablePlan")(function* (
  bookId: number,
  basis: string,
  selection: Selection,
  format: FormatName,
  standing: ReadonlyArray<StandingBatch>,
  again: boolean,
) {
  const wanted = box(selection.from, selection.to, 0n, everyStep)
  const own = standing
    .filter(({ formats }) => formats.includes(format))
    .map((batch) => ({ ...batch, region: intersect(batch.region, wanted) }))
    .filter(({ region }) => region.length > 0)
  const whole: Plan = { selection, formats: [format], delta: false, follows: [], supersedes: [] }
  if (own.length === 0) return whole
  if (basis !== nativeBasis) {
    const meeting = own.map(({ batch }) => batch)
    if (again) return { ...whole, supersedes: meeting }
    return yield* exportError(
      "Usage",
      `Batch ${meeting.join(", ")} has days of ${selection.text} for ${format} in ${basis} already. That journal changes as a whole: --again writes it again, to be imported in its place. Nothing was written.`,
    )
  }
  const parts = own.flatMap(({ batch, region }) => coveredBy(region, 0n).map((part) => ({ ...part, batch })))
  const { batches, news } = yield* overlap(bookId, selection, parts)
  if (batches.length === 0) return whole
  if (again) return { ...whole, supersedes: batches }
  if (!news) return { formats: [format], batches } satisfies Had
  const had = union(own.filter(({ batch }) => batches.includes(batch)).map(({ region }) => region))
  return { ...whole, selection: { ...selection, covered: coveredBy(had, 0n) }, delta: true, follows: batches }
})

/** What no batch of the format has, of whatever date. */
const newsOf = (format: FormatName, standing: ReadonlyArray<StandingBatch>, archived: Archived): Plan => {
  const had = union(withArchived(regionsOf(format, standing), archived))
  const since = wholeThrough(had)
  const more = subtract(had, box(null, null, 0n, since))
  const selection = sinceSelection(since, coveredBy(more, since))
  return { selection, formats: [format], delta: false, follows: [], supersedes: [] }
}

/** Batches of the very selection that hold nothing but what is written anew. */
const replaced = (
  { text }: Selection,
  formats: ReadonlyArray<FormatName>,
  standing: ReadonlyArray<StandingBatch>,
): ReadonlyArray<number> => {
  const known: ReadonlyArray<string> = formats
  return standing
    .filter(
      (batch) =>
        batch.scope === text && batch.formats.every((name) => !accumulates(name) && known.includes(name)),
    )
    .map(({ batch }) => batch)
}

const inOrder = (numbers: ReadonlyArray<number>): ReadonlyArray<number> =>
  [...new Set(numbers)].sort((a, b) => a - b)

const entriesOf = ({ selection: { covered, since } }: Plan): string => JSON.stringify([since, covered])

/** Plans of the same entries, which one pass writes, in the order in which they were made. */
export const bySelection = (
  plans: ReadonlyArray<Plan>,
): ReadonlyArray<{ readonly selection: Selection; readonly plans: ReadonlyArray<Plan> }> => {
  const groups = new Map<string, { selection: Selection; plans: Array<Plan> }>()
  for (const plan of plans) {
    const key = entriesOf(plan)
    const group = groups.get(key) ?? { selection: plan.selection, plans: [] }
    group.plans.push(plan)
    groups.set(key, group)
  }
  return [...groups.values()]
}

/** Formats with the same entries go together, in the order in which they were asked for. */
const grouped = (plans: ReadonlyArray<Plan>, formats: ReadonlyArray<FormatName>): ReadonlyArray<Plan> => {
  const groups = new Map<string, Plan>()
  for (const plan of plans) {
    const key = entriesOf(plan)
    const group = groups.get(key)
    groups.set(
      key,
      group === undefined
        ? plan
        : {
            ...group,
            formats: formats.filter((name) => group.formats.includes(name) || plan.formats.includes(name)),
            follows: inOrder([...group.follows, ...plan.follows]),
            supersedes: inOrder([...group.supersedes, ...plan.supersedes]),
          },
    )
  }
  return [...groups.values()]
}

/** A plan for each format. A batch that several of them take the place of is superseded by the first. */
const separate = (plans: ReadonlyArray<Plan>): ReadonlyArray<Plan> => {
  const taken = new Set<number>()
  return plans
    .flatMap((plan) => plan.formats.map((format) => ({ ...plan, formats: [format] })))
    .map((plan) => {
      const supersedes = plan.supersedes.filter((batch) => !taken.has(batch))
      for (const batch of supersedes) taken.add(batch)
      return { ...plan, supersedes }
    })
}

/** A batch is superseded as a whole: what else an accounting system has from it would come a second time. */
const checkWhole = (
  plans: ReadonlyArray<Plan>,
  formats: ReadonlyArray<FormatName>,
  standing: ReadonlyArray<StandingBatch>,
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

const isPlan = (found: Plan | Had): found is Plan => "selection" in found

/** `selection`: null for what is new. `again`: the whole selection, whatever the batches have. */
export const planBook = Effect.fn("Export.planBook")(function* (
  bookId: number,
  basis: string,
  selection: Selection | null,
  formats: ReadonlyArray<FormatName>,
  again: boolean,
  perFormat = false,
) {
  const tables = formats.filter(accumulates)
  const plain = formats.filter((name) => !accumulates(name))
  const archived = yield* archivedDays(bookId)
  if (selection !== null && selection.asOf !== null) {
    yield* refuseArchivedDays(selection, archived)
    const plan: Plan = { selection, formats, delta: false, follows: [], supersedes: [] }
    return { plans: perFormat ? separate([plan]) : [plan], had: [] } satisfies Plans
  }
  const standing = yield* standingBatches(bookId, basis)
  if (selection === null) {
    for (const format of formats) yield* warnOfGap(format, regionsOf(format, standing), archived)
    const news = formats.map((format) => newsOf(format, standing, archived))
    const plans: Array<Plan> = []
    for (const plan of perFormat ? news : grouped(news, formats)) {
      yield* refuseArchivedDays(plan.selection, archived)
      if (yield* hasNews(bookId, plan.selection)) plans.push(plan)
    }
    return { plans, had: [] } satisfies Plans
  }
  const whole = { selection, delta: false, follows: [], supersedes: replaced(selection, plain, standing) }
  const ownBatches = (format: FormatName) => replaced(selection, [format], standing)
  const shared = whole.supersedes.filter((batch) => !plain.flatMap(ownBatches).includes(batch))
  const wholes: ReadonlyArray<Plan> = perFormat
    ? plain.map((format, at) => ({
        ...whole,
        formats: [format],
        // One that several formats share goes with the first of them.
        supersedes: inOrder([...ownBatches(format), ...(at === 0 ? shared : [])]),
      }))
    : plain.length === 0
      ? []
      : [{ ...whole, formats: plain }]
  const found: ReadonlyArray<Plan | Had> = yield* Effect.forEach(tables, (format) =>
    tablePlan(bookId, basis, selection, format, standing, again),
  )
  const all = [...wholes, ...found.filter(isPlan)]
  const plans = perFormat ? separate(all) : grouped(all, formats)
  yield* checkWhole(plans, formats, standing)
  for (const { selection: days } of plans) yield* refuseArchivedDays(days, archived)
  return { plans, had: found.filter((one): one is Had => !isPlan(one)) } satisfies Plans
})
