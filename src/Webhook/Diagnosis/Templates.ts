/** What services sign in practice: the body, its digest, or either beside an identifier and a time. */

import type { KeyObject } from "node:crypto"
import type { Algorithm } from "../../Settings/Signatures.ts"
import { encodings, type Signatures } from "../../Settings/Signatures.ts"
import type { Capture } from "./Capture.ts"

const separators = [".", ":", "", "\n", "|", ",", "-", " "]
const payloads = ["{body}", "{sha256}"]
const longestValue = 200
const mostHeaders = 12

/** Headers that say nothing of the delivery itself. */
const general =
  /^(?:host|connection|content-.*|accept.*|user-agent|transfer-encoding|via|x-forwarded-.*|forwarded|x-real-ip|traceparent|tracestate|cf-.*)$/

/** Templates to try, the profile's own first. */
export const templatesFor = (capture: Capture, profile: Signatures): ReadonlyArray<string> => {
  const headers = capture.headers
    .filter(([name, value]) => !general.test(name) && value.length <= longestValue)
    .slice(0, mostHeaders)
    .map(([name]) => `{header:${name}}`)
  const parts = [...new Set(["{id}", "{timestamp}", ...headers])]
  const found = [profile.signedPayload, ...payloads]
  for (const payload of payloads) {
    for (const between of separators) {
      for (const part of parts) {
        found.push(`${part}${between}${payload}`, `${payload}${between}${part}`)
        for (const other of parts) {
          if (part !== other) found.push(`${part}${between}${other}${between}${payload}`)
        }
      }
    }
  }
  return [...new Set(found)]
}

export const encodingsFor = (profile: Signatures): ReadonlyArray<Signatures["encoding"]> => [
  profile.encoding,
  ...encodings.filter((encoding) => encoding !== profile.encoding),
]

const hashes = ["sha256", "sha384", "sha512"] as const
const curves: Readonly<Record<string, NonNullable<Algorithm["curve"]>>> = {
  prime256v1: "P-256",
  secp384r1: "P-384",
  secp521r1: "P-521",
}

/** Every way in which a key can have signed. */
export const algorithmsFor = ({
  asymmetricKeyDetails,
  asymmetricKeyType,
}: KeyObject): ReadonlyArray<Algorithm> => {
  switch (asymmetricKeyType) {
    case "ed25519":
      return [{ keyType: "ed25519" }]
    case "ec": {
      const curve = curves[asymmetricKeyDetails?.namedCurve ?? ""]
      if (curve === undefined) return []
      const combinations = (signature: "der" | "ieee-p1363") =>
        hashes.map((hash): Algorithm => ({ keyType: "ec", curve, hash, signature }))
      return [...combinations("der"), ...combinations("ieee-p1363")]
    }
    case "rsa":
    case "rsa-pss":
      return (["rsa", "rsa-pss"] as const).flatMap((keyType) =>
        hashes.map((hash): Algorithm => ({ keyType, minimumBits: 2048, hash })),
      )
    default:
      return []
  }
}
