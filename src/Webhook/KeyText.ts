/**
 * A public key as a text: PEM, a JWK, or its bytes in base64 or as hexadecimal digits. Whatever could be more than a public key (a private one, a
 * shared secret, a certificate) is refused.
 */
import { createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto"
import { isRecord } from "../Common/Record.ts"

/** Characters; long enough for RSA with 16,384 bits. */
const longest = 16_384

/** Nobody signs with more keys at a time, and each is parsed before anything else is done. */
export const mostKeys = 64

const labels = [
  ["PUBLIC KEY", "spki"],
  ["RSA PUBLIC KEY", "pkcs1"],
] as const

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

/** Node also takes private keys for the form `pkcs1`: RSA's, and from version 24 on any. They have more than the public key. */
const ofDer = (bytes: Buffer, type: "pkcs1" | "spki"): KeyObject | undefined => {
  const key = attempt(() => createPublicKey({ key: bytes, format: "der", type }))
  if (key === undefined || type === "spki") return key
  // The longer form ends with the shorter one.
  return key.export({ type: "spki", format: "der" }).subarray(-bytes.length).equals(bytes) ? key : undefined
}

/**
 * On its way through variables, databases and JSON a PEM may have lost its line breaks, or have them as `\n`. OpenSSL reads none of
 * these, so only what is between the labels is read.
 */
const ofPem = (text: string): KeyObject | undefined => {
  const broken = text.replaceAll("\\r", "\n").replaceAll("\\n", "\n").trim()
  for (const [label, type] of labels) {
    const [begin, end] = [`-----BEGIN ${label}-----`, `-----END ${label}-----`]
    if (!broken.startsWith(begin) || !broken.endsWith(end)) continue
    const body = broken.slice(begin.length, -end.length).replace(/\s+/g, "")
    return /^[A-Za-z0-9+/]+={0,2}$/.test(body) ? ofDer(Buffer.from(body, "base64"), type) : undefined
  }
  return undefined
}

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
  return ofRaw(bytes) ?? ofDer(bytes, "spki") ?? ofDer(bytes, "pkcs1")
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
  const [, digits] = /^(?:0x)?((?:[0-9a-f]{2})+)$/i.exec(bare) ?? []
  return (
    ofBytes(Buffer.from(bare, "base64")) ??
    (digits === undefined ? undefined : ofBytes(Buffer.from(digits, "hex")))
  )
}
