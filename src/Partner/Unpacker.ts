/** Decompresses answers within the bytes that they may have, large ones where there is room. */
import { gunzip, inflate } from "node:zlib"
import { largeAnswer, room } from "./Room.ts"
import { codeOf, TransportFault, tooLarge } from "./TransportFault.ts"

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
        detail: "the answer comes in an encoding that was not asked for",
      }),
    )
}

/** What a gzip says at its end that it holds, modulo 2^32 (RFC 1952, 2.3.1); what is deflated does not say. */
const claimedSize = (body: Buffer, encoding: string): number => {
  if (encoding === "" || encoding === "identity") return body.length
  return encoding.endsWith("gzip") && body.length >= 18
    ? body.readUInt32LE(body.length - 4)
    : Number.POSITIVE_INFINITY
}

/** What came of a body, and how the room that it takes is given back: once, when it is not needed any more. */
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
 * Small answers at once; large ones, and those that only said that they were small, where there is room. Gives what leaves the line
 * of those that wait for it; once they have it, `done` is called in any case.
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
