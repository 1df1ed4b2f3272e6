/** The body of a request, read once and never more of it than may be kept. */
import type { IncomingMessage } from "node:http"
import { Data, Either } from "effect"

export class BodyRefused extends Data.TaggedError("BodyRefused")<{
  readonly reason: "TooLarge" | "CutShort" | "Crowded"
}> {}

/** Bytes of memory that a piece of a body takes beside its content. */
const pieceOverhead = 256

/** Bytes that all sockets together may hold of bodies whose sender is not verified yet. */
export class UnverifiedBytes {
  private taken = 0
  private readonly most: number

  constructor(most: number) {
    this.most = most
  }

  /** Whether there was room. */
  take(bytes: number): boolean {
    if (this.taken + bytes > this.most) return false
    this.taken += bytes
    return true
  }

  give(bytes: number): void {
    this.taken -= bytes
  }
}

/** A body, and what to call once its sender is verified: until then it counts against the room for unverified bodies. */
export interface UnverifiedBody {
  readonly bytes: Buffer
  readonly release: () => void
}

/** The length that the request states, if it states one. */
const declaredLength = ({ headers }: IncomingMessage): number => Number(headers["content-length"] ?? 0)

export const readBody = (
  message: IncomingMessage,
  limit: number,
  unverified: UnverifiedBytes,
): Promise<Either.Either<UnverifiedBody, BodyRefused>> =>
  new Promise((resolve) => {
    let taken = 0
    const release = () => {
      unverified.give(taken)
      taken = 0
    }
    const refuse = (reason: BodyRefused["reason"]) => {
      release()
      resolve(Either.left(new BodyRefused({ reason })))
    }
    if (declaredLength(message) > limit) return refuse("TooLarge")
    const chunks: Array<Buffer> = []
    let size = 0
    const stop = () => {
      message.off("data", take).off("end", end).off("close", cut).off("error", cut)
    }
    const refuseRest = (reason: BodyRefused["reason"]) => {
      stop()
      // Reads and drops what still arrives, or the sender would never get to read the answer.
      message.resume()
      chunks.length = 0
      refuse(reason)
    }
    const take = (chunk: Buffer) => {
      size += chunk.length
      if (size > limit) return refuseRest("TooLarge")
      const kept = chunk.length + pieceOverhead
      if (!unverified.take(kept)) return refuseRest("Crowded")
      taken += kept
      chunks.push(chunk)
    }
    const end = () => {
      stop()
      const [only] = chunks
      const bytes = chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)
      resolve(Either.right({ bytes, release }))
    }
    const cut = () => {
      stop()
      refuse("CutShort")
    }
    message.on("data", take).on("end", end).on("close", cut).on("error", cut)
  })
