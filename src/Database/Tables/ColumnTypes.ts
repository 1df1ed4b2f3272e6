/** Column types that drizzle lacks, kept as text so that nothing is rounded or re-formatted on the way. */
import { type SQL, type SQLWrapper, sql } from "drizzle-orm"
import { type AnyPgColumn, customType } from "drizzle-orm/pg-core"

/** A point in time as Postgres prints it; unlike drizzle's own string mode it is never parsed by JavaScript. */
export const instant = customType<{ data: string }>({ dataType: () => "timestamptz" })

/** An exact decimal without a declared precision: `numeric` keeps every digit and the scale that it was given. */
export const exact = customType<{ data: string }>({ dataType: () => "numeric" })

/** JSON kept to the letter, unlike `jsonb`; the driver reads it, so it comes back as what it says. */
export const verbatim = customType<{ data: unknown }>({ dataType: () => "json" })

export const bytes = customType<{ data: Buffer }>({ dataType: () => "bytea" })

/** A transaction's id as Postgres counts them, never wrapping around. */
export const transactionId = customType<{ data: string }>({ dataType: () => "xid8" })

/** A point in time, not null, as ISO 8601 in UTC to the microsecond. */
export const isoText = (at: SQLWrapper): SQL<string> =>
  sql`to_char(${at} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`.mapWith(String)

/** As `isoText`, where there may be none: a column that may be null, or one of an outer join. */
export const isoTextOrNull = (column: AnyPgColumn): SQL<string | null> => isoText(column)

/** A point in time, not null, as ISO 8601 in UTC to the second. */
export const isoSeconds = (column: AnyPgColumn): SQL<string> =>
  sql`to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`.mapWith(String)

/** A value, not null, as Postgres writes it: JSON as it is kept. */
export const asText = (column: AnyPgColumn): SQL<string> => sql`${column}::text`.mapWith(String)

/** To order texts by their bytes, whatever the database's collation. */
export const byBytes = (column: AnyPgColumn): SQL => sql`${column} collate "C"`
