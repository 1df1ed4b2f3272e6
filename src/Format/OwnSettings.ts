/** The kinds of values in the formats' own settings. */
import { Schema } from "effect"

export const ShortText = Schema.String.pipe(
  Schema.filter((text) => /^[\p{L}\p{N}][^\p{Cc}"]{0,99}$/u.test(text)),
).annotations({
  description: "text of at most 100 characters that begins with a letter or digit and holds no quotes",
})

export const wholeNumber = (from: number, to: number) =>
  Schema.Int.pipe(Schema.between(from, to)).annotations({
    description: `a whole number from ${from} to ${to}`,
  })
