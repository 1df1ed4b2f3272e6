/**
 * The event in a body whose signature is good (`docs/interface.md`, Events): only what the inbox needs of it. A body that
 * cannot be read is poison: it is kept raw, since it did come from the service.
 */
import { Either } from "effect"
import { isRecord } from "../Common/Record.ts"

export interface Envelope {
  readonly id: string
  /** Verbatim, known or not. */
  readonly type: string
}

/** Far below what a database of JSON can take and far above what the interface describes. */
const deepest = 32
const longestText = 255

const decoder = new TextDecoder("utf-8", { fatal: true })

const utf8 = (body: Uint8Array): string | undefined => {
  try {
    return decoder.decode(body)
  } catch {
    return undefined
  }
}

const json = (text: string): Either.Either<unknown, string> =>
  Either.try({ try: (): unknown => JSON.parse(text), catch: () => "is not JSON" })

/** What is wrong with the shape of a value; never recurses, so that no nesting can exhaust the stack. */
const trouble = (root: unknown): string | undefined => {
  const open: Array<readonly [value: unknown, depth: number]> = [[root, 1]]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [value, depth] = next
    if (typeof value !== "object" || value === null) continue
    if (depth > deepest) return `is nested deeper than ${deepest} levels`
    if (Object.hasOwn(value, "__proto__")) return "has a field __proto__"
    for (const inner of Object.values(value)) open.push([inner, depth + 1])
  }
  return undefined
}

/** Text that can be stored, printed and typed. */
const isPlain = (value: unknown): value is string =>
  typeof value === "string" &&
  value.length > 0 &&
  value.length <= longestText &&
  value.isWellFormed() &&
  !/[\p{Cc}\u2028\u2029]/u.test(value)

/** Left: why it cannot be read. */
export const readEnvelope = (body: Uint8Array): Either.Either<Envelope, string> => {
  const text = utf8(body)
  if (text === undefined) return Either.left("is not UTF-8")
  return Either.flatMap(json(text), (value): Either.Either<Envelope, string> => {
    const wrong = trouble(value)
    if (wrong !== undefined) return Either.left(wrong)
    if (!isRecord(value)) return Either.left("is not an object")
    const { id, type } = value
    if (!isPlain(id)) return Either.left("has no id that is a text of 1 to 255 characters")
    if (!isPlain(type)) return Either.left("has no type that is a text of 1 to 255 characters")
    return Either.right({ id, type })
  })
}
