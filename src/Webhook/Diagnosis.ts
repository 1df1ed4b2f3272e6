/**
 * Finds out, offline, how a captured delivery was signed: which header holds the signature, in which encoding, over what, and
 * by which algorithm. The result belongs into the settings.
 */
import type { Algorithm, Signatures } from "../Settings/Signatures.ts"
import { type Capture, readCapture } from "./Diagnosis/Capture.ts"
import { type Candidate, readKeys } from "./Diagnosis/KeyFile.ts"
import { algorithmsFor, encodingsFor, templatesFor } from "./Diagnosis/Templates.ts"
import { decodeSignature, isSigned, misfit } from "./Signature.ts"
import { signedPayload } from "./SignedPayload.ts"

export { readCapture, readKeys }

/** How the delivery was signed, in the words of `interface.webhook`. */
export interface Found {
  readonly headers: Signatures["headers"]
  readonly signedPayload: string
  readonly encoding: Signatures["encoding"]
  /** What the algorithm header said; undefined where there was none. */
  readonly algorithmName: string | undefined
  readonly algorithm: Algorithm
  /** The name in the key's record where it differs from the header's: both names have to mean the algorithm. */
  readonly algorithmOfKey: string | undefined
  /** The key's identifier, where the file of keys has them. */
  readonly keyId: string | undefined
  /** Whether the body is exactly as in the file; otherwise its end was cut off, or its JSON printed again. */
  readonly bodyAsSaved: boolean
}

export interface Diagnosis {
  readonly found: Found | undefined
  readonly tried: number
  /** Header names that could hold a signature. */
  readonly signatureHeaders: ReadonlyArray<string>
}

const mostSignatures = 6
/** Ed25519 and P-256 have 64 bytes; nothing accepted is shorter than half of a DER signature. */
const shortestSignature = 40

const value = (capture: Capture, name: string): string | undefined => {
  const values = capture.headers.filter(([found]) => found === name)
  return values.length === 1 ? values[0]?.[1] : undefined
}

interface Signature {
  readonly name: string
  readonly encoding: Signatures["encoding"]
  readonly bytes: Uint8Array
}

const signaturesIn = (capture: Capture, profile: Signatures): ReadonlyArray<Signature> => {
  const own = profile.headers.signature
  const ordered = [...capture.headers].sort(
    ([a], [b]) => Number(b === own) - Number(a === own) || Number(/sig/.test(b)) - Number(/sig/.test(a)),
  )
  return ordered
    .flatMap(([name, text]) =>
      encodingsFor(profile).flatMap((encoding): ReadonlyArray<Signature> => {
        const bytes = decodeSignature(text, encoding)
        return bytes === undefined || bytes.length < shortestSignature ? [] : [{ name, encoding, bytes }]
      }),
    )
    .slice(0, mostSignatures)
}

const keyHeader = (capture: Capture, profile: Signatures, keys: ReadonlyArray<Candidate>): string => {
  if (value(capture, profile.headers.keyId) !== undefined) return profile.headers.keyId
  const byId = capture.headers.find(([, text]) => keys.some(({ id }) => id === text))
  const byName = capture.headers.find(([name]) => /key-?id|keyid|-key$|kid$/.test(name))
  return byId?.[0] ?? byName?.[0] ?? profile.headers.keyId
}

const algorithmHeader = (capture: Capture, profile: Signatures): string => {
  if (value(capture, profile.headers.algorithm) !== undefined) return profile.headers.algorithm
  return capture.headers.find(([name]) => /alg/.test(name))?.[0] ?? profile.headers.algorithm
}

/** Tries every combination, the profile's first. */
export const diagnose = (
  capture: Capture,
  keys: ReadonlyArray<Candidate>,
  profile: Signatures,
): Diagnosis => {
  const signatures = signaturesIn(capture, profile)
  const signatureHeaders = [...new Set(signatures.map(({ name }) => name))]
  const headers = {
    keyId: keyHeader(capture, profile, keys),
    algorithm: algorithmHeader(capture, profile),
  }
  const header = (name: string) => value(capture, name)
  let tried = 0
  for (const template of templatesFor(capture, profile)) {
    const payloadOf = signedPayload(template)
    for (const [index, body] of capture.bodies.entries()) {
      const payload = payloadOf({ body, header })
      if (payload === undefined) continue
      for (const { bytes, encoding, name } of signatures) {
        for (const { algorithm: recorded, id, key } of keys) {
          for (const algorithm of algorithmsFor(key)) {
            tried++
            if (misfit(algorithm, key) !== undefined || !isSigned(algorithm, key, payload, bytes)) continue
            const algorithmName = value(capture, headers.algorithm)
            const found: Found = {
              headers: { signature: name, ...headers },
              signedPayload: template,
              encoding,
              algorithmName,
              algorithm,
              algorithmOfKey: recorded === algorithmName ? undefined : recorded,
              keyId: id,
              bodyAsSaved: index === 0,
            }
            return { found, tried, signatureHeaders }
          }
        }
      }
    }
  }
  return { found: undefined, tried, signatureHeaders }
}
