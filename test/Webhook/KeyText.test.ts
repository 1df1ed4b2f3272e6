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

  it("is read as hexadecimal digits, of Ed25519, of a point and of DER", () => {
    const { publicKey } = generateKeyPairSync("ed25519")
    same(bytes(publicKey.export({ format: "jwk" }).x).toString("hex"), publicKey)
    same(`0x${publicKey.export({ type: "spki", format: "der" }).toString("hex").toUpperCase()}`, publicKey)
    const curve = generateKeyPairSync("ec", { namedCurve: "P-256" }).publicKey
    const { x, y } = curve.export({ format: "jwk" })
    same(Buffer.concat([Buffer.from([4]), bytes(x), bytes(y)]).toString("hex"), curve)
  })

  it("is refused where it is private, of another length, or no point of the curve", () => {
    const { privateKey } = generateKeyPairSync("ed25519")
    const { privateKey: rsa } = generateKeyPairSync("rsa", { modulusLength: 2048 })
    const { privateKey: ec } = generateKeyPairSync("ec", { namedCurve: "P-256" })
    const refused = [
      privateKey.export({ type: "pkcs8", format: "der" }),
      rsa.export({ type: "pkcs8", format: "der" }),
      rsa.export({ type: "pkcs1", format: "der" }),
      ec.export({ type: "pkcs8", format: "der" }),
      ec.export({ type: "sec1", format: "der" }),
      Buffer.from(privateKey.export({ type: "pkcs8", format: "pem" })),
      Buffer.alloc(33, 7),
      Buffer.alloc(65, 4),
      Buffer.alloc(64, 4),
    ]
    for (const key of refused) expect(readKey(key.toString("base64"))).toBeUndefined()
  })
})

describe("a PEM", () => {
  const { publicKey } = generateKeyPairSync("rsa", { modulusLength: 2048 })
  const framed = (type: "pkcs1" | "spki", body: (lines: ReadonlyArray<string>) => string) => {
    const lines = publicKey.export({ type, format: "pem" }).toString().trim().split("\n")
    return `${lines.at(0)}${body(lines.slice(1, -1))}${lines.at(-1)}`
  }

  it("is read however its lines were broken on the way", () => {
    for (const type of ["spki", "pkcs1"] as const) {
      for (const between of ["\n", "\r\n", "\\n", "\\r\\n", " ", "\n    ", ""])
        same(
          framed(type, (lines) => `${between}${lines.join(between)}${between}`),
          publicKey,
        )
      same(`${framed(type, (lines) => `\\n${lines.join("\\n")}\\n`)}\\n`, publicKey)
      same(
        framed(type, (lines) => `\n${lines.join("")}\n`),
        publicKey,
      )
    }
  })

  it("is refused where it is of another kind, or holds anything else", () => {
    const { privateKey } = generateKeyPairSync("ed25519")
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString()
    const refused = [
      pem,
      pem.replaceAll("PRIVATE KEY", "PUBLIC KEY"),
      framed("spki", (lines) => `\nProc-Type: 4,ENCRYPTED\n${lines.join("\n")}\n`),
      framed("spki", (lines) => `\n${lines.join("\n")}\n-----END PUBLIC KEY-----\n`),
      framed("spki", () => "\n"),
    ]
    for (const text of refused) expect(readKey(text), text).toBeUndefined()
  })
})
