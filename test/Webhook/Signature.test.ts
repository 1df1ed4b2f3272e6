import { createHash, createPublicKey, generateKeyPairSync } from "node:crypto"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { describe, it } from "vitest"
import { decodeSignature, misfit } from "../../src/Webhook/Signature.ts"
import { algorithms, pairOf, recordOf, signWith } from "./Keys.ts"
import { database, deliver, eventOf, headersFor, keysFrom, listening, send } from "./Listening.ts"

const pairs = algorithms.map(pairOf)
const all = { connection: Option.none(), state: Option.none(), limit: 100 }

layer(database, { excludeTestServices: true })("the signature of a delivery", (it) => {
  for (const [index, pair] of pairs.entries()) {
    for (const form of ["pem", "der", "jwk"] as const) {
      it.scoped(`[W3] ${pair.algorithm}, with its key as ${form}, is accepted`, () =>
        Effect.gen(function* () {
          const { inbox, port } = yield* listening(keysFrom(() => [recordOf(pair, {}, form)]))
          const body = eventOf(1000 + index * 10 + ["pem", "der", "jwk"].indexOf(form))
          expect((yield* deliver(port, pair, body)).status).toBe(200)
          const [stored] = yield* inbox.list({ ...all, limit: 1 })
          expect(stored).toMatchObject({ algorithm: pair.algorithm, keyId: pair.id, state: "waiting" })
        }),
      )
    }
  }

  it.scoped("[W3] header, key record and key must agree: every mismatched pair 401", () =>
    Effect.gen(function* () {
      // Records that name one algorithm and hold the key of another.
      const mixed = pairs.flatMap((pair) =>
        pairs.map((other, index) => ({
          ...pair,
          id: `${pair.id}:${index}`,
          claims: other.algorithm,
        })),
      )
      const { port } = yield* listening(
        keysFrom(() => mixed.map((pair) => recordOf(pair, { algorithm: pair.claims }))),
      )
      const kind = (name: string) => (/^[PR]S/.test(name) ? "RSA" : name)
      const body = eventOf(1)
      for (const pair of mixed) {
        for (const header of algorithms) {
          // The signature follows the header where the key can do that at all.
          const able = kind(header) === kind(pair.algorithm) ? header : pair.algorithm
          const signature = signWith(able, pair.privateKey, Buffer.from(body)).toString("base64")
          const { status } = yield* deliver(port, pair, body, {
            "x-algorithm": header,
            "x-signature": signature,
          })
          const agrees = header === pair.claims && kind(header) === kind(pair.algorithm)
          expect([pair.algorithm, pair.claims, header, status]).toEqual([
            pair.algorithm,
            pair.claims,
            header,
            agrees ? 200 : 401,
          ])
        }
      }
    }),
  )

  it.scoped("[W3] none, HS256 and unknown algorithms 401 without reading any key", () =>
    Effect.gen(function* () {
      const [pair = pairOf("ES256")] = pairs
      const { port, service } = yield* listening(keysFrom(() => [recordOf(pair)]))
      for (const name of ["none", "None", "HS256", "HS512", "RS1", "", "__proto__", "toString", "ES256 "]) {
        const { status } = yield* deliver(port, pair, eventOf(2), { "x-algorithm": name })
        // White space at the end of a header is not part of it.
        expect([name, status]).toEqual([name, name === "ES256 " ? 200 : 401])
        if (status === 401) expect(service.calls).toEqual([])
      }
    }),
  )

  it.scoped("[W3] RSA with fewer than 2048 bits, and keys that are no public keys, are refused", () =>
    Effect.gen(function* () {
      const { generateKeyPairSync } = yield* Effect.promise(() => import("node:crypto"))
      const short = { ...pairOf("RS256"), ...generateKeyPairSync("rsa", { modulusLength: 1024 }) }
      const leaked = pairOf("ES256")
      const texts = [
        leaked.privateKey.export({ type: "pkcs8", format: "pem" }).toString(),
        JSON.stringify(leaked.privateKey.export({ format: "jwk" })),
        JSON.stringify({ kty: "oct", k: "c2VjcmV0" }),
        "",
        "not a key",
        "x".repeat(100_000),
      ]
      const others = texts.map((publicKey, index) => ({ ...leaked, id: `bad-${index}`, text: publicKey }))
      const { port } = yield* listening(
        keysFrom(() => [recordOf(short), ...others.map((pair) => recordOf(pair, { publicKey: pair.text }))]),
      )
      for (const pair of [short, ...others]) {
        expect((yield* deliver(port, pair, eventOf(3))).status).toBe(401)
      }
    }),
  )

  it.scoped("[W2] headers that are missing, doubled or oversized 401", () =>
    Effect.gen(function* () {
      const pair = pairOf("EdDSA")
      const { port, service } = yield* listening(keysFrom(() => [recordOf(pair)]))
      const body = eventOf(4)
      const good: Record<string, string> = headersFor(pair, body)
      for (const name of ["x-signature", "x-key-id", "x-algorithm"]) {
        const value = good[name] ?? ""
        const { [name]: _, ...without } = good
        expect((yield* send(port, body, without)).status).toBe(401)
        expect((yield* send(port, body, { ...good, [name]: [value, value] })).status).toBe(401)
        expect((yield* send(port, body, { ...good, [name]: `${value}, ${value}` })).status).toBe(401)
        expect((yield* send(port, body, { ...good, [name]: "A".repeat(12_000) })).status).toBe(401)
      }
      for (const signature of ["%%%", "AAA A", `${good["x-signature"]}=`, "=", "A"]) {
        expect((yield* send(port, body, { ...good, "x-signature": signature })).status).toBe(401)
      }
      expect(service.calls).toEqual([])
      expect((yield* send(port, body, good)).status).toBe(200)
    }),
  )

  it.scoped("[W2] a key id of another grammar 401 with no outbound call", () =>
    Effect.gen(function* () {
      const pair = pairOf("EdDSA")
      const { port, service } = yield* listening(keysFrom(() => [recordOf(pair)]))
      for (const id of ["../token", "a/b", "a b", "a?b", "ä", "x".repeat(129), "a%2Fb", "a,b"]) {
        expect([id, (yield* deliver(port, { ...pair, id }, eventOf(5))).status]).toEqual([id, 401])
      }
      expect(service.calls).toEqual([])
    }),
  )

  it.scoped("follows the profile: header names, template, encoding, the form of an ECDSA signature", () =>
    Effect.gen(function* () {
      const pair = { ...pairOf("ES256"), algorithm: "ecdsa-p256" }
      const { port } = yield* listening(
        keysFrom(() => [recordOf(pair)]),
        {
          variables: {
            TIEOUT_INTERFACE_WEBHOOK_HEADERS_SIGNATURE: "Signature",
            TIEOUT_INTERFACE_WEBHOOK_HEADERS_KEY_ID: "Key",
            TIEOUT_INTERFACE_WEBHOOK_SIGNED_PAYLOAD: "v1.{header:X-Sent-At}.{id}.{timestamp}.{sha256}.{body}",
            TIEOUT_INTERFACE_WEBHOOK_ENCODING: "hex",
            TIEOUT_INTERFACE_WEBHOOK_ALGORITHMS:
              "{ ecdsa-p256: { keyType: ec, curve: P-256, hash: sha256, signature: ieee-p1363 } }",
          },
        },
      )
      const body = eventOf(6)
      const { createHash } = yield* Effect.promise(() => import("node:crypto"))
      const digest = createHash("sha256").update(body).digest("hex")
      const id = "0f8fad5b-d9cb-469f-a165-000000000006"
      const payload = `v1.17.${id}.2026-10-05T08:00:00Z.${digest}.${body}`
      const signature = signWith("ES256", pair.privateKey, Buffer.from(payload), "ieee-p1363")
      const headers = {
        "content-type": "application/json; charset=utf-8",
        signature: signature.toString("hex"),
        key: pair.id,
        "x-algorithm": "ecdsa-p256",
        "x-sent-at": "17",
      }
      expect((yield* send(port, body, headers)).status).toBe(200)
      expect((yield* send(port, body, { ...headers, "x-sent-at": "18" })).status).toBe(401)
      expect((yield* send(port, body, { ...headers, "x-sent-at": ["17", "17"] })).status).toBe(401)
      expect((yield* send(port, "{}", headers)).status).toBe(401)
    }),
  )

  it.scoped("[W3] PS256 by a key that is restricted to one length of salt is accepted", () =>
    Effect.gen(function* () {
      const pair = {
        id: pairOf("ES256").id,
        algorithm: "PS256",
        ...generateKeyPairSync("rsa-pss", {
          modulusLength: 2048,
          hashAlgorithm: "sha256",
          mgf1HashAlgorithm: "sha256",
        }),
      }
      const { port } = yield* listening(keysFrom(() => [recordOf(pair)]))
      expect((yield* deliver(port, pair, eventOf(3))).status).toBe(200)
    }),
  )

  it.scoped("[W3] an RSA key whose public exponent is 1, with which anybody can sign: 401", () =>
    Effect.gen(function* () {
      const body = eventOf(4)
      const pair = pairOf("RS256")
      const jwk = pair.publicKey.export({ format: "jwk" })
      const { port } = yield* listening(
        keysFrom(() => [recordOf(pair, { publicKey: JSON.stringify({ ...jwk, e: "AQ" }) })]),
      )
      // With that exponent the signature is the padded digest itself (RFC 8017, 9.2).
      const prefix = Buffer.from("3031300d060960864801650304020105000420", "hex")
      const digest = Buffer.concat([prefix, createHash("sha256").update(body).digest()])
      const filled = Buffer.alloc(256 - digest.length - 3, 0xff)
      const forged = Buffer.concat([Buffer.from([0, 1]), filled, Buffer.from([0]), digest])
      const signature = forged.toString("base64")
      expect((yield* deliver(port, pair, body, { "x-signature": signature })).status).toBe(401)
    }),
  )

  it.scoped("[W4] a list without a readable key does not remove a known key", () =>
    Effect.gen(function* () {
      const pair = pairOf("ES256")
      let keys: ReadonlyArray<object> = [recordOf(pair)]
      const { port } = yield* listening(keysFrom(() => keys))
      expect((yield* deliver(port, pair, eventOf(5))).status).toBe(200)
      keys = [{ error: "try again later" }]
      // An unknown key is looked up, and the answer reveals nothing about any key.
      expect((yield* deliver(port, pairOf("ES256"), eventOf(6))).status).toBe(503)
      expect((yield* deliver(port, pair, eventOf(7))).status).toBe(200)
    }),
  )
})

