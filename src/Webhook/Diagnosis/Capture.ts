/** A delivery that somebody caught and saved: the HTTP request as text, or JSON with headers and body. */
import { Either } from "effect"
import { isRecord } from "../../Common/Record.ts"

export interface Capture {
  /** Names in lower case. */
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** What the body may have been, the likeliest first: saving a file often adds a newline. */
  readonly bodies: ReadonlyArray<Uint8Array>
  /** The public key, where it was saved with it. */
  readonly key: string | undefined
}

const distinct = (bodies: ReadonlyArray<Uint8Array>): ReadonlyArray<Uint8Array> =>
  bodies.filter((body, index) => bodies.findIndex((other) => Buffer.compare(body, other) === 0) === index)

const withoutNewline = (body: Uint8Array): Uint8Array => {
  if (body.at(-1) !== 10) return body
  return body.subarray(0, body.at(-2) === 13 ? -2 : -1)
}

const candidates = (body: Uint8Array, length: number): ReadonlyArray<Uint8Array> =>
  distinct([
    ...(length > 0 && length < body.length ? [body.subarray(0, length)] : []),
    body,
    withoutNewline(body),
  ])

const headersOf = (value: unknown): Capture["headers"] => {
  if (Array.isArray(value)) {
    return value.flatMap((pair: unknown) =>
      Array.isArray(pair) && typeof pair[0] === "string" && typeof pair[1] === "string"
        ? [[pair[0].toLowerCase(), pair[1]] as const]
        : [],
    )
  }
  if (!isRecord(value)) return []
  return Object.entries(value).flatMap(([name, found]) => {
    const texts: ReadonlyArray<unknown> = Array.isArray(found) ? found : [found]
    return texts.flatMap((text) => (typeof text === "string" ? [[name.toLowerCase(), text] as const] : []))
  })
}

const bodiesOf = (value: Record<string, unknown>): ReadonlyArray<Uint8Array> => {
  if (typeof value.bodyBase64 === "string") return [Buffer.from(value.bodyBase64, "base64")]
  if (typeof value.body === "string") return candidates(Buffer.from(value.body), 0)
  // JSON that is printed again differs from what was signed, unless the service prints JSON as we do.
  return isRecord(value.body) || Array.isArray(value.body)
    ? [Buffer.from(JSON.stringify(value.body)), Buffer.from(JSON.stringify(value.body, null, 2))]
    : []
}

const ofJson = (text: string): Either.Either<Capture, string> | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    if (!isRecord(value) || value.headers === undefined) return undefined
    const bodies = bodiesOf(value)
    if (bodies.length === 0) return Either.left("it is JSON with headers, but without a body (a text)")
    const key = typeof value.key === "string" ? value.key : undefined
    return Either.right({ headers: headersOf(value.headers), bodies, key })
  } catch {
    return undefined
  }
}

const ofHttp = (bytes: Buffer): Either.Either<Capture, string> => {
  const blank = /\r?\n\r?\n/.exec(bytes.toString("latin1"))
  if (blank === null) return Either.left("there is no empty line between headers and body")
  const lines = bytes.toString("latin1", 0, blank.index).split(/\r?\n/)
  const headers = lines.flatMap((line) => {
    const [, name, value] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*(.*?)[ \t]*$/.exec(line) ?? []
    return name === undefined || value === undefined ? [] : [[name.toLowerCase(), value] as const]
  })
  if (headers.length === 0) return Either.left("there are no headers above the empty line")
  const length = Number(headers.find(([name]) => name === "content-length")?.[1] ?? 0)
  return Either.right({
    headers,
    bodies: candidates(bytes.subarray(blank.index + blank[0].length), length),
    key: undefined,
  })
}

/** Left: why the file is no delivery. */
export const readCapture = (bytes: Buffer): Either.Either<Capture, string> =>
  ofJson(bytes.toString().replace(/^\uFEFF/, "")) ?? ofHttp(bytes)
