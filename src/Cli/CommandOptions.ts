/** Options that several commands take. */
import { Effect, Option } from "effect"
import { mostPartitions } from "../Database/Migrations/PartitionNames.ts"
import { surfaces } from "../Init.ts"
import { choice, oneOf, optional, text, wholeNumber } from "./Declaration.ts"
import { UsageError } from "./Failure.ts"

export const connection = optional(
  text("connection", "NAME", "Only this connection of the settings"),
  "all of them",
)

export const surface = optional(
  choice("surface", "NAME", `Only this surface of the connection: ${oneOf(surfaces)}`, surfaces),
)

export const client = optional(
  text("client", "ID", "Only this client of the client surface, by its identifier, its code or its book's"),
)

/** Fails before anything is read: a client is read over its own surface, and the other one would be left out without a word. */
export const refuseOtherSurface = ({
  client: asked,
  surface: over,
}: {
  readonly client: Option.Option<string>
  readonly surface: Option.Option<string>
}): Effect.Effect<void, UsageError> =>
  Option.isSome(asked) && Option.exists(over, (name) => name !== "client")
    ? new UsageError({
        detail: `--client and --surface ${Option.getOrElse(over, () => "")} exclude each other: a client is read over the client surface.`,
        advice: "Leave one of them out.",
      })
    : Effect.void

export const book = optional(
  text("book", "B", "Only this book, by its code (ORG, …) or its client's identifier"),
  "all",
)

/** A month, unchecked. */
export const period = (what: string) => optional(text("period", "YYYY-MM", what))

/** The first and the last day, only together; unchecked. */
export const from = optional(text("from", "DATE", "The first day, YYYY-MM-DD, included; with --to"))
export const to = optional(text("to", "DATE", "The last day, YYYY-MM-DD, included"))

export const partitions = optional(
  wholeNumber("partitions", "N", "Begin the tables that grow with the history in so many partitions"),
  "1",
)

/** The number that was asked for; undefined: none was. */
export const partitionsOf = (asked: Option.Option<number>): Effect.Effect<number | undefined, UsageError> =>
  Option.exists(asked, (count) => count < 1 || count > mostPartitions)
    ? new UsageError({
        detail: `--partitions: found ${Option.getOrElse(asked, () => 0)}, expected a whole number from 1 to ${mostPartitions}.`,
        advice: "One is enough below some ten million entries; docs/scale.md says more.",
      })
    : Effect.succeed(Option.getOrUndefined(asked))
