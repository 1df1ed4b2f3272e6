/** Proposes the names of a profile from a survey. Pure. */
import type { Fields } from "../Partner/Wire/Fields.ts"
import { type Interface, type ListName, pagingOf } from "../Settings/Interface.ts"
import type { Paged } from "./OpenPage.ts"
import * as Shape from "./Shape.ts"
import type { Sample, Survey, Undetermined } from "./Survey.ts"

export interface Proposal {
  readonly profile: Interface
  readonly undetermined: ReadonlyArray<Undetermined>
}

const quoted = (names: ReadonlyArray<string>): string => names.map((name) => JSON.stringify(name)).join(", ")

const open = (setting: string, reason: string, blocking = false): Undetermined => ({
  setting,
  reason,
  blocking,
})

const witnesses = (samples: ReadonlyArray<Sample>) => {
  const known = samples.filter((sample) => sample.known)
  const filled = samples.filter(({ rows }) => rows.length > 0)
  return known.length > 0 ? known : filled.length > 0 ? filled : samples
}

type PagingField = "itemsField" | "pageInfoField"

/** A field of paging as far as the answers show it. */
interface Sought {
  readonly field: PagingField
  readonly what: string
  readonly names: (sample: Sample) => ReadonlyArray<string>
}

interface Named {
  readonly name: string
  readonly undetermined: ReadonlyArray<Undetermined>
}

/** The name that most kinds of lists have; undefined where no name is that of several. */
const commonest = (naming: ReadonlyArray<ReadonlyArray<string>>): string | undefined => {
  const counts = new Map<string, number>()
  for (const name of naming.flat()) counts.set(name, (counts.get(name) ?? 0) + 1)
  const [first, second] = [...counts].sort(([, a], [, b]) => b - a)
  return first !== undefined && first[1] > Math.max(1, second?.[1] ?? 0) ? first[0] : undefined
}

/** The candidates of each kind of list that shows any, by its key: of all its samples. */
const byList = (
  samples: ReadonlyArray<Sample>,
  names: Sought["names"],
): ReadonlyMap<ListName, ReadonlyArray<Sample>> => {
  const lists = new Map<ListName, ReadonlyArray<Sample>>()
  for (const sample of samples) {
    const { key } = sample.endpoint
    if (names(sample).length > 0) lists.set(key, [...(lists.get(key) ?? []), sample])
  }
  return lists
}

/** The name for all lists: what all have, else what the essential ones have, else what most have, else as configured. */
const nameForAll = (
  { field, names, what }: Sought,
  samples: ReadonlyArray<Sample>,
  configured: string,
): Named => {
  const setting = `interface.paging.${field}`
  const naming = samples.filter((sample) => names(sample).length > 0)
  const agreed = Shape.agree(naming.map(names), configured)
  if (agreed.kind === "agreed") return { name: agreed.name, undetermined: [] }
  if (agreed.kind === "unknown") {
    const reason = samples.length === 0 ? "no list was found" : `no list that was found has ${what}`
    return { name: configured, undetermined: [open(setting, reason, samples.length > 0)] }
  }
  // Several that all lists have: either may be right.
  if (naming.every((sample) => agreed.names.every((name) => names(sample).includes(name)))) {
    const reason = `it may be one of ${quoted(agreed.names)}`
    return { name: configured, undetermined: [open(setting, reason, true)] }
  }
  const essential = Shape.agree(naming.filter(({ endpoint }) => endpoint.essential).map(names), configured)
  if (essential.kind === "agreed") return { name: essential.name, undetermined: [] }
  const candidates = [...byList(naming, names).values()].map((list) => [...new Set(list.flatMap(names))])
  return { name: commonest(candidates) ?? configured, undetermined: [] }
}

/**
 * What a kind of list shows about itself: rows with its identifier, else an answer whose only array is empty. Of other rows
 * nobody knows whether they are the list's.
 */
const telling = (samples: ReadonlyArray<Sample>): ReadonlyArray<Sample> => {
  const known = samples.filter((sample) => sample.known)
  return known.length > 0 ? known : samples.filter(({ rows }) => rows.length === 0)
}

/** The lists that have it elsewhere, with their own name for it. */
const namesApart = (
  { field, names, what }: Sought,
  samples: ReadonlyArray<Sample>,
  common: string | null,
  configured: Interface["lists"],
) => {
  const apart: Array<readonly [ListName, string]> = []
  const undetermined: Array<Undetermined> = []
  for (const [key, shown] of byList(samples, names)) {
    const list = telling(shown)
    const current = configured[key]?.[field] ?? common
    if (list.every((sample) => names(sample).some((name) => name === current))) continue
    const agreed = Shape.agree(list.map(names), common ?? "")
    if (agreed.kind === "agreed") apart.push([key, agreed.name])
    else if (agreed.kind === "split") {
      const reason = `${what} may be at one of ${quoted(agreed.names)}`
      const essential = list.some(({ endpoint }) => endpoint.essential)
      undetermined.push(open(`interface.lists.${key}.${field}`, reason, essential))
    }
  }
  return { apart, undetermined }
}

