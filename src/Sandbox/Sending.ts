import type { ServerResponse } from "node:http"
import { gzipSync } from "node:zlib"
import type { Fault, Faults } from "./Http/Faults.ts"
import type { Reply } from "./Http/SandboxReply.ts"

const headersOf = (reply: Reply, length: number) => ({
  "content-type": "application/json; charset=utf-8",
  "content-length": length,
  ...reply.headers,
})

const deliver = (response: ServerResponse, reply: Reply): void => {
  const bytes = Buffer.from(reply.body)
  response.writeHead(reply.status, headersOf(reply, bytes.length))
  response.end(bytes)
}

/** The connection breaks: before anything comes, or in the middle of the body. */
const reset = (response: ServerResponse, reply: Reply, bits: number): void => {
  const { socket } = response
  if (bits % 3 === 0) {
    socket?.resetAndDestroy()
    return
  }
  const bytes = Buffer.from(reply.body)
  response.writeHead(reply.status, headersOf(reply, bytes.length))
  // The client must have the first part before the reset arrives.
  response.write(bytes.subarray(0, Math.floor(bytes.length / 2)), () => socket?.resetAndDestroy())
}

/** Something is missing at the end of the body, in one of four ways. */
const truncate = (response: ServerResponse, reply: Reply, bits: number): void => {
  const bytes = Buffer.from(reply.body)
  const part = Math.floor(bytes.length * 0.6)
  const gzip = String(response.req.headers["accept-encoding"]).includes("gzip")
  switch (bits % 4) {
    case 0:
      response.writeHead(reply.status, headersOf(reply, part))
      response.end(bytes.subarray(0, part))
      return
    case 1:
      response.writeHead(reply.status, headersOf(reply, 0))
      response.end()
      return
    case 2:
      if (gzip) {
        const packed = gzipSync(bytes)
        const half = packed.subarray(0, Math.floor(packed.length / 2))
        response.writeHead(reply.status, { ...headersOf(reply, half.length), "content-encoding": "gzip" })
        response.end(half)
        return
      }
  }
  response.writeHead(reply.status, headersOf(reply, bytes.length))
  response.write(bytes.subarray(0, part), () => response.socket?.end())
}

/** Sends an answer, or the part that a fault leaves of it. */
export const send = (
  response: ServerResponse,
  reply: Reply,
  fault: Fault | undefined,
  faults: Faults,
): void => {
  switch (fault?.name) {
    case "reset":
      faults.count("reset")
      reset(response, reply, fault.bits)
      return
    case "truncate":
      faults.count("truncate")
      truncate(response, reply, fault.bits)
      return
    case "slow":
      faults.count("slow")
      setTimeout(() => deliver(response, reply), 100 + (fault.bits % 401))
      return
    default:
      deliver(response, reply)
  }
}