describe("[W3] a key is used with the algorithms that it is for alone, whatever it could verify", () => {
  const ec = (namedCurve: string) => generateKeyPairSync("ec", { namedCurve }).publicKey
  const rsa = (modulusLength: number) => generateKeyPairSync("rsa", { modulusLength }).publicKey
  const [p256, p384, edwards, plain] = [
    ec("P-256"),
    ec("P-384"),
    generateKeyPairSync("ed25519").publicKey,
    rsa(2048),
  ]
  const pss = generateKeyPairSync("rsa-pss", {
    modulusLength: 2048,
    hashAlgorithm: "sha256",
    mgf1HashAlgorithm: "sha256",
  }).publicKey
  const withExponent = (e: string) =>
    createPublicKey({ key: { ...plain.export({ format: "jwk" }), e }, format: "jwk" })
  const es256 = { keyType: "ec", curve: "P-256", hash: "sha256" } as const
  const rs256 = { keyType: "rsa", hash: "sha256" } as const
  const ps256 = { keyType: "rsa-pss", hash: "sha256" } as const

  it.each([
    [es256, p256, undefined],
    [es256, p384, "the key's curve is secp384r1, not prime256v1"],
    [es256, edwards, "the key is ed25519, not ec"],
    [{ keyType: "ed25519" } as const, edwards, undefined],
    [{ keyType: "ed25519" } as const, p256, "the key is ec, not ed25519"],
    [rs256, plain, undefined],
    [rs256, pss, "the key is rsa-pss, not rsa"],
    [rs256, p256, "the key is ec, not rsa"],
    [rs256, rsa(1024), "the key has 1024 bits, fewer than 2048"],
    [{ ...rs256, minimumBits: 1024 }, rsa(1024), "the key has 1024 bits, fewer than 2048"],
    [{ ...rs256, minimumBits: 3072 }, plain, "the key has 2048 bits, fewer than 3072"],
    [rs256, withExponent("AQ"), "the key's public exponent is 1"],
    [rs256, withExponent("BA"), "the key's public exponent is 4"],
    [rs256, withExponent("Aw"), undefined],
    [ps256, plain, undefined],
    [ps256, pss, undefined],
    [{ ...ps256, hash: "sha512" } as const, pss, "the key is for sha256, not sha512"],
  ])("%j", (algorithm, key, why) => {
    expect(misfit(algorithm, key)).toBe(why)
  })
})

describe("[W2] the text of a signature is read in its canonical form alone: a signature has one text", () => {
  it.each([
    ["base64", "QUI=", "AB"],
    ["base64", "QUI", "AB"],
    // The same bytes, with bits behind them that mean nothing.
    ["base64", "QUJ=", undefined],
    ["base64", "QR==", undefined],
    ["base64", "QUI==", undefined],
    ["base64", "P_8-", undefined],
    ["base64url", "YT9iPmM-", "a?b>c>"],
    ["base64url", "YT9iPmM+", undefined],
    ["base64url", "QUJ", undefined],
    ["hex", "4a4B", "JK"],
    ["hex", "4a4", undefined],
    ["hex", "", undefined],
  ] as const)("%s %s", (encoding, text, bytes) => {
    expect(decodeSignature(text, encoding)?.toString("latin1")).toBe(bytes)
  })
})
