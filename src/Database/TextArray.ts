/**
 * Array parameters for `unnest($1::text[], …)`: the fastest way to bring many rows in. The literal is built here, as one text
 * parameter, because the driver's own array writer costs several times as much.
 */
import type { Sql } from "./Client.ts"

const escaped = (value: string): string =>
  value.includes('"') || value.includes("\\") ? value.replaceAll("\\", "\\\\").replaceAll('"', '\\"') : value

/** The literal alone, to be cast where it stands: each `textArray` within a statement costs the driver as much as a small one. */
export const textLiteral = (values: ReadonlyArray<string | null>): string => {
  const elements: Array<string> = []
  let given = false
  for (const value of values) {
    given ||= value !== null
    elements.push(value === null ? "NULL" : `"${escaped(value)}"`)
  }
  // `unnest` pads shorter arrays with NULL, so a column without any value can be an empty array.
  return given ? `{${elements.join(",")}}` : "{}"
}

export const textArray = (sql: Sql, values: ReadonlyArray<string | null>) =>
  sql`${textLiteral(values)}::text[]`

/**
 * As `textArray`, for values that never need quotes: UUIDs, exact decimals, integers, points in time, currency codes. A fifth
 * of the work, which counts for hundreds of thousands of them.
 */
export const plainLiteral = (values: ReadonlyArray<string | null>): string => {
  let given = false
  let whole = true
  for (const value of values) {
    if (value === null) whole = false
    else given = true
  }
  if (!given) return "{}"
  // Joined at once: adding item to item leaves two strings behind for each.
  return `{${(whole ? values : values.map((value) => value ?? "NULL")).join(",")}}`
}

/** The array type of a literal: the column's own, so that the server need not cast it item by item. */
const arrays = {
  text: (sql: Sql, literal: string) => sql`${literal}::text[]`,
  uuid: (sql: Sql, literal: string) => sql`${literal}::uuid[]`,
  int2: (sql: Sql, literal: string) => sql`${literal}::int2[]`,
  int4: (sql: Sql, literal: string) => sql`${literal}::int4[]`,
  int8: (sql: Sql, literal: string) => sql`${literal}::int8[]`,
  bool: (sql: Sql, literal: string) => sql`${literal}::bool[]`,
  numeric: (sql: Sql, literal: string) => sql`${literal}::numeric[]`,
  timestamptz: (sql: Sql, literal: string) => sql`${literal}::timestamptz[]`,
}

export const plainArray = (
  sql: Sql,
  values: ReadonlyArray<string | null>,
  type: keyof typeof arrays = "text",
) => arrays[type](sql, plainLiteral(values))

/** The columns of rows as arrays for `unnest`: `text` for any text, `plain` for values that never need quotes. */
export const columnsOf = <A>(sql: Sql, rows: ReadonlyArray<A>) => ({
  text: (valueOf: (row: A) => string | null) => textArray(sql, rows.map(valueOf)),
  plain: (valueOf: (row: A) => string | null, type?: keyof typeof arrays) =>
    plainArray(sql, rows.map(valueOf), type),
})
