/**
 * How webhook deliveries are signed: `docs/interface.md` (Events) says that three headers carry signature, key
 * identifier and algorithm, and leaves open what they are called, what is signed and how.
 */

import { Schema } from "effect"
import { optionalKey, Span, withDefault } from "../Common/Field.ts"

const HeaderName = Schema.Lowercase.pipe(
  Schema.compose(Schema.String.pipe(Schema.pattern(/^[!#$%&'*+.^_`|~0-9a-z-]{1,64}$/))),
).annotations({ description: "the name of a header, such as x-signature" })

const Headers = Schema.Struct({
  signature: withDefault(HeaderName, "x-signature"),
  keyId: withDefault(HeaderName, "x-key-id"),
  algorithm: withDefault(HeaderName, "x-algorithm"),
})

/** A placeholder of the template. */
export const placeholder = /\{(body|sha256|id|timestamp|header:[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64})\}/g

/** A signature that does not cover the body proves nothing about it. */
const SignedPayload = Schema.String.pipe(
  Schema.filter(
    (template) =>
      template.length <= 500 &&
      /\{(?:body|sha256)\}/.test(template) &&
      !/[{}]/.test(template.replace(placeholder, "")),
  ),
).annotations({
  description:
    "a template that has {body} or {sha256} in it, and else only text, {id}, {timestamp} and {header:NAME}",
})

const Hash = Schema.Literal("sha256", "sha384", "sha512")

/** A signature algorithm. No HMAC: whoever can check one can forge it. */
const Algorithm = Schema.Struct({
  keyType: Schema.Literal("ec", "ed25519", "rsa", "rsa-pss"),
  /** Of keyType `ec`. */
  curve: optionalKey(Schema.Literal("P-256", "P-384", "P-521")),
  /** Of `rsa` and `rsa-pss`: the shortest key that is accepted. */
  minimumBits: optionalKey(
    Schema.Int.pipe(Schema.between(2048, 16_384)).annotations({
      description: "a whole number from 2048 to 16384",
    }),
  ),
  /** Of all but `ed25519`, which has its own. */
  hash: optionalKey(Hash),
  /** Of `ec`: how the two numbers of a signature are written; default der. */
  signature: optionalKey(Schema.Literal("der", "ieee-p1363")),
}).pipe(
  Schema.filter(({ curve, hash, keyType, minimumBits, signature }) => {
    if (keyType !== "ed25519" && hash === undefined) {
      return { path: ["hash"], message: "sha256, sha384 or sha512, which this key type needs" }
    }
    if (keyType === "ed25519" && hash !== undefined) {
      return { path: ["hash"], message: "no hash: Ed25519 has its own" }
    }
    if ((keyType === "ec") !== (curve !== undefined)) {
      return {
        path: ["curve"],
        message: keyType === "ec" ? "P-256, P-384 or P-521" : "no curve: only ec has one",
      }
    }
    if (keyType !== "ec" && signature !== undefined) {
      return { path: ["signature"], message: "no such key: only ec has two ways to write a signature" }
    }
    if (!keyType.startsWith("rsa") && minimumBits !== undefined) {
      return { path: ["minimumBits"], message: "no such key: only rsa and rsa-pss have it" }
    }
    return undefined
  }),
)
export type Algorithm = typeof Algorithm.Type

/** Names that stand for no signature or for a shared secret; the settings may not use them. */
const refusedName = /^(?:none|hs\d+|hmac.*)$/i

const Algorithms = Schema.Record({ key: Schema.String, value: Algorithm }).pipe(
  Schema.filter((algorithms) => {
    const names = Object.keys(algorithms)
    if (names.length === 0) return "at least one algorithm"
    return names
      .filter((name) => !/^[\w.:/+-]{1,64}$/.test(name) || refusedName.test(name))
      .map((name) => ({
        path: [name],
        message: "a name as it comes in the header, of an algorithm with a public key",
      }))
  }),
)

const defaultAlgorithms: typeof Algorithms.Type = {
  ES256: { keyType: "ec", curve: "P-256", hash: "sha256" },
  ES384: { keyType: "ec", curve: "P-384", hash: "sha384" },
  EdDSA: { keyType: "ed25519" },
  RS256: { keyType: "rsa", minimumBits: 2048, hash: "sha256" },
  RS512: { keyType: "rsa", minimumBits: 2048, hash: "sha512" },
  PS256: { keyType: "rsa-pss", minimumBits: 2048, hash: "sha256" },
  PS512: { keyType: "rsa-pss", minimumBits: 2048, hash: "sha512" },
}

export const encodings = ["base64", "base64url", "hex"] as const

/** How the deliveries of a connection are signed. */
export const Signatures = Schema.Struct({
  headers: withDefault(Headers, Headers.make({})),
  signedPayload: withDefault(SignedPayload, "{body}"),
  encoding: withDefault(Schema.Literal(...encodings), "base64"),
  /** By the value of the algorithm header. A map in the settings replaces this one. */
  algorithms: withDefault(Algorithms, defaultAlgorithms),
  /**
   * The greatest age of a delivery by its signed timestamp; null: no limit. Re-deliveries may keep their timestamps, and a
   * replayed delivery only causes the service to be asked again.
   */
  tolerance: withDefault(Schema.NullOr(Span), null),
})
export type Signatures = typeof Signatures.Type
