/** What was signed, by the profile's template. */
import { createHash } from "node:crypto"
import { isRecord } from "../Common/Record.ts"
import { placeholder } from "../Settings/Signatures.ts"

/** What a template can be filled with. */
export interface Material {
  readonly body: Uint8Array
  /** The one value of a header, by its name in lower case; undefined where there is none, or several. */
  readonly header: (name: string) => string | undefined
}

type Part = (material: Material) => Uint8Array | undefined

/** `id` and `timestamp` stand in the envelope. Nothing but these two texts is looked at before the signature is checked. */
export const ofEnvelope = (field: "id" | "timestamp", { body }: Material): Uint8Array | undefined => {
  try {
    const value: unknown = JSON.parse(Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString())
    const text = isRecord(value) && Object.hasOwn(value, field) ? value[field] : undefined
    return typeof text === "string" ? Buffer.from(text) : undefined
  } catch {
    return undefined
  }
}

const partOf = (name: string): Part => {
  switch (name) {
    case "body":
      return ({ body }) => body
    case "sha256":
      return ({ body }) => Buffer.from(createHash("sha256").update(body).digest("hex"))
    case "id":
    case "timestamp":
      return (material) => ofEnvelope(name, material)
    default: {
      const header = name.slice("header:".length).toLowerCase()
      return (material) => {
        const value = material.header(header)
        // Node gives header bytes as latin1.
        return value === undefined ? undefined : Buffer.from(value, "latin1")
      }
    }
  }
}

const literal = (text: string): ReadonlyArray<Part> => {
  const bytes = Buffer.from(text)
  return bytes.length === 0 ? [] : [() => bytes]
}

/** Makes the function that computes which bytes were signed by the template; undefined if a part is missing. */
export const signedPayload = (template: string): ((material: Material) => Uint8Array | undefined) => {
  const pieces = template.split(placeholder)
  const parts = pieces.flatMap((piece, index) => (index % 2 === 0 ? literal(piece) : [partOf(piece)]))
  const [only, ...others] = parts
  if (only !== undefined && others.length === 0) return only
  return (material) => {
    const filled: Array<Uint8Array> = []
    for (const part of parts) {
      const bytes = part(material)
      if (bytes === undefined) return undefined
      filled.push(bytes)
    }
    return Buffer.concat(filled)
  }
}
