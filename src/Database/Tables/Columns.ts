/** Column types that drizzle lacks, kept as text so that nothing is rounded or re-formatted on the way. */
import { customType } from "drizzle-orm/pg-core"

/** A point in time as Postgres prints it; unlike drizzle's own string mode it is never parsed by JavaScript. */
export const instant = customType<{ data: string }>({ dataType: () => "timestamptz" })

/** An exact decimal without a declared precision: `numeric` keeps every digit and the scale that it was given. */
export const exact = customType<{ data: string }>({ dataType: () => "numeric" })

/** JSON kept to the letter, unlike `jsonb`. */
export const verbatim = customType<{ data: string }>({ dataType: () => "json" })

/** A transaction as Postgres counts them, over all of its life. */
export const transactionId = customType<{ data: string }>({ dataType: () => "xid8" })
