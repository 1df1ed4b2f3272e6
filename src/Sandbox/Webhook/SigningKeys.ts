import {
  constants,
  createECDH,
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
} from "node:crypto"
import type { Identifiers } from "../World/Identifier.ts"

export const signingAlgorithms = ["ES256", "ES384", "EdDSA", "RS256", "RS512", "PS256", "PS512"] as const
export type SigningAlgorithm = (typeof signingAlgorithms)[number]

const hashes: Readonly<Record<SigningAlgorithm, string | undefined>> = {
  ES256: "sha256",
  ES384: "sha384",
  EdDSA: undefined,
  RS256: "sha256",
  RS512: "sha512",
  PS256: "sha256",
  PS512: "sha512",
}

const seeded = (seed: number, algorithm: string, generation: number, bytes: number): Buffer =>
  createHash("sha512").update(`tieout sandbox ${seed} ${algorithm} ${generation}`).digest().subarray(0, bytes)

const onCurve = (curve: string, name: string, secret: Buffer): KeyObject => {
  const half = createECDH(curve)
  half.setPrivateKey(secret)
  const point = half.getPublicKey().subarray(1)
  const text = (part: Buffer) => part.toString("base64url")
  const x = text(point.subarray(0, point.length / 2))
  const y = text(point.subarray(point.length / 2))
  return createPrivateKey({ key: { kty: "EC", crv: name, x, y, d: text(secret) }, format: "jwk" })
}

/** The beginning of an Ed25519 private key in DER; its 32 bytes follow. RFC 8410. */
const ed25519Head = Buffer.from("302e020100300506032b657004220420", "hex")

const drawn = new Map<string, KeyObject>()

/** Takes long, and no seed decides on it: all sandboxes of a process share what was drawn. */
const rsa = (algorithm: SigningAlgorithm, generation: number): KeyObject => {
  const name = `${algorithm} ${generation}`
  const key = drawn.get(name) ?? generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey
  drawn.set(name, key)
  return key
}

/** The same seed gives the same key, but for RSA, whose primes each process draws anew. */
const make = (seed: number, algorithm: SigningAlgorithm, generation: number): KeyObject => {
  switch (algorithm) {
    case "EdDSA": {
      const key = Buffer.concat([ed25519Head, seeded(seed, algorithm, generation, 32)])
      return createPrivateKey({ key, format: "der", type: "pkcs8" })
    }
    case "ES256":
      return onCurve("prime256v1", "P-256", seeded(seed, algorithm, generation, 31))
    case "ES384":
      return onCurve("secp384r1", "P-384", seeded(seed, algorithm, generation, 47))
    default:
      return rsa(algorithm, generation)
  }
}

interface SigningKey {
  readonly id: string
  readonly algorithm: SigningAlgorithm
  readonly generation: number
  readonly privateKey: KeyObject
}

/** What a delivery's three headers hold. */
export interface Signed {
  readonly keyId: string
  readonly algorithm: SigningAlgorithm
  readonly signature: string
}

/** The keys that deliveries are signed with: one of each algorithm, made on first use, and what rotation adds. */
export class SigningKeys {
  readonly #seed: number
  readonly #ids: Identifiers
  readonly #keys: Array<SigningKey> = []
  readonly #generation = new Map<SigningAlgorithm, number>()

  constructor(seed: number, ids: Identifiers) {
    this.#seed = seed
    this.#ids = ids
  }

  #current(algorithm: SigningAlgorithm): SigningKey {
    const generation = this.#generation.get(algorithm) ?? 0
    const known = this.#keys.find((key) => key.algorithm === algorithm && key.generation === generation)
    if (known !== undefined) return known
    const number = generation * signingAlgorithms.length + signingAlgorithms.indexOf(algorithm)
    const privateKey = make(this.#seed, algorithm, generation)
    const key = { id: this.#ids.of("publicKey", number), algorithm, generation, privateKey }
    this.#keys.push(key)
    return key
  }

  /** The next deliveries are signed with a new key. The one before it stays active, earlier ones do not. */
  rotate(algorithm: SigningAlgorithm): string {
    this.#current(algorithm)
    this.#generation.set(algorithm, (this.#generation.get(algorithm) ?? 0) + 1)
    return this.#current(algorithm).id
  }

  sign(algorithm: SigningAlgorithm, body: Uint8Array): Signed {
    const { id, privateKey } = this.#current(algorithm)
    const pss = { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: constants.RSA_PSS_SALTLEN_DIGEST }
    const key = { key: privateKey, ...(algorithm.startsWith("PS") ? pss : {}) }
    const signature = sign(hashes[algorithm], body, key).toString("base64")
    return { keyId: id, algorithm, signature }
  }

  /** As the service lists them. */
  render(createdAt: string): ReadonlyArray<string> {
    for (const algorithm of signingAlgorithms) this.#current(algorithm)
    return this.#keys.map(({ algorithm, generation, id, privateKey }) =>
      JSON.stringify({
        publicKeyId: id,
        active: generation >= (this.#generation.get(algorithm) ?? 0) - 1,
        algorithm,
        publicKey: createPublicKey(privateKey).export({ type: "spki", format: "pem" }).toString(),
        createdAt,
      }),
    )
  }
}
