/**
 * What happens to the deliveries of one connection: headers, key, body, signature, and only then a look at what it says.
 * `docs/reliability.md`, section [W].
 */
import { createHash } from "node:crypto"
import type { IncomingMessage } from "node:http"
import { Data, Effect, Either, Runtime } from "effect"
import type { Signatures } from "../Settings/Signatures.ts"
import { type BodyRefused, readBody, type UnverifiedBytes } from "./Body.ts"
import type { Commits, StoreError } from "./Commits.ts"
import type { Delivery } from "./Delivery.ts"
import { readEnvelope } from "./Envelope.ts"
import type { KeysUnavailable } from "./FetchBudget.ts"
import { readHeaders, type SignedHeaders, single } from "./Headers.ts"
import type { Keyring, KnownKey } from "./Keyring.ts"
import { isSignedApart, misfit } from "./Signature.ts"
import { signedPayload } from "./SignedPayload.ts"
import { latenessOf } from "./Tolerance.ts"

/** The result for a delivery, counted under its name. */
export const verdicts = [
  "stored",
  "known",
  "conflict",
  "poison",
  "media",
  "too-large",
  "cut-short",
  "crowded",
  "unsigned",
  "too-old",
  "keys-unavailable",
  "not-durable",
] as const
export type Verdict = (typeof verdicts)[number]

/** Why a delivery is not accepted. `detail` is for the log: a stranger is told nothing but the status. */
export class Refusal extends Data.TaggedError("Refusal")<{
  readonly status: 400 | 401 | 413 | 415 | 503
  readonly verdict: Verdict
  readonly detail: string
  /** Seconds. */
  readonly retryAfter?: number
  /** An operator should know: something is wrong with the service's own delivery, not with a stranger's. */
  readonly notable?: boolean
}> {}

export interface ReceiverParts {
  readonly connection: string
  readonly signatures: Signatures
  readonly keyring: Keyring
  readonly commits: Commits
  /** Bytes. */
  readonly bodyLimit: number
  /** Shared by all receivers. */
  readonly unverified: UnverifiedBytes
}

/** Plain functions and promises, since an effect for each step would be a good part of a delivery's cost. */
export type Receive = (message: IncomingMessage) => Promise<Verdict | Refusal>

const unsigned = (detail: string, notable = false) =>
  new Refusal({ status: 401, verdict: "unsigned", detail, notable })

const isJson = (contentType: string | undefined): boolean =>
  contentType !== undefined && /^application\/(?:[\w.-]+\+)?json\s*(?:;|$)/i.test(contentType)

const wrongMedia = (message: IncomingMessage): Refusal | undefined => {
  if (message.headersDistinct["content-encoding"] !== undefined) {
    return new Refusal({ status: 415, verdict: "media", detail: "it has a Content-Encoding" })
  }
  return isJson(single(message, "content-type"))
    ? undefined
    : new Refusal({ status: 415, verdict: "media", detail: "its Content-Type is not application/json" })
}

const ofKeys = ({ detail, reason, retryAfter }: KeysUnavailable) =>
  new Refusal({
    status: 503,
    verdict: "keys-unavailable",
    detail,
    retryAfter,
    notable: reason !== "BudgetSpent",
  })

const ofBody = ({ reason }: BodyRefused): Refusal => {
  switch (reason) {
    case "TooLarge":
      return new Refusal({ status: 413, verdict: "too-large", detail: "its body is too large" })
    case "CutShort":
      return new Refusal({ status: 400, verdict: "cut-short", detail: "its body was cut short" })
    case "Crowded": {
      const detail = "too much has come at once that nobody has verified yet"
      return new Refusal({ status: 503, verdict: "crowded", detail, retryAfter: 5, notable: true })
    }
  }
}

const notDurable = (detail: string) =>
  new Refusal({ status: 503, verdict: "not-durable", detail, retryAfter: 5, notable: true })

