import { Either, Option } from "effect"
import type { Malformed, Row } from "../Lists/Page.ts"
import { Fault, type Fields, isFields } from "./Fields.ts"
import * as JsonText from "./JsonText.ts"

/**
 * Decodes one kind of row. `source` gives the row's JSON as the service wrote it; it is expensive, so call it only when
 * needed.
 */
export interface Decoder<A> {
  readonly idField: string
  readonly decode: (row: Fields, source: () => string) => A
}

/** The text of an answer, and what decoding its bytes showed. */
export interface Source {
  readonly text: string
  /** It may hold text that the database refuses: NUL, a lone surrogate, or bytes that were no UTF-8. */
  readonly suspect: boolean
  /** Not all bytes were UTF-8; the replacement character stands for the others. */
  readonly replaced: boolean
}

/** jsonb parses recursively; this is far below what it can take and far above what the interface describes. */
const maximumDepth = 64

const loneSurrogate = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/

const refusal = (text: string, replaced: boolean): string | undefined => {
  if (text.includes("\0")) return "holds a NUL character"
  if (loneSurrogate.test(text)) return "holds half of a surrogate pair"
  return replaced && text.includes("\ufffd") ? "is not valid UTF-8" : undefined
}

const checkText = (value: unknown, path: string, replaced: boolean, depth: number): void => {
  if (depth > maximumDepth)
    throw new Fault(path.slice(0, 200), `is nested deeper than ${maximumDepth} levels`)
  if (typeof value === "string") {
    const reason = refusal(value, replaced)
    if (reason !== undefined) throw new Fault(path, reason)
  } else if (Array.isArray(value)) {
    value.forEach((item: unknown, index) => {
      checkText(item, `${path}[${index}]`, replaced, depth + 1)
    })
  } else if (isFields(value)) {
    for (const [key, item] of Object.entries(value)) {
      const reason = refusal(key, replaced)
      if (reason !== undefined) throw new Fault(path, `has a field whose name ${reason}`)
      checkText(item, `${path}.${key}`, replaced, depth + 1)
    }
  }
}

/** JSON text that the database can hold; throws a `Fault` where it cannot. */
export const storable = (text: string, path = "$"): string => {
  const { depth, absurdNumber } = JsonText.shape(text)
  if (depth > maximumDepth) throw new Fault(path, `is nested deeper than ${maximumDepth} levels`)
  if (absurdNumber) throw new Fault(path, "holds a number that no database could keep")
  return text.trim()
}

/** A row's own identifier, in lower case, where that much can be read. */
export const idOf = (value: unknown, field: string): Option.Option<string> => {
  const id = isFields(value) ? value[field] : undefined
  if (typeof id !== "string" || id.length > 100 || refusal(id, true) !== undefined) return Option.none()
  return Option.some(id.toLowerCase())
}

/** Reads one row; a row that cannot be read becomes `Malformed` and harms no other. */
export const decode = <A>(
  decoder: Decoder<A>,
  value: unknown,
  source: () => string,
  from: Source,
): Row<A> => {
  try {
    if (!isFields(value)) throw new Fault("$", "expected an object")
    if (from.suspect) checkText(value, "$", from.replaced, 1)
    return Either.right(decoder.decode(value, source))
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
    const malformed: Malformed = {
      raw: source(),
      reason: fault.reason,
      path: fault.path,
      id: idOf(value, decoder.idField),
    }
    return Either.left(malformed)
  }
}

/** Reads the rows of a list answer, whose array lies at `path` in the text. */
export const decodeAll = <A>(
  decoder: Decoder<A>,
  items: ReadonlyArray<unknown>,
  from: Source,
  path: ReadonlyArray<string>,
): ReadonlyArray<Row<A>> => {
  let texts: ReadonlyArray<string> | undefined
  return items.map((item, index) => {
    const source = () => {
      texts ??= JsonText.elements(from.text, path)
      return texts[index] ?? "null"
    }
    return decode(decoder, item, source, from)
  })
}
