/** The public keys in a file: one key as text, a PublicKey of the service, or its list of them. */
import type { KeyObject } from "node:crypto"
import { isRecord } from "../../Common/Record.ts"
import { mostKeys, readKey } from "../KeyText.ts"

export interface Candidate {
  /** Undefined where the file holds the bare key. */
  readonly id: string | undefined
  /** What the service's record of the key says; undefined where the file has none. */
  readonly algorithm: string | undefined
  readonly key: KeyObject
}

/** A PublicKey of the service, or a bare JWK; undefined where the value is neither. */
const textIn = (value: Readonly<Record<string, unknown>>) => {
  const { algorithm, kid, kty, publicKey, publicKeyId } = value
  if (publicKey !== undefined) {
    const written = typeof publicKey === "string" ? publicKey : JSON.stringify(publicKey)
    return { id: publicKeyId, text: written, algorithm }
  }
  return kty === undefined ? undefined : { id: kid, text: JSON.stringify(value), algorithm: undefined }
}

const textOr = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)

/** In the order of the file. A list answer may call its field of items anything. Never recurses: any nesting can be read. */
const ofValue = (root: unknown): ReadonlyArray<Candidate> => {
  const candidates: Array<Candidate> = []
  const open: Array<unknown> = [root]
  let looked = 0
  while (open.length > 0 && looked < mostKeys) {
    const value = open.pop()
    if (typeof value !== "object" || value === null) continue
    const found = isRecord(value) ? textIn(value) : undefined
    if (found === undefined) {
      for (const inner of Object.values(value).reverse()) open.push(inner)
      continue
    }
    looked++
    const key = readKey(found.text)
    if (key !== undefined) candidates.push({ id: textOr(found.id), algorithm: textOr(found.algorithm), key })
  }
  return candidates
}

export const readKeys = (text: string): ReadonlyArray<Candidate> => {
  const bare = readKey(text)
  if (bare !== undefined) return [{ id: undefined, algorithm: undefined, key: bare }]
  try {
    return ofValue(JSON.parse(text))
  } catch {
    return []
  }
}
