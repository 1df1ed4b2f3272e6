/** Proposes the names of a profile from a survey. Pure. */
import type { Fields } from "../Partner/Wire/Fields.ts"
import type { Interface } from "../Settings/Interface.ts"
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

/**
 * One name for all lists. Where lists differ, the essential ones decide, and the others are reported: the profile has no second
 * name for them.
 */
const nameFor = (
  setting: string,
  what: string,
  samples: ReadonlyArray<Sample>,
  names: (sample: Sample) => ReadonlyArray<string>,
  configured: string,
): { readonly name: string; readonly undetermined: ReadonlyArray<Undetermined> } => {
  const naming = samples.filter((sample) => names(sample).length > 0)
  const agreed = Shape.agree(naming.map(names), configured)
  if (agreed.kind === "agreed") return { name: agreed.name, undetermined: [] }
  if (agreed.kind === "unknown") {
    const reason = samples.length === 0 ? "no list was found" : `no list that was found has ${what}`
    return { name: configured, undetermined: [open(setting, reason, samples.length > 0)] }
  }
  const essential = Shape.agree(naming.filter(({ endpoint }) => endpoint.essential).map(names), configured)
  if (essential.kind !== "agreed") {
    const reason = `it may be one of ${quoted(agreed.names)}`
    return { name: configured, undetermined: [open(setting, reason, true)] }
  }
  const others = naming.filter((sample) => !names(sample).includes(essential.name))
  const keys = [...new Set(others.map(({ endpoint }) => endpoint.key))].join(", ")
  const reason = `${keys}: ${what} elsewhere (${quoted([...new Set(others.flatMap(names))])}); the profile has one name for all lists`
  return { name: essential.name, undetermined: [open(setting, reason)] }
}

/** The fields of lists that hold their items and their PageInfo. */
export const paging = (
  samples: ReadonlyArray<Sample>,
  configured: Interface["paging"],
): { readonly paging: Interface["paging"]; readonly undetermined: ReadonlyArray<Undetermined> } => {
  const items = nameFor(
    "interface.paging.itemsField",
    "its items",
    witnesses(samples),
    ({ itemsFields }) => itemsFields,
    configured.itemsField,
  )
  const enveloped = samples.filter(({ itemsFields }) => !itemsFields.includes(""))
  const info =
    items.name === ""
      ? { name: configured.pageInfoField, undetermined: [] }
      : nameFor(
          "interface.paging.pageInfoField",
          "an object with a boolean hasNextPage",
          enveloped,
          ({ pageInfoFields }) => pageInfoFields,
          configured.pageInfoField,
        )
  return {
    paging: { ...configured, itemsField: items.name, pageInfoField: info.name },
    undetermined: [...items.undetermined, ...info.undetermined],
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
