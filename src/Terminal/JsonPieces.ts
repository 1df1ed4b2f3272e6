/** JSON text in pieces: a list of many rows takes several times their memory as one text. */

/** A list whose items are made one by one, as they are printed. */
class Listed {
  readonly items: () => Generator<unknown>

  constructor(items: () => Generator<unknown>) {
    this.items = items
  }
}

/** A list in a document, with what it shows of each of them. */
export const listed = <A>(all: Iterable<A>, shown: (one: A) => object): object =>
  new Listed(function* () {
    for (const one of all) yield shown(one)
  })

const bigintAsText = (_key: string, value: unknown): unknown =>
  typeof value === "bigint" ? value.toString() : value

const isPlain = (value: unknown): value is object =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

const isList = (value: unknown): value is ReadonlyArray<unknown> | Listed =>
  value instanceof Listed || Array.isArray(value)

/** What JSON has no value for: left out of an object, null in a list. */
const isAbsent = (value: unknown): boolean => ["undefined", "function", "symbol"].includes(typeof value)

const holdsLists = (value: unknown): value is object => isPlain(value) && Object.values(value).some(isList)

/**
 * The pieces add up to `JSON.stringify(value, …, 2)` with integers of any size as text. Objects that hold lists come field by field, and
 * lists item by item.
 */
export function* jsonPieces(value: unknown, indent = ""): Generator<string> {
  const inner = `${indent}  `
  let first = true
  if (isList(value)) {
    yield "["
    for (const item of value instanceof Listed ? value.items() : value) {
      yield `${first ? "" : ","}\n${inner}`
      yield* jsonPieces(item, inner)
      first = false
    }
    yield first ? "]" : `\n${indent}]`
  } else if (holdsLists(value)) {
    yield "{"
    for (const [name, field] of Object.entries(value)) {
      if (isAbsent(field)) continue
      yield `${first ? "" : ","}\n${inner}${JSON.stringify(name)}: `
      yield* jsonPieces(field, inner)
      first = false
    }
    yield `\n${indent}}`
  } else if (isAbsent(value)) yield "null"
  // A text in JSON has no line end of its own.
  else yield JSON.stringify(value, bigintAsText, 2).replaceAll("\n", `\n${indent}`)
}