/** Header, key record and the key itself must say the same; undefined where they do. */
const disagreement = (
  { algorithm, algorithmName }: SignedHeaders,
  { key, record }: KnownKey,
  { algorithms }: Signatures,
): Refusal | undefined => {
  const quoted = JSON.stringify(record.algorithm.slice(0, 64))
  const recorded = Object.hasOwn(algorithms, record.algorithm) ? algorithms[record.algorithm] : undefined
  // Two names of the settings may mean the same.
  if (record.algorithm !== algorithmName && JSON.stringify(recorded) !== JSON.stringify(algorithm)) {
    return unsigned(`the header says ${algorithmName}, the key is for ${quoted}`)
  }
  if (key === undefined) return unsigned("the service's key cannot be read as a public key", true)
  const wrong = misfit(algorithm, key)
  return wrong === undefined ? undefined : unsigned(`algorithm ${algorithmName}: ${wrong}`)
}

const deliveryOf = (connection: string, body: Buffer, headers: SignedHeaders): Delivery => {
  const digest = createHash("sha256").update(body).digest("hex")
  const base = { connection, digest, body, keyId: headers.keyId, algorithm: headers.algorithmName }
  return Either.match(readEnvelope(body), {
    onLeft: (why) => ({
      ...base,
      eventId: `poison:${digest.slice(0, 32)}`,
      type: null,
      poison: `The body ${why}.`,
    }),
    onRight: ({ id, type }) => ({ ...base, eventId: id, type, poison: null }),
  })
}

const ofStore = (error: StoreError): Refusal => {
  switch (error._tag) {
    case "CommitsFull":
      return notDurable("too much is waiting for the database")
    case "CommitsSlow":
      return notDurable(`the database took longer than ${error.patience} ms`)
    case "DatabaseError":
      return notDurable(error.message)
  }
}

export const makeReceiver = (parts: ReceiverParts): Effect.Effect<Receive> =>
  Effect.map(Effect.runtime<never>(), (runtime): Receive => {
    const { bodyLimit, commits, connection, keyring, signatures, unverified } = parts
    const payloadOf = signedPayload(signatures.signedPayload)
    const lateness = latenessOf(signatures)

    const ask = (keyId: string): Promise<KnownKey | Refusal> =>
      Runtime.runPromise(
        runtime,
        Effect.match(keyring.find(keyId), {
          onFailure: ofKeys,
          onSuccess: (found) => found ?? unsigned(`the service has no key ${keyId}`),
        }),
      )

    const check = async (message: IncomingMessage, headers: SignedHeaders, known: KnownKey, body: Buffer) => {
      if (known.key === undefined) return false
      const payload = payloadOf({ body, header: (name) => single(message, name) })
      return payload !== undefined && isSignedApart(headers.algorithm, known.key, payload, headers.signature)
    }

    const store = async (delivery: Delivery): Promise<Verdict | Refusal> =>
      Either.match(await commits.store(delivery), {
        onLeft: ofStore,
        onRight: (receipt) => (delivery.poison !== null && receipt !== "known" ? "poison" : receipt),
      })

    return async (message) => {
      const media = wrongMedia(message)
      if (media !== undefined) return media
      const read = readHeaders(message, signatures)
      if (Either.isLeft(read)) return unsigned(read.left)
      const headers = read.right
      const known = keyring.fresh(headers.keyId) ?? (await ask(headers.keyId))
      if (known instanceof Refusal) return known
      const disagrees = disagreement(headers, known, signatures)
      if (disagrees !== undefined) return disagrees
      if (!known.record.active) return unsigned(`the key ${headers.keyId} is not active`, true)
      const received = await readBody(message, bodyLimit, unverified)
      if (Either.isLeft(received)) return ofBody(received.left)
      const { bytes, release } = received.right
      const isGood = await check(message, headers, known, bytes).finally(release)
      if (!isGood) return unsigned("the signature does not fit the body")
      const late = lateness({ body: bytes, header: (name) => single(message, name) })
      if (late !== undefined)
        return new Refusal({ status: 400, verdict: "too-old", detail: late, notable: true })
      return store(deliveryOf(connection, bytes, headers))
    }
  })
