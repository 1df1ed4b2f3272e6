/** The values that a manifest is made of. */
import { Schema } from "effect"

export const Count = Schema.Int.pipe(Schema.nonNegative())
/** A decimal at its currency's scale, major unit. */
export const Decimal = Schema.String.pipe(Schema.pattern(/^-?\d+(\.\d+)?$/))
export const Text = Schema.NullOr(Schema.String)

/** SHA-256, lower-case hexadecimal. */
export const Hash = Schema.String.pipe(Schema.pattern(/^[0-9a-f]{64}$/))
