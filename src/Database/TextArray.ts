/**
 * A `text[]` parameter for `unnest($1::text[], …)`, with the casts in the SELECT: the fastest way to bring many rows in,
 * and the only array type that the driver writes without knowing the column. The literal is built here, as one text
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
  // `unnest` fills shorter arrays up with NULL: a column without any value needs none.
  return given ? `{${elements.join(",")}}` : "{}"
}

export const textArray = (sql: Sql, values: ReadonlyArray<string | null>) =>
  sql`${textLiteral(values)}::text[]`

/**
 * The same for values that need no quotes in an array, because of what they are: identifiers (UUID), exact decimals,
 * integers, points in time, currency codes. A fifth of the work, where there are hundreds of thousands of them.
 */
export const plainLiteral = (values: ReadonlyArray<string | null>): string => {
  let literal = ""
  let given = false
  for (const value of values) {
    given ||= value !== null
    literal += `,${value ?? "NULL"}`
  }
  return given ? `{${literal.slice(1)}}` : "{}"
}

export const plainArray = (sql: Sql, values: ReadonlyArray<string | null>) =>
  sql`${plainLiteral(values)}::text[]`