/** Lists that are the answers themselves, beside others: the service may cut them without a word. */
const plain = (apart: ReadonlyArray<readonly [ListName, string]>): ReadonlyArray<Undetermined> =>
  apart.flatMap(([key, name]) =>
    name === ""
      ? [
          open(
            `interface.lists.${key}.sizeParam`,
            "its answers are the list itself; ask the partner whether it always comes whole",
          ),
        ]
      : [],
  )

/** Lists without PageInfo where others have it. Only a person can know that such a list is never cut. */
const withoutInfo = (samples: ReadonlyArray<Sample>, configured: Paged): ReadonlyArray<Undetermined> => {
  if (samples.every(({ pageInfoFields }) => pageInfoFields.length === 0)) return []
  const without = samples.filter(
    ({ endpoint: { key }, pageInfoFields }) =>
      pageInfoFields.length === 0 && pagingOf(configured, key).pageInfoField !== null,
  )
  const lists = new Map(telling(without).map(({ endpoint }) => [endpoint.key, endpoint]))
  return [...lists.values()].map(({ essential, key }) =>
    open(
      `interface.lists.${key}.pageInfoField`,
      "its answers have none; set null if the partner says that this list always comes whole",
      essential,
    ),
  )
}

const withNames = (
  lists: Interface["lists"],
  field: PagingField,
  apart: ReadonlyArray<readonly [ListName, string]>,
): Interface["lists"] => ({
  ...lists,
  ...Object.fromEntries(apart.map(([key, name]) => [key, { ...lists[key], [field]: name }])),
})

/** The fields of lists that hold their items and their PageInfo. */
export const paging = (
  samples: ReadonlyArray<Sample>,
  configured: Paged,
): Paged & { readonly undetermined: ReadonlyArray<Undetermined> } => {
  const itemsSought: Sought = {
    field: "itemsField",
    what: "its items",
    names: ({ itemsFields }) => itemsFields,
  }
  const infoSought: Sought = {
    field: "pageInfoField",
    what: "an object with a boolean hasNextPage",
    names: ({ pageInfoFields }) => pageInfoFields,
  }
  const items = nameForAll(itemsSought, witnesses(samples), configured.paging.itemsField)
  const itemsApart = namesApart(itemsSought, samples, items.name, configured.lists)
  const enveloped = samples.filter(({ itemsFields }) => !itemsFields.includes(""))
  const { pageInfoField } = configured.paging
  const info =
    pageInfoField === null || (enveloped.length === 0 && items.name === "")
      ? { name: pageInfoField, undetermined: [] }
      : nameForAll(infoSought, enveloped, pageInfoField)
  const infoApart = namesApart(infoSought, enveloped, info.name, configured.lists)
  const lists = withNames(configured.lists, "itemsField", itemsApart.apart)
  return {
    paging: { ...configured.paging, itemsField: items.name, pageInfoField: info.name },
    lists: withNames(lists, "pageInfoField", infoApart.apart),
    undetermined: [
      ...[items, itemsApart, info, infoApart].flatMap(({ undetermined }) => undetermined),
      ...plain(itemsApart.apart),
      ...withoutInfo(enveloped, configured),
    ],
  }
}

const moneyReason = (
  agreement: Exclude<Shape.Agreement, { readonly kind: "agreed" }>,
  what: string,
): string =>
  agreement.kind === "split"
    ? `it may be one of ${quoted(agreement.names)}`
    : `the Money objects that were seen have no field that holds ${what}`

/** The names within Money objects. `expected`: the organization surface, where amounts come as such objects. */
export const money = (
  objects: ReadonlyArray<Fields>,
  configured: Interface["money"],
  expected: boolean,
): { readonly money: Interface["money"]; readonly undetermined: ReadonlyArray<Undetermined> } => {
  if (objects.length === 0) {
    const reason = "no deposit, withdrawal or conversion with a Money object was seen"
    return { money: configured, undetermined: expected ? [open("interface.money", reason)] : [] }
  }
  const fields = objects.map(Shape.moneyFields)
  const amount = Shape.agree(
    fields.map(({ amounts }) => amounts),
    configured.amountField,
  )
  const currency = Shape.agree(
    fields.map(({ currencies }) => currencies),
    configured.currencyField,
  )
  return {
    money: {
      amountField: amount.kind === "agreed" ? amount.name : configured.amountField,
      currencyField: currency.kind === "agreed" ? currency.name : configured.currencyField,
    },
    undetermined: [
      ...(amount.kind === "agreed"
        ? []
        : [open("interface.money.amountField", moneyReason(amount, "a decimal as a string"), true)]),
      ...(currency.kind === "agreed"
        ? []
        : [open("interface.money.currencyField", moneyReason(currency, "a currency code"), true)]),
    ],
  }
}

/** The profile with the paths that were found. */
export const withPaths = (profile: Interface, found: Survey["paths"]): Interface => {
  const pick = (isClients: boolean) =>
    Object.fromEntries(
      found
        .filter(({ surface, key }) => (surface === "client" && key !== "clients") === isClients)
        .map(({ key, path }) => [key, path]),
    )
  const paths = { ...profile.paths, ...pick(false) }
  return { ...profile, paths, clientPaths: { ...profile.clientPaths, ...pick(true) } }
}
