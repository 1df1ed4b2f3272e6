/** Real keys of every algorithm, and signatures with them as a service would make them. */
import { constants, generateKeyPairSync, type KeyObject, sign } from "node:crypto"
import { uuid } from "../Partner/Service.ts"

export interface Pair {
  readonly id: string
  readonly algorithm: string
  readonly privateKey: KeyObject
  readonly publicKey: KeyObject
}

const make: Readonly<Record<string, () => { privateKey: KeyObject; publicKey: KeyObject }>> = {
  ES256: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ES384: () => generateKeyPairSync("ec", { namedCurve: "P-384" }),
  EdDSA: () => generateKeyPairSync("ed25519"),
  RS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  RS512: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  PS256: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
  PS512: () => generateKeyPairSync("rsa", { modulusLength: 2048 }),
}

export const algorithms = ["ES256", "ES384", "EdDSA", "RS256", "RS512", "PS256", "PS512"] as const

let made = 0
export const pairOf = (algorithm: string): Pair => {
  const keys = make[algorithm]?.() ?? generateKeyPairSync("ed25519")
  return { id: uuid(++made), algorithm, ...keys }
}

const hashes: Readonly<Record<string, string>> = {
  ES256: "sha256",
  ES384: "sha384",
  RS256: "sha256",
  RS512: "sha512",
  PS256: "sha256",
  PS512: "sha512",
}

export const signWith = (
  algorithm: string,
  key: KeyObject,
  data: Uint8Array,
  dsaEncoding: "der" | "ieee-p1363" = "der",
): Buffer =>
  sign(algorithm === "EdDSA" ? null : hashes[algorithm], data, {
    key,
    dsaEncoding,
    ...(algorithm.startsWith("PS")
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
      : {}),
  })

type Form = "pem" | "der" | "jwk"

export const textOf = (key: KeyObject, form: Form = "pem"): string => {
  switch (form) {
    case "pem":
      return key.export({ type: "spki", format: "pem" }).toString()
    case "der":
      return key.export({ type: "spki", format: "der" }).toString("base64")
    case "jwk":
      return JSON.stringify(key.export({ format: "jwk" }))
  }
}

/** A PublicKey as the service lists it. */
export const recordOf = (pair: Pair, more: object = {}, form: Form = "pem") => ({
  publicKeyId: pair.id,
  active: true,
  algorithm: pair.algorithm,
  publicKey: textOf(pair.publicKey, form),
  createdAt: "2026-10-01T00:00:00Z",
  ...more,
})
