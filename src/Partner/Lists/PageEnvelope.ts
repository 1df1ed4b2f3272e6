/** Where an answer has its rows and its PageInfo (`docs/interface.md`), by the settings' `interface.paging` and `.lists`, and how large it may be. */
import { Effect, Option, Schema } from "effect"
import type { Interface, ListName } from "../../Settings/Interface.ts"
import type { Answer } from "../Attempt.ts"
import * as Fault from "../Fault.ts"
import type { PartnerError } from "../PartnerError.ts"
import { isFields, kindOf } from "../Wire/Fields.ts"

const PageInfo = Schema.Struct({
  hasNextPage: Schema.Boolean,
  endCursor: Schema.optional(Schema.NullOr(Schema.String)),
})
const decodePageInfo = Schema.decodeUnknownOption(PageInfo)

export const pathOf = (dotted: string): ReadonlyArray<string> => (dotted === "" ? [] : dotted.split("."))

/** Whether an answer without PageInfo may be the first page of more: it holds exactly as many items as were asked for. */
export const mayBeCut = (items: number, { size, sizeParam }: Interface["paging"]): boolean =>
  sizeParam !== null && items === size

const at = (value: unknown, path: ReadonlyArray<string>): unknown =>
  path.reduce<unknown>(
    (inner, key) => (isFields(inner) && Object.hasOwn(inner, key) ? inner[key] : undefined),
    value,
  )

/**
 * What an answer has for its items. Null, as some encoders write a list without any, is none where PageInfo says that nothing
 * follows.
 */
export const itemsAt = (
  value: unknown,
  { itemsField, pageInfoField }: Pick<Interface["paging"], "itemsField" | "pageInfoField">,
): unknown => {
  const items = at(value, pathOf(itemsField))
  if (items !== null || pageInfoField === null) return items
  const info = decodePageInfo(at(value, pathOf(pageInfoField)))
  return Option.exists(info, ({ hasNextPage }) => !hasNextPage) ? [] : items
}

/** What there is on the way to a path: the fields of the last object that is there. */
const fieldsSeen = (value: unknown, path: ReadonlyArray<string>): string => {
  if (Array.isArray(value)) return "the answer is an array"
  if (!isFields(value)) return "the answer is not an object"
  const depth = path.findIndex((_, index) => !isFields(at(value, path.slice(0, index + 1))))
  const there = path.slice(0, depth < 0 ? path.length : depth)
  const seen = at(value, there)
  const names = Object.keys(isFields(seen) ? seen : {})
    .slice(0, 10)
    .map((name) => JSON.stringify(name.slice(0, 30)))
  return `${there.length === 0 ? "the answer" : JSON.stringify(there.join("."))} has the fields ${names.join(", ")}`
}

/** What is wrong at a path where something else is expected. */
const wrongAt = (
  value: unknown,
  path: ReadonlyArray<string>,
  expected: string,
  otherwise: string,
): string => {
  const found = at(value, path)
  return found === undefined || path.length === 0
    ? otherwise
    : `what is at ${JSON.stringify(path.join("."))} is ${kindOf(found)}, not ${expected}`
}

interface Envelope {
  readonly items: ReadonlyArray<unknown>
  readonly hasNextPage: boolean
  readonly endCursor: Option.Option<string>
}

/** A page may hold more than was asked for (a service with a least size of its own), but not many times as much. */
const timesTheSize = 10
const alwaysAllowed = 5_000

/** What is wrong with the number of a page's items; undefined: nothing. */
const tooMany = (
  items: ReadonlyArray<unknown>,
  { size, sizeParam }: Interface["paging"],
): string | undefined => {
  const most = Math.max(timesTheSize * size, alwaysAllowed)
  return sizeParam !== null && items.length > most
    ? `a page holds ${items.length} items, and ${size} were asked for`
    : undefined
}

/** Bytes for each row that was asked for, and of any page at least. Rows have one or two thousand. */
const bytesPerRow = 8 * 1024
const leastLimit = 2 * 1024 * 1024

/** The most bytes of a page; undefined: as many as any answer, since no size is asked for. */
export const limitOf = ({ size, sizeParam }: Interface["paging"]): number | undefined =>
  sizeParam === null ? undefined : Math.max(leastLimit, size * bytesPerRow)

/** How the list was asked for. `mayBePlain`: the answer may be the list itself. */
interface Asked {
  readonly kind: ListName
  readonly paging: Interface["paging"]
  readonly mayBePlain: boolean
}

const lastPage: Omit<Envelope, "items"> = { hasNextPage: false, endCursor: Option.none() }

/** Finds rows and PageInfo in an answer by the profile; a list ends only where its PageInfo says so. */
export const openEnvelope = (
  { value }: Answer,
  operation: string,
  { kind, mayBePlain, paging }: Asked,
): Effect.Effect<Envelope, PartnerError> => {
  const { itemsField, pageInfoField } = paging
  const bad = (what: string, path: ReadonlyArray<string>, advice: string) =>
    Effect.fail(
      Fault.make("BadResponse", operation, { detail: `${what}; ${fieldsSeen(value, path)}`, advice }),
    )
  const wrong = (what: string, path: ReadonlyArray<string>, field: "itemsField" | "pageInfoField") =>
    bad(
      what,
      path,
      `Set \`interface.paging.${field}\` to what the service sends, or \`interface.lists.${kind}.${field}\` where only this list differs`,
    )
  const whole = (all: ReadonlyArray<unknown>) =>
    mayBeCut(all.length, paging)
      ? Effect.fail(
          Fault.make("BadResponse", operation, {
            detail: `it holds ${all.length} items, as many as were asked for, and nothing in it says whether more follow`,
            advice: `Set \`interface.lists.${kind}.sizeParam\` to null if this list always comes whole, or else a larger \`size\` there`,
          }),
        )
      : Effect.succeed({ items: all, ...lastPage })
  if (mayBePlain && Array.isArray(value)) return whole(value)
  const itemsPath = pathOf(itemsField)
  const items = itemsAt(value, paging)
  if (!Array.isArray(items)) {
    const what = wrongAt(value, itemsPath, "an array", `there is no array at "${itemsField}"`)
    return wrong(what, itemsPath, "itemsField")
  }
  const excess = tooMany(items, paging)
  if (excess !== undefined) return Effect.fail(Fault.ofExtent(operation, excess).error)
  if (itemsField === "" || pageInfoField === null) return whole(items)
  const infoPath = pathOf(pageInfoField)
  const info = decodePageInfo(at(value, infoPath))
  if (Option.isNone(info)) {
    const [next, end] = [
      [...infoPath, "hasNextPage"],
      [...infoPath, "endCursor"],
    ]
    const promised = (what: string) => `The interface promises ${what}; ask the operators of the service`
    const nextValue = at(value, next)
    if (typeof nextValue === "boolean")
      return bad(wrongAt(value, end, "a string", ""), infoPath, promised("a text"))
    // Another setting leads to PageInfo elsewhere, not to this one with a boolean in it.
    if (nextValue !== undefined)
      return bad(wrongAt(value, next, "a boolean", ""), infoPath, promised("true or false"))
    const what = wrongAt(value, next, "a boolean", `there is no hasNextPage at "${pageInfoField}"`)
    return wrong(what, infoPath, "pageInfoField")
  }
  const cursor = info.value.endCursor
  const endCursor = typeof cursor === "string" && cursor !== "" ? Option.some(cursor) : Option.none()
  return Effect.succeed({ items, hasNextPage: info.value.hasNextPage, endCursor })
}
