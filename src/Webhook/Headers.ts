/** The three headers that say how a delivery was signed, before anything else is done about it. */
import type { IncomingMessage } from "node:http"
import { Either } from "effect"
import { spelledOnce } from "../Common/Uuid.ts"
import type { Algorithm, Signatures } from "../Settings/Signatures.ts"
import { decodeSignature } from "./Signature.ts"

export interface SignedHeaders {
  readonly keyId: string
  /** The algorithm's name in the header, and the algorithm that the settings give it. */
  readonly algorithmName: string
  readonly algorithm: Algorithm
  readonly signature: Uint8Array
}

/** RSA with 8,192 bits needs 2,048 hexadecimal digits. */
const longestSignature = 2_048
const longestName = 64

const keyIdGrammar = /^[\w.:-]{1,128}$/

type HeadersOf = Pick<IncomingMessage, "headersDistinct">

/** The value of a header that comes exactly once. */
export const single = ({ headersDistinct }: HeadersOf, name: string): string | undefined => {
  const values = headersDistinct[name]
  return values?.length === 1 ? values[0] : undefined
}

/** Left: why a delivery with these headers cannot be accepted. */
export const readHeaders = (
  message: HeadersOf,
  { algorithms, encoding, headers }: Signatures,
): Either.Either<SignedHeaders, string> => {
  const text = single(message, headers.signature)
  if (text === undefined || text.length > longestSignature) {
    return Either.left(`the header ${headers.signature} is missing, doubled or too long`)
  }
  const keyId = single(message, headers.keyId)
  if (keyId === undefined || !keyIdGrammar.test(keyId)) {
    return Either.left(`the header ${headers.keyId} is missing, doubled or no key identifier`)
  }
  const name = single(message, headers.algorithm)
  if (name === undefined || name.length > longestName || !Object.hasOwn(algorithms, name)) {
    return Either.left(`the header ${headers.algorithm} names no algorithm of interface.webhook.algorithms`)
  }
  const algorithm = algorithms[name]
  if (algorithm === undefined) return Either.left("no such algorithm")
  const signature = decodeSignature(text, encoding)
  if (signature === undefined) return Either.left(`the signature is not ${encoding}`)
  return Either.right({ keyId: spelledOnce(keyId), algorithmName: name, algorithm, signature })
}
