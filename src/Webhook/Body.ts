/** The body of a request, read once and never more of it than may be kept. */
import type { IncomingMessage } from "node:http"
import { Data, Either } from "effect"

export class BodyRefused extends Data.TaggedError("BodyRefused")<{
  readonly reason: "TooLarge" | "CutShort"
}> {}

/** What it says of its own length, where it says so. */
const declaredLength = ({ headers }: IncomingMessage): number => Number(headers["content-length"] ?? 0)

export const readBody = (
  message: IncomingMessage,
  limit: number,
): Promise<Either.Either<Buffer, BodyRefused>> =>
  new Promise((resolve) => {
    const refuse = (reason: BodyRefused["reason"]) => resolve(Either.left(new BodyRefused({ reason })))
    if (declaredLength(message) > limit) return refuse("TooLarge")
    const chunks: Array<Buffer> = []
    let size = 0
    const stop = () => {
      message.off("data", take).off("end", end).off("close", cut).off("error", cut)
    }
    const take = (chunk: Buffer) => {
      size += chunk.length
      if (size <= limit) return chunks.push(chunk)
      stop()
      // What still comes is read and dropped, or the sender would never get to read the answer.
      message.resume()
      return refuse("TooLarge")
    }
    const end = () => {
      stop()
      const [only] = chunks
      resolve(Either.right(chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks)))
    }
    const cut = () => {
      stop()
      refuse("CutShort")
    }
    message.on("data", take).on("end", end).on("close", cut).on("error", cut)
  })
