/** Options that several commands take. */
import { surfaces } from "../Init.ts"
import { choice, oneOf, optional, text } from "./Declaration.ts"

export const connection = optional(
  text("connection", "NAME", "Only this connection of the settings"),
  "all of them",
)

export const surface = optional(
  choice("surface", "NAME", `Only this surface of the connection: ${oneOf(surfaces)}`, surfaces),
)

export const client = optional(
  text("client", "ID", "Only this client of the client surface, by its identifier or its code"),
)

export const book = optional(
  text("book", "B", "Only this book, by its code (ORG, …) or its client's identifier"),
  "all",
)

/** A month, unchecked. */
export const period = (what: string) => optional(text("period", "YYYY-MM", what))

/** The first and the last day, only together; unchecked. */
export const from = optional(text("from", "DATE", "The first day, YYYY-MM-DD, included; with --to"))
export const to = optional(text("to", "DATE", "The last day, YYYY-MM-DD, included"))
