/**
 * A `text[]` parameter for `unnest($1::text[], …)`, with the casts in the SELECT: the fastest way to bring many rows in,
 * and the only array type that the driver writes without knowing the column. The literal is built here, as one text
 * parameter, because the driver's own array writer costs several times as much.
 */
import type { Sql } from "./Client.ts"

const special = /["\\{},\s]|^$|^null$/i

const element = (value: string | null): string =>
  value === null
    ? "NULL"
    : special.test(value)
      ? `"${value.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`
      : value

export const textArray = (sql: Sql, values: ReadonlyArray<string | null>) => {
  let literal = "{"
  for (let at = 0; at < values.length; at++) {
    if (at > 0) literal += ","
    literal += element(values[at] ?? null)
  }
  return sql`${`${literal}}`}::text[]`
}
