import { generateKeyPairSync } from "node:crypto"
import { Either } from "effect"
import { describe, expect, it } from "vitest"
import { defaultInterface } from "../../src/Settings/Interface.ts"
import { diagnose, readCapture, readKeys } from "../../src/Webhook/Diagnosis.ts"
import { algorithms, pairOf, recordOf, signWith, textOf } from "./Keys.ts"
import { eventOf } from "./Listening.ts"

const profile = defaultInterface.webhook
const body = eventOf(1)
const http = (headers: Record<string, string>, text: string, newline = "\r\n") =>
  Buffer.from(
    [
      "POST /hooks HTTP/1.1",
      ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
      "",
      text,
    ].join(newline),
  )
const capture = (bytes: Buffer) => Either.getOrThrow(readCapture(bytes))

describe("webhook diagnose", () => {
  it.each(algorithms)("finds how the body was signed with %s and the service's names", (name) => {
    const pair = pairOf(name)
    const signature = signWith(name, pair.privateKey, Buffer.from(body)).toString("base64")
    const caught = http(
      { Host: "x", "X-Signature": signature, "X-Key-Id": pair.id, "X-Algorithm": name },
      body,
    )
    const keys = readKeys(
      JSON.stringify({ items: [recordOf(pairOf("EdDSA")), recordOf(pair)], pageInfo: {} }),
    )
    const { found } = diagnose(capture(caught), keys, profile)
    expect(found).toMatchObject({
      headers: profile.headers,
      signedPayload: "{body}",
      encoding: "base64",
      algorithmName: name,
      keyId: pair.id,
      bodyAsSaved: true,
    })
    const expected = profile.algorithms[name]
    expect(found?.algorithm).toEqual(name.startsWith("ES") ? { ...expected, signature: "der" } : expected)
  })

  it("finds other headers, templates, encodings and forms of a signature, also in JSON and with an extra newline", () => {
    const pair = pairOf("ES256")
    const signed = Buffer.from(`0199.1764.${body}`)
    const signature = signWith("ES256", pair.privateKey, signed, "ieee-p1363").toString("hex")
    const headers = {
      "Acme-Signature": signature,
      "Acme-Delivery": "0199",
      "Acme-Time": "1764",
      "Acme-Alg": "ecdsa",
    }
    const expected = {
      headers: { signature: "acme-signature", keyId: "x-key-id", algorithm: "acme-alg" },
      signedPayload: "{header:acme-delivery}.{header:acme-time}.{body}",
      encoding: "hex",
      algorithmName: "ecdsa",
      algorithm: { keyType: "ec", curve: "P-256", hash: "sha256", signature: "ieee-p1363" },
      keyId: undefined,
    }
    const keys = readKeys(textOf(pair.publicKey, "jwk"))
    const saved = http(headers, `${body}\n`, "\n")
    expect(diagnose(capture(saved), keys, profile).found).toEqual({ ...expected, bodyAsSaved: false })
    const asJson = Buffer.from(JSON.stringify({ headers, body }))
    expect(diagnose(capture(asJson), keys, profile).found).toEqual({ ...expected, bodyAsSaved: true })
  })

  it("names the algorithm of the key's record, where the header names another", () => {
    const pair = pairOf("ES256")
    const signature = signWith("ES256", pair.privateKey, Buffer.from(body)).toString("base64")
    const caught = capture(http({ "x-signature": signature, "x-algorithm": "ES256" }, body))
    for (const [recorded, named] of [
      ["EC", "EC"],
      ["ES256", undefined],
      [undefined, undefined],
    ]) {
      const list = JSON.stringify({ items: [recordOf(pair, { algorithm: recorded })] })
      expect(diagnose(caught, readKeys(list), profile).found).toMatchObject({ algorithmName: "ES256" })
      expect(diagnose(caught, readKeys(list), profile).found?.algorithmOfKey).toBe(named)
    }
  })

  it("uses the length that the request states", () => {
    const pair = pairOf("EdDSA")
    const signature = signWith("EdDSA", pair.privateKey, Buffer.from(body)).toString("base64")
    const headers = { "x-signature": signature, "content-length": String(body.length) }
    const caught = capture(http(headers, `${body}\r\nand more`))
    expect(diagnose(caught, readKeys(textOf(pair.publicKey, "der")), profile).found?.signedPayload).toBe(
      "{body}",
    )
  })

  it("says that nothing fits", () => {
    const pair = pairOf("EdDSA")
    const signature = signWith("EdDSA", pair.privateKey, Buffer.from("other")).toString("base64")
    const { found, signatureHeaders, tried } = diagnose(
      capture(http({ "x-signature": signature }, body)),
      readKeys(textOf(pair.publicKey)),
      profile,
    )
    expect(found).toBeUndefined()
    expect(signatureHeaders).toEqual(["x-signature"])
    expect(tried).toBeGreaterThan(50)
  })

  it.each([
    ["no blank line", "POST / HTTP/1.1\r\nhost: x"],
    ["no headers", "\n\n{}"],
    ["no body", `{"headers": {"a": "b"}}`],
  ])("%s is no delivery", (_, text) => expect(Either.isLeft(readCapture(Buffer.from(text)))).toBe(true))

  it("refuses a private key, and a curve that the settings cannot name", () => {
    const pair = pairOf("ES256")
    expect(readKeys(pair.privateKey.export({ type: "pkcs8", format: "pem" }).toString())).toEqual([])
    const other = generateKeyPairSync("ec", { namedCurve: "secp256k1" }).publicKey
    const caught = capture(http({ "x-signature": "A".repeat(88) }, body))
    expect(diagnose(caught, readKeys(textOf(other)), profile).tried).toBe(0)
  })
})
