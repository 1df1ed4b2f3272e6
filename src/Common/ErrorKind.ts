/** The kind of an error without its message, for telemetry: the message may quote what the service answered. */
import { Cause, Chunk, Option } from "effect"

export const kindOf = (error: unknown): string => {
  const field = (name: string): string | undefined => {
    const value: unknown = typeof error === "object" && error !== null ? Reflect.get(error, name) : undefined
    return typeof value === "string" && value !== "" ? value : undefined
  }
  const reason = field("reason")
  return `${field("_tag") ?? "a defect"}${reason === undefined ? "" : ` (${reason})`}`
}

/** The first error of a cause, or the defect. */
export const errorOf = (cause: Cause.Cause<unknown>): unknown =>
  Option.getOrElse(Chunk.head(Cause.failures(cause)), () => Cause.squash(cause))

/** What the first error of a cause says, or the defect. */
export const messageOf = (cause: Cause.Cause<unknown>): string => {
  const error = errorOf(cause)
  return error instanceof Error ? error.message : "something unforeseen"
}
