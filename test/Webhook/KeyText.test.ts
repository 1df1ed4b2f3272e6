/** The bare forms of a public key, which a service may send instead of PEM or JWK. */
import { generateKeyPairSync, type KeyObject } from "node:crypto"
import { describe, expect, it } from "@effect/vitest"
import { readKey } from "../../src/Webhook/KeyText.ts"

const bytes = (text: string | undefined): Buffer => Buffer.from(text ?? "", "base64url")
const same = (text: string, key: KeyObject) => expect(readKey(text)?.equals(key), text).toBe(true)

describe("a bare public key", () => {
  it("is read as the 32 bytes of Ed25519, in base64 and base64url", () => {
    const { publicKey } = generateKeyPairSync("ed25519")
    const raw = bytes(publicKey.export({ format: "jwk" }).x)
    for (const encoding of ["base64", "base64url"] as const) same(raw.toString(encoding), publicKey)
  })

  it("is read as an uncompressed point of each curve", () => {
    for (const namedCurve of ["P-256", "P-384", "P-521"]) {
      const { publicKey } = generateKeyPairSync("ec", { namedCurve })
      const { x, y } = publicKey.export({ format: "jwk" })
      same(Buffer.concat([Buffer.from([4]), bytes(x), bytes(y)]).toString("base64"), publicKey)
    }
  })

  it("is read as RSA's own DER, and as a PEM that is in base64 as a whole", () => {
    const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
    same(publicKey.export({ type: "pkcs1", format: "der" }).toString("base64"), publicKey)
    same(Buffer.from(publicKey.export({ type: "spki", format: "pem" })).toString("base64"), publicKey)
  })

  it("is refused where it is private, of another length, or no point of the curve", () => {
    const { privateKey } = generateKeyPairSync("ed25519")
    const refused = [
      privateKey.export({ type: "pkcs8", format: "der" }),
      Buffer.from(privateKey.export({ type: "pkcs8", format: "pem" })),
      Buffer.alloc(33, 7),
      Buffer.alloc(65, 4),
      Buffer.alloc(64, 4),
    ]
    for (const key of refused) expect(readKey(key.toString("base64"))).toBeUndefined()
  })
})
