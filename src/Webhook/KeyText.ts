/**
 * A public key as a text: PEM, a JWK, or the base64 of its bytes. Whatever could be more than a public key (a private one, a
 * shared secret, a certificate) is refused.
 */
import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto"
import { isRecord } from "../Common/Record.ts"

/** Characters; long enough for RSA with 16,384 bits. */
const longest = 16_384

/** Nobody signs with more keys at a time, and each is parsed before anything else is done. */
export const mostKeys = 64

const labels = ["PUBLIC KEY", "RSA PUBLIC KEY"]

/** One class of characters for the whole text: where two neighbouring classes overlap, matching takes quadratic time. */
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

const ofPem = (text: string): KeyObject | undefined =>
  isPem(text) ? attempt(() => createPublicKey(text)) : undefined

/** By their length in bytes: points of an elliptic curve that follow a byte of 4, which says that they are not compressed. */
const curves: Readonly<Record<number, string>> = { 65: "P-256", 97: "P-384", 133: "P-521" }

/** Bare bytes that name neither curve nor kind, recognized by their length: an Ed25519 key, or a point of an elliptic curve. */
const ofRaw = (bytes: Buffer): KeyObject | undefined => {
  const part = (from: number, to: number) => bytes.toString("base64url", from, to)
  if (bytes.length === 32) return ofJwk({ kty: "OKP", crv: "Ed25519", x: part(0, 32) })
  const crv = bytes[0] === 4 ? curves[bytes.length] : undefined
  const middle = (bytes.length + 1) / 2
  return crv === undefined
    ? undefined
    : ofJwk({ kty: "EC", crv, x: part(1, middle), y: part(middle, bytes.length) })
}

/** SubjectPublicKeyInfo, RSA's own form, or a whole PEM. */
const ofBytes = (bytes: Buffer): KeyObject | undefined => {
  if (bytes.toString("latin1", 0, 5) === "-----") return ofPem(bytes.toString("latin1").trim())
  const der = (type: "pkcs1" | "spki") => attempt(() => createPublicKey({ key: bytes, format: "der", type }))
  return ofRaw(bytes) ?? der("spki") ?? der("pkcs1")
}

/** The key, or undefined where the text is none. */
export const readKey = (text: string): KeyObject | undefined => {
  if (text.length > longest) return undefined
  const trimmed = text.trim()
  if (trimmed.startsWith("-----")) return ofPem(trimmed)
  if (trimmed.startsWith("{")) {
    const value = parsed(trimmed)
    return isRecord(value) ? ofJwk(value) : undefined
  }
  const bare = trimmed.replace(/\s+/g, "")
  if (!/^[A-Za-z0-9+/_-]{40,}={0,2}$/.test(bare)) return undefined
  return ofBytes(Buffer.from(bare, "base64"))
}
