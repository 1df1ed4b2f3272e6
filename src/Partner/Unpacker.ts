/** Decompresses answers within the bytes that they may have, large ones where there is room. */
import { gunzip, inflate } from "node:zlib"
import { largeAnswer, room } from "./Room.ts"
import { codeOf, TransportFault, tooLarge } from "./TransportFault.ts"

/** What every request allows its answer to be encoded as: where one says nothing, any encoding would be right. */
export const acceptEncoding = "gzip"

/** An encoding's name as a server gives it, safe to print. */
const shown = (encoding: string): string =>
  /^[\w*.-]{1,20}(?:, ?[\w*.-]{1,20}){0,3}$/.test(encoding) ? encoding : "something without a proper name"

/** Decompresses a body; the limit holds for the decoded bytes, so that a small body cannot grow into a large one. */
const decompress = (
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
        detail: `the answer is encoded as ${shown(encoding)}, and only ${acceptEncoding} was asked for`,
        advice:
          "Ask the operators of the service, or of a proxy before it, for answers without that encoding",
      }),
    )
}

/** The size that a gzip states at its end, modulo 2^32 (RFC 1952, 2.3.1); deflated data state none. */
const claimedSize = (body: Buffer, encoding: string): number => {
  if (encoding === "" || encoding === "identity") return body.length
  return encoding.endsWith("gzip") && body.length >= 18
    ? body.readUInt32LE(body.length - 4)
    : Number.POSITIVE_INFINITY
}

/** An unpacked body or why there is none, and how to give back the room that it takes: once, when it is no longer needed. */
export type Unpacked = (result: Buffer | TransportFault, release: () => void) => void

const nothing = () => undefined

/** Decompresses where there is room for `wanted` bytes, which the body may have at most. */
const inRoom = (body: Buffer, encoding: string, wanted: number, done: Unpacked): (() => void) =>
  room.enter(wanted, () =>
    decompress(body, encoding, wanted, (result) => {
      let held = result instanceof TransportFault ? 0 : result.length
      room.leave(wanted - held)
      done(result, () => {
        room.leave(held)
        held = 0
      })
    }),
  )

/**
 * Unpacks small answers at once; large ones, and those that falsely claim to be small, when there is room. Returns what leaves
 * the queue for room; once an answer has room, `done` is always called.
 */
export const unpack = (body: Buffer, encoding: string, limit: number, done: Unpacked): (() => void) => {
  const claimed = Math.max(Math.min(claimedSize(body, encoding), limit), 1)
  let leave: () => void = nothing
  const first: Unpacked = (result, release) => {
    if (claimed < limit && result instanceof TransportFault && result.kind === "tooLarge")
      leave = inRoom(body, encoding, limit, done)
    else done(result, release)
  }
  if (claimed <= largeAnswer) decompress(body, encoding, claimed, (result) => first(result, nothing))
  else leave = inRoom(body, encoding, claimed, first)
  return () => leave()
}
