/**
 * A public key as a text: PEM, the base64 of its DER (SubjectPublicKeyInfo), or a JWK. Whatever could be more than a
 * public key (a private one, a shared secret, a certificate) is refused.
 */
import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto"
import { isRecord } from "../Common/Record.ts"

/** Characters; long enough for RSA with 16,384 bits. */
const longest = 16_384

/** Nobody signs with more keys at a time: each of them is parsed before anything else is done. */
export const mostKeys = 64

const labels = ["PUBLIC KEY", "RSA PUBLIC KEY"]

/** One class of characters over the whole: what two neighbouring ones can share takes quadratic time to tell apart. */
const isPem = (text: string): boolean =>
  labels.some((label) => {
    const [begin, end] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`]
    const framed = text.startsWith(begin) && text.endsWith(end)
    return framed && /^\s[A-Za-z0-9+/=\s]+$/.test(text.slice(begin.length, -end.length))
  })

const attempt = (make: () => KeyObject): KeyObject | undefined => {
  try {
    return make()
  } catch {
    return undefined
  }
}

const ofJwk = (jwk: JsonWebKey): KeyObject | undefined =>
  // `d` is the private half; `oct` is a shared secret.
  jwk.d === undefined && jwk.k === undefined && ["EC", "RSA", "OKP"].includes(String(jwk.kty))
    ? attempt(() => createPublicKey({ key: jwk, format: "jwk" }))
    : undefined

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The key, or undefined where the text is none. */
export const readKey = (text: string): KeyObject | undefined => {
  if (text.length > longest) return undefined
  const trimmed = text.trim()
  if (trimmed.startsWith("-----")) return isPem(trimmed) ? attempt(() => createPublicKey(trimmed)) : undefined
  if (trimmed.startsWith("{")) {
    const value = parsed(trimmed)
    return isRecord(value) ? ofJwk(value) : undefined
  }
  const bare = trimmed.replace(/\s+/g, "")
  if (!/^[A-Za-z0-9+/_-]{40,}={0,2}$/.test(bare)) return undefined
  return attempt(() => createPublicKey({ key: Buffer.from(bare, "base64"), format: "der", type: "spki" }))
}
