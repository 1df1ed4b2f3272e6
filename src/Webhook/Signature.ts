/** Whether bytes were signed with the private half of a key: the profile's algorithms over `node:crypto`. */
import { constants, type KeyObject, type VerifyKeyObjectInput, verify } from "node:crypto"
import type { Algorithm, Signatures } from "../Settings/Signatures.ts"

/** OpenSSL's names of the curves that the settings can name. */
const curveNames: Readonly<Record<NonNullable<Algorithm["curve"]>, string>> = {
  "P-256": "prime256v1",
  "P-384": "secp384r1",
  "P-521": "secp521r1",
}

/** No RSA key below this is accepted, whatever the settings say. */
const leastBits = 2_048

/**
 * Why this key may not be used with this algorithm; undefined if it may. Ask this first: `verify` would go by the key's type,
 * not by the algorithm's.
 */
export const misfit = (algorithm: Algorithm, key: KeyObject): string | undefined => {
  const { asymmetricKeyDetails: details, asymmetricKeyType: type } = key
  const found = type ?? "a secret"
  switch (algorithm.keyType) {
    case "ed25519":
      return type === "ed25519" ? undefined : `the key is ${found}, not ed25519`
    case "ec": {
      if (type !== "ec") return `the key is ${found}, not ec`
      const wanted = algorithm.curve === undefined ? undefined : curveNames[algorithm.curve]
      return details?.namedCurve === wanted
        ? undefined
        : `the key's curve is ${details?.namedCurve ?? "unknown"}, not ${wanted}`
    }
    case "rsa":
    case "rsa-pss": {
      // A key that is restricted to PSS must not check anything else; a plain one may check both.
      if (type !== "rsa" && !(type === "rsa-pss" && algorithm.keyType === "rsa-pss")) {
        return `the key is ${found}, not ${algorithm.keyType}`
      }
      const least = Math.max(leastBits, algorithm.minimumBits ?? leastBits)
      const bits = details?.modulusLength ?? 0
      if (bits < least) return `the key has ${bits} bits, fewer than ${least}`
      // With an exponent of 1 the signature is the message: anybody can make it.
      const exponent = details?.publicExponent ?? 0n
      if (exponent < 3n || exponent % 2n === 0n) return `the key's public exponent is ${exponent}`
      const bound = details?.hashAlgorithm
      return bound === undefined || bound === algorithm.hash
        ? undefined
        : `the key is for ${bound}, not ${algorithm.hash}`
    }
  }
}

type Checking = readonly [hash: string | undefined | null, key: VerifyKeyObjectInput]

const checking = ({ hash, keyType, signature }: Algorithm, key: KeyObject): Checking => {
  switch (keyType) {
    case "ed25519":
      return [null, { key }]
    case "ec":
      return [hash, { key, dsaEncoding: signature ?? "der" }]
    case "rsa":
      return [hash, { key, padding: constants.RSA_PKCS1_PADDING }]
    case "rsa-pss":
      // Services differ in the length of the salt; a key that is restricted to one says which, else the signature does.
      return [
        hash,
        {
          key,
          padding: constants.RSA_PKCS1_PSS_PADDING,
          saltLength: key.asymmetricKeyDetails?.saltLength ?? constants.RSA_PSS_SALTLEN_AUTO,
        },
      ]
  }
}

/** Whether the signature is the key's over the bytes. The key must have been found to fit the algorithm. */
export const isSigned = (
  algorithm: Algorithm,
  key: KeyObject,
  data: Uint8Array,
  signature: Uint8Array,
): boolean => {
  try {
    const [hash, input] = checking(algorithm, key)
    return verify(hash, data, input, signature)
  } catch {
    return false
  }
}

/** The same on another thread: this is a fifth of a delivery's work, and other deliveries need not wait for it. */
export const isSignedApart = (
  algorithm: Algorithm,
  key: KeyObject,
  data: Uint8Array,
  signature: Uint8Array,
): Promise<boolean> =>
  new Promise((resolve) => {
    try {
      const [hash, input] = checking(algorithm, key)
      verify(hash, data, input, signature, (error, good) => resolve(error === null && good))
    } catch {
      resolve(false)
    }
  })

const grammar: Readonly<Record<Signatures["encoding"], RegExp>> = {
  base64: /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}(?:==)?|[A-Za-z0-9+/]{3}=?)?$/,
  base64url: /^(?:[A-Za-z0-9_-]{4})*(?:[A-Za-z0-9_-]{2}(?:==)?|[A-Za-z0-9_-]{3}=?)?$/,
  hex: /^(?:[0-9a-fA-F]{2})+$/,
}

const unpadded = (text: string): string => text.replace(/=+$/, "")

/** The bytes that a header's text encodes; undefined where it is not that encoding, or not its canonical form. */
export const decodeSignature = (text: string, encoding: Signatures["encoding"]): Buffer | undefined => {
  if (text === "" || !grammar[encoding].test(text)) return undefined
  const bytes = Buffer.from(text, encoding)
  return encoding === "hex" || bytes.toString(encoding).startsWith(unpadded(text)) ? bytes : undefined
}
