/** The public keys in a file: one key as text, a PublicKey of the service, or its list of them. */
import type { KeyObject } from "node:crypto"
import { isRecord } from "../../Common/Record.ts"
import { readKey } from "../KeyText.ts"

export interface Candidate {
  /** Undefined where the file holds the bare key. */
  readonly id: string | undefined
  readonly key: KeyObject
}

const ofValue = (value: unknown): ReadonlyArray<Candidate> => {
  if (Array.isArray(value)) return value.flatMap(ofValue)
  if (!isRecord(value)) return []
  const { publicKey: found, publicKeyId } = value
  if (found === undefined) {
    // A list answer, whatever its field of items is called; or a bare JWK, or several.
    const own = value.kty === undefined ? undefined : readKey(JSON.stringify(value))
    const id = typeof value.kid === "string" ? value.kid : undefined
    return own === undefined ? Object.values(value).flatMap(ofValue) : [{ id, key: own }]
  }
  const key = readKey(typeof found === "string" ? found : JSON.stringify(found))
  const id = typeof publicKeyId === "string" ? publicKeyId : undefined
  return key === undefined ? [] : [{ id, key }]
}

export const readKeys = (text: string): ReadonlyArray<Candidate> => {
  const bare = readKey(text)
  if (bare !== undefined) return [{ id: undefined, key: bare }]
  try {
    return ofValue(JSON.parse(text))
  } catch {
    return []
  }
}
