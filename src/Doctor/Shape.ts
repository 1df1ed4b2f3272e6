/**
 * Describes a JSON answer by its field names and types alone. Values never leave this file: an answer may hold account numbers
 * and names of people.
 */
import { Either } from "effect"
import { scaleOf } from "../Common/Currency.ts"
import * as Money from "../Common/Money.ts"
import { type Fields, isFields } from "../Partner/Wire/Fields.ts"

/** Deeper and wider than anything in the interface; anything beyond is ignored. */
const deepest = 6
const widest = 40
const rowsLookedAt = 50

const identifierLike = /^[A-Za-z_$][A-Za-z0-9_$-]{0,39}$/
const numberLike = /[0-9]{4,}|[0-9a-f]{8}-[0-9a-f]{4}/i

/** Whether a name is a field's. One that looks like data is never repeated: some services key objects by account number. */
export const isName = (name: string): boolean => identifierLike.test(name) && !numberLike.test(name)

const scalar = (value: unknown): string => (value === null ? "null" : typeof value)

const describeFields = (objects: ReadonlyArray<Fields>, depth: number): string => {
  if (depth >= deepest) return "{…}"
  const keys = [...new Set(objects.flatMap((object) => Object.keys(object)))]
  const named = keys.filter(isName).slice(0, widest)
  const parts = named.map((key) => {
    const having = objects.filter((object) => Object.hasOwn(object, key))
    const kind = describeAll(
      having.map((object) => object[key]),
      depth + 1,
    )
    return `${key}${having.length < objects.length ? "?" : ""}: ${kind}`
  })
  if (named.length < keys.length) parts.push("…")
  return parts.length === 0 ? "{}" : `{ ${parts.join(", ")} }`
}

const describeAll = (values: ReadonlyArray<unknown>, depth: number): string => {
  const objects = values.filter(isFields)
  const lists = values.filter((value) => Array.isArray(value))
  const scalars = values.filter((value) => !isFields(value) && !Array.isArray(value)).map(scalar)
  const kinds = new Set(scalars)
  if (objects.length > 0) kinds.add(describeFields(objects, depth))
  if (lists.length > 0) {
    const items = lists.flatMap((list): ReadonlyArray<unknown> => list.slice(0, rowsLookedAt))
    kinds.add(depth >= deepest ? "[…]" : items.length === 0 ? "[]" : `[${describeAll(items, depth + 1)}]`)
  }
  return [...kinds].join(" | ")
}

/** Names and types of an answer, e.g. `{ items: [{ accountId: string, status?: string }], next: null }`. */
export const describe = (value: unknown): string => describeAll([value], 0)

/** The value at a dotted path; undefined where there is none. Empty: the value itself. */
export const at = (value: unknown, dotted: string): unknown =>
  (dotted === "" ? [] : dotted.split(".")).reduce<unknown>(
    (inner, key) => (isFields(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  )

interface Part {
  readonly path: string
  readonly value: unknown
}

/** An answer and everything in it that a dotted path can name, which excludes the content of arrays. */
const parts = (value: unknown, path = "", depth = 0): ReadonlyArray<Part> => {
  const here = { path, value }
  if (!isFields(value) || depth >= deepest) return [here]
  const inside = Object.entries(value)
    .filter(([key]) => isName(key))
    .slice(0, widest)
    .flatMap(([key, child]) => parts(child, path === "" ? key : `${path}.${key}`, depth + 1))
  return [here, ...inside]
}

/** A list in an answer. `known`: its rows have the expected identifier. */
interface List {
  readonly path: string
  readonly rows: ReadonlyArray<unknown>
  readonly known: boolean
}

const isListOfObjects = (rows: ReadonlyArray<unknown>): boolean => rows.length > 0 && rows.every(isFields)

/**
 * The candidates for an answer's list: arrays whose rows have `idField`; else arrays of objects; else the only array, even if
 * it is empty.
 */
export const lists = (answer: unknown, idField: string): ReadonlyArray<List> => {
  const arrays = parts(answer).flatMap(({ path, value }) =>
    Array.isArray(value) ? [{ path, rows: value.slice(), known: false }] : [],
  )
  const ofObjects = arrays.filter(({ rows }) => isListOfObjects(rows))
  const known = ofObjects.filter(({ rows }) =>
    rows.some((row) => isFields(row) && Object.hasOwn(row, idField)),
  )
  if (known.length > 0) return known.map((list) => ({ ...list, known: true }))
  if (ofObjects.length > 0) return ofObjects
  return arrays.length === 1 ? arrays.filter(({ rows }) => rows.length === 0) : []
}

/** The paths of PageInfo in an answer: objects with a boolean `hasNextPage`. Empty path: the answer itself. */
export const pageInfos = (answer: unknown): ReadonlyArray<string> =>
  parts(answer).flatMap(({ path, value }) =>
    isFields(value) && typeof value.hasNextPage === "boolean" ? [path] : [],
  )

/** The candidates for the amount and for the currency among a Money object's fields. */
export const moneyFields = (
  money: Fields,
): { readonly amounts: ReadonlyArray<string>; readonly currencies: ReadonlyArray<string> } => {
  const texts = Object.entries(money).flatMap(([name, value]) =>
    isName(name) && typeof value === "string" ? [{ name, value }] : [],
  )
  return {
    amounts: texts.filter(({ value }) => Either.isRight(Money.parse(value))).map(({ name }) => name),
    currencies: texts.filter(({ value }) => scaleOf(value) !== undefined).map(({ name }) => name),
  }
}

/** Fields of resources that are Money objects on the organization surface. Source: `docs/interface.md`. */
export const moneyKeys = [
  "amount",
  "fee",
  "sourceAmount",
  "destinationAmount",
  "sellAmount",
  "buyAmount",
] as const

/** The Money objects of some rows. */
export const moneys = (rows: ReadonlyArray<unknown>): ReadonlyArray<Fields> =>
  rows
    .slice(0, rowsLookedAt)
    .flatMap((row) => (isFields(row) ? moneyKeys.map((key) => row[key]).filter(isFields) : []))

/** `split`: the witnesses name different candidates, or several each. */
export type Agreement =
  | { readonly kind: "agreed"; readonly name: string }
  | { readonly kind: "split"; readonly names: ReadonlyArray<string> }
  | { readonly kind: "unknown" }

/** The one candidate of every witness; of several the configured one, if it is among them. */
export const agree = (witnesses: ReadonlyArray<ReadonlyArray<string>>, configured: string): Agreement => {
  const all = [...new Set(witnesses.flat())]
  const common = all.filter((name) => witnesses.every((names) => names.includes(name)))
  const [only] = common
  if (common.includes(configured)) return { kind: "agreed", name: configured }
  if (common.length === 1 && only !== undefined) return { kind: "agreed", name: only }
  return all.length === 0 ? { kind: "unknown" } : { kind: "split", names: common.length > 0 ? common : all }
}

/**
 * Whether the second page follows the first: it has rows that the first lacks, and lacks the row that the first begins with.
 * The pages may overlap at their border. A service that ignores the cursor sends the first page again, perhaps after new rows.
 */
export const movedOn = (
  first: ReadonlyArray<unknown>,
  second: ReadonlyArray<unknown>,
  idField: string,
): boolean => {
  const name = (row: unknown): string => {
    const id = isFields(row) ? row[idField] : undefined
    return typeof id === "string" ? id.toLowerCase() : JSON.stringify(row)
  }
  const before = first.map(name)
  const after = second.map(name)
  return after.some((row) => !before.includes(row)) && !after.some((row) => row === before[0])
}
