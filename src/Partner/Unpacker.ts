/** Decompresses answers within the bytes that they may have. */
import { gunzip, inflate } from "node:zlib"
import { codeOf, TransportFault, tooLarge } from "./TransportFault.ts"

/** Decompresses a body; the limit holds for the decoded bytes, so that a small body cannot grow into a large one. */
const unpack = (
  body: Buffer,
  encoding: string,
  limit: number,
  done: (result: Buffer | TransportFault) => void,
): void => {
  const finish = (error: Error | null, unpacked: Buffer) => {
    if (error === null) done(unpacked)
    else if (codeOf(error) === "ERR_BUFFER_TOO_LARGE") done(tooLarge(limit))
    else
      done(new TransportFault({ kind: "garbled", detail: "the compressed answer is damaged or cut short" }))
  }
  if (encoding === "" || encoding === "identity") done(body)
  else if (encoding === "gzip" || encoding === "x-gzip") gunzip(body, { maxOutputLength: limit }, finish)
  else if (encoding === "deflate") inflate(body, { maxOutputLength: limit }, finish)
  else
    done(
      new TransportFault({
        kind: "garbled",
        detail: "the answer comes in an encoding that was not asked for",
      }),
    )
}

/** Decoded bytes above which answers are decompressed one after the other. */
const largeAnswer = 1024 * 1024

/** What a gzip says at its end that it holds, modulo 2^32 (RFC 1952, 2.3.1); what is deflated does not say. */
const claimedSize = (body: Buffer, encoding: string): number =>
  encoding.endsWith("gzip") && body.length >= 18
    ? body.readUInt32LE(body.length - 4)
    : Number.POSITIVE_INFINITY

type Unpacked = (result: Buffer | TransportFault) => void

/**
 * Decompresses the answers of a connection: small ones at once, and large ones, or those that only said that they were small, one
 * after the other, with a turn of the event loop for the reader before the next. While it is decompressed an answer takes twice
 * its size, and a small body is soon a large one: of those there is one at a time.
 */
export class Unpacker {
  private waiting: Array<() => void> = []
  private busy = false

  unpack(body: Buffer, encoding: string, limit: number, done: Unpacked): void {
    const claimed = claimedSize(body, encoding)
    if (encoding === "" || encoding === "identity") unpack(body, encoding, limit, done)
    else if (claimed > Math.min(largeAnswer, limit)) this.inTurn(body, encoding, limit, done)
    else {
      unpack(body, encoding, Math.max(claimed, 1), (result) => {
        if (result instanceof TransportFault && result.kind === "tooLarge")
          this.inTurn(body, encoding, limit, done)
        else done(result)
      })
    }
  }

  private inTurn(body: Buffer, encoding: string, limit: number, done: Unpacked): void {
    this.waiting.push(() =>
      unpack(body, encoding, limit, (result) => {
        done(result)
        setImmediate(() => {
          this.busy = false
          this.next()
        })
      }),
    )
    this.next()
  }

  private next(): void {
    if (this.busy) return
    const begin = this.waiting.shift()
    if (begin === undefined) return
    this.busy = true
    begin()
  }
}
