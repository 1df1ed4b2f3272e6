/**
 * Declares the columns of a statement's answer: Postgres types, nulls, and the values that the program expects. The types of
 * rows follow from the declaration, and `AnswerRows.ts` compares every answer with it.
 */
import { Schema } from "effect"

/** A column whose values are read as `A`. Made only by the functions and constants below. */
export interface Column<out A> {
  /** For messages: `int8`, `text or null`. */
  readonly name: string
  /** OIDs of the Postgres types that it accepts. */
  readonly types: ReadonlyArray<number>
  /** OIDs of the arrays of these types. */
  readonly arrays: ReadonlyArray<number>
  readonly nullable: boolean
  /** The JavaScript type of a value, checked within JSON, which has no Postgres types. */
  readonly kind: "bigint" | "boolean" | "number" | "object" | "string"
  /** Whether the column allows a value that is not null; undefined where the Postgres type is enough. */
  readonly accepts: ((value: unknown) => boolean) | undefined
  /** For the type checker alone; never set. */
  readonly Type?: A
}

/** The columns of one statement, by name. Best a constant: what is computed from it is cached. */
export type Columns = Readonly<Record<string, Column<unknown>>>

/** A row with these columns. */
export type RowOf<C extends Columns> = {
  readonly [Name in keyof C]: C[Name] extends Column<infer A> ? A : never
}

const column = <A>(
  name: string,
  types: ReadonlyArray<number>,
  kind: Column<A>["kind"],
  arrays: ReadonlyArray<number> = [],
  accepts?: (value: unknown) => boolean,
): Column<A> => ({ name, types, arrays, kind, nullable: false, accepts })

export const bool = column<boolean>("bool", [16], "boolean", [1000])
export const int2 = column<number>("int2", [21], "number")
export const int4 = column<number>("int4", [23], "number", [1007])
export const int8 = column<bigint>("int8", [20], "bigint", [1016])
/** A floating-point number: never money. */
export const float8 = column<number>("float8", [701], "number")
/** An exact decimal, as the server writes it. */
export const numeric = column<string>("numeric", [1700], "string", [1231])
export const text = column<string>("text", [25, 1043], "string", [1009, 1015])
export const uuid = column<string>("uuid", [2950], "string", [2951])
/** `2026-10-31` */
export const date = column<string>("date", [1082], "string", [1182])
/** As the server writes it, in UTC: `2026-10-31 23:59:59.123456+00`. */
export const timestamptz = column<string>("timestamptz", [1184], "string", [1185])
export const bytes = column<Buffer>("bytea", [17], "object")

/** JSON that the caller decodes, null included. */
export const json: Column<unknown> = { ...column<unknown>("json", [114, 3802], "object"), nullable: true }

const plain = [bool, int2, int4, int8, float8, numeric, text, uuid, date, timestamptz, bytes, json]

/** The name of a Postgres type in messages. */
export const typeName = (oid: number): string => {
  const known = plain.find(({ types }) => types.includes(oid))
  if (known !== undefined) return known.name
  const items = plain.find(({ arrays }) => arrays.includes(oid))
  return items === undefined ? `a type that the program does not read (OID ${oid})` : `array of ${items.name}`
}

/** JSON that is checked against a schema, row by row. The schema must not transform anything. */
export const jsonOf = <A>(schema: Schema.Schema<A>): Column<A> =>
  column("json of a known form", json.types, "object", [], Schema.is(schema))

/** One of these texts. */
export const oneOf = <const Members extends ReadonlyArray<string>>(
  ...members: Members
): Column<Members[number]> => {
  const known: ReadonlySet<unknown> = new Set(members)
  return column(`one of ${members.join(", ")}`, text.types, "string", text.arrays, (value) =>
    known.has(value),
  )
}

/** A column that may be null: by its own nulls, an outer join, or an aggregate over no rows. */
export const nullable = <A>({ accepts, arrays, kind, name, types }: Column<A>): Column<A | null> => ({
  name: `${name} or null`,
  types,
  arrays,
  kind,
  nullable: true,
  accepts,
})

/** An array of one dimension. */
export const arrayOf = <A>(items: Column<A>): Column<ReadonlyArray<A>> => {
  const accepted = (item: unknown): boolean =>
    item === null
      ? items.nullable
      : !Array.isArray(item) && (items.accepts === undefined || items.accepts(item))
  return column(
    `array of ${items.name}`,
    items.arrays,
    "object",
    [],
    (value) => Array.isArray(value) && value.every(accepted),
  )
}

/** `json_agg` of objects with these fields. No schema, which would cost microseconds a row where there are very many. */
export const jsonRows = <C extends Columns>(fields: C): Column<ReadonlyArray<RowOf<C>>> => {
  const all = Object.entries(fields)
  const accepted = (item: unknown): boolean =>
    typeof item === "object" &&
    item !== null &&
    all.every(([name, { accepts, kind, nullable: optional }]) => {
      const value: unknown = Reflect.get(item, name)
      if (value === null) return optional
      return typeof value === kind && (accepts === undefined || accepts(value))
    })
  return column(
    `json rows of ${all.map(([name]) => name).join(", ")}`,
    json.types,
    "object",
    [],
    (value) => Array.isArray(value) && value.every(accepted),
  )
}
