/** The plan of one book's batches, and how plans are put together. No database. */
import { accumulates, type FormatName } from "../../Format/Formats.ts"
import { type Archived, withArchived } from "./ArchivedDays.ts"
import { type Selection, sinceSelection } from "./ExportScope.ts"
import { box, subtract, union, wholeThrough } from "./Region.ts"
import { coveredBy, regionsOf, type StandingBatch } from "./StandingBatches.ts"

export interface Plan {
  readonly selection: Selection
  readonly formats: ReadonlyArray<FormatName>
  readonly delta: boolean
  readonly follows: ReadonlyArray<number>
  readonly supersedes: ReadonlyArray<number>
}

/** Formats whose batches hold everything asked for. */
export interface Had {
  readonly formats: ReadonlyArray<FormatName>
  readonly batches: ReadonlyArray<number>
}

export interface Plans {
  readonly plans: ReadonlyArray<Plan>
  readonly had: ReadonlyArray<Had>
}

/** The entries, of any date, that no batch of the format has. */
export const newsOf = (
  format: FormatName,
  standing: ReadonlyArray<StandingBatch>,
  archived: Archived,
): Plan => {
  const had = union(withArchived(regionsOf(format, standing), archived))
  const since = wholeThrough(had)
  const more = subtract(had, box(null, null, 0n, since))
  const selection = sinceSelection(since, coveredBy(more, since))
  return { selection, formats: [format], delta: false, follows: [], supersedes: [] }
}

/** Batches of the same selection all of whose content is written again. */
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

export const entriesOf = ({ selection: { covered, since } }: Plan): string => JSON.stringify([since, covered])

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
export const grouped = (
  plans: ReadonlyArray<Plan>,
  formats: ReadonlyArray<FormatName>,
): ReadonlyArray<Plan> => {
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

/** A plan for each format. Where several plans would supersede one batch, the first does. */
export const separate = (plans: ReadonlyArray<Plan>): ReadonlyArray<Plan> => {
  const taken = new Set<number>()
  return plans
    .flatMap((plan) => plan.formats.map((format) => ({ ...plan, formats: [format] })))
    .map((plan) => {
      const supersedes = plan.supersedes.filter((batch) => !taken.has(batch))
      for (const batch of supersedes) taken.add(batch)
      return { ...plan, supersedes }
    })
}

/** The plans of formats that are exported whole: their batch supersedes the ones before. */
export const wholePlans = (
  selection: Selection,
  formats: ReadonlyArray<FormatName>,
  standing: ReadonlyArray<StandingBatch>,
  perFormat: boolean,
): ReadonlyArray<Plan> => {
  const whole = { selection, delta: false, follows: [], supersedes: replaced(selection, formats, standing) }
  if (!perFormat) return formats.length === 0 ? [] : [{ ...whole, formats }]
  const ownBatches = (format: FormatName) => replaced(selection, [format], standing)
  const shared = whole.supersedes.filter((batch) => !formats.flatMap(ownBatches).includes(batch))
  return formats.map((format, at) => ({
    ...whole,
    formats: [format],
    // A batch that several formats share is superseded by the first of them.
    supersedes: inOrder([...ownBatches(format), ...(at === 0 ? shared : [])]),
  }))
}
