/** The keys of the settings, derived from the schema: for variable names, unknown keys and suggestions. */
import { Schema, type SchemaAST } from "effect"
import { isRecord } from "../Common/Record.ts"
import { Content } from "./Content.ts"
import { formatPath, type Mistake, type Path } from "./Mistake.ts"
import { nearest } from "./Nearest.ts"

const root = Schema.encodedSchema(Content).ast

/** The schema of a key's value, without the undefined of an optional key. */
const core = (ast: SchemaAST.AST): SchemaAST.AST => {
  if (ast._tag === "Suspend") return core(ast.f())
  if (ast._tag === "Refinement") return core(ast.from)
  if (ast._tag !== "Union") return ast
  const types = ast.types.filter((type) => type._tag !== "UndefinedKeyword")
  const [only] = types
  return types.length === 1 && only !== undefined ? core(only) : ast
}

const children = (ast: SchemaAST.TypeLiteral): ReadonlyArray<readonly [string, SchemaAST.AST]> =>
  ast.propertySignatures.map((property) => [String(property.name), core(property.type)] as const)

/** The top-level keys. */
export const sectionNames: ReadonlyArray<string> =
  root._tag === "TypeLiteral" ? children(root).map(([name]) => name) : []

export interface Leaf {
  readonly path: ReadonlyArray<string>
  readonly ast: SchemaAST.AST
}

/** Every key that takes a value; `names` stands for the keys of sections whose keys the user names. */
export const leaves = (
  names: ReadonlyArray<string>,
  ast: SchemaAST.AST = root,
  path: ReadonlyArray<string> = [],
): ReadonlyArray<Leaf> => {
  if (ast._tag !== "TypeLiteral") return [{ path, ast }]
  const [free] = ast.indexSignatures
  const freeLeaves =
    free === undefined
      ? []
      : [{ path, ast }, ...names.flatMap((name) => leaves(names, core(free.type), [...path, name]))]
  return [...freeLeaves, ...children(ast).flatMap(([name, child]) => leaves(names, child, [...path, name]))]
}

const secretKeys: Record<string, string> = {
  baseurl: "BASE_URL",
  clientid: "CLIENT_ID",
  clientsecret: "CLIENT_SECRET",
  scope: "SCOPE",
  secret: "CLIENT_SECRET",
  databaseurl: "DATABASE_URL",
  token: "TIEOUT_STATUS_TOKEN",
  statustoken: "TIEOUT_STATUS_TOKEN",
  tokenkey: "TIEOUT_TOKEN_KEY",
}

/** Secrets that belong to no connection, whose names have no connection's prefix. */
const notOfConnections = new Set(["DATABASE_URL", "TIEOUT_STATUS_TOKEN", "TIEOUT_TOKEN_KEY"])

/** The prefix of one connection's variables. */
export const connectionPrefix = (name: string): string =>
  name === "default" ? "TIEOUT_" : `TIEOUT_${name.toUpperCase().replace(/-/g, "_")}_`

const secretVariable = (path: Path, key: string): string | undefined => {
  const plain = key.toLowerCase().replace(/[_-]/g, "")
  const variable = Object.hasOwn(secretKeys, plain) ? secretKeys[plain] : undefined
  if (variable === undefined || notOfConnections.has(variable)) return variable
  const [section, name] = path
  return connectionPrefix(section === "connections" && typeof name === "string" ? name : "default") + variable
}

const unknownKey = (path: Path, key: string, known: ReadonlyArray<string>): Mistake => {
  const at = [...path, key]
  const variable = secretVariable(path, key)
  if (variable !== undefined) {
    return {
      path: at,
      text: `credentials never stand in this file: remove the key and set ${variable} instead`,
    }
  }
  const sibling = nearest(key, known)
  const elsewhere = leaves(["default"]).find((leaf) => leaf.path.at(-1) === key)
  const hint =
    sibling !== undefined
      ? `did you mean ${sibling}?`
      : elsewhere !== undefined
        ? `did you mean ${formatPath(elsewhere.path)}?`
        : `expected one of ${known.join(", ")}`
  return { path: at, text: `unknown key; ${hint}` }
}

/** The keys, at any depth, that are no settings. */
export const unknownKeys = (
  value: unknown,
  ast: SchemaAST.AST = root,
  path: Path = [],
): ReadonlyArray<Mistake> => {
  if (ast._tag === "TupleType" && Array.isArray(value)) {
    const [rest] = ast.rest
    if (rest === undefined) return []
    return value.flatMap((item, index) => unknownKeys(item, core(rest.type), [...path, index]))
  }
  if (ast._tag !== "TypeLiteral" || !isRecord(value)) return []
  const known = new Map(children(ast))
  const [free] = ast.indexSignatures
  return Object.entries(value).flatMap(([key, child]) => {
    const next = known.get(key) ?? (free === undefined ? undefined : core(free.type))
    if (next === undefined) return [unknownKey(path, key, [...known.keys()])]
    return unknownKeys(child, next, [...path, key])
  })
}

/** A section or list whose keys are all commented out reads as null: treated as absent. */
export const withoutEmptySections = (value: unknown, ast: SchemaAST.AST = root): unknown => {
  if (ast._tag !== "TypeLiteral" || !isRecord(value)) return value
  const known = new Map(children(ast))
  const [free] = ast.indexSignatures
  const kept = Object.entries(value).flatMap(([key, child]): ReadonlyArray<[string, unknown]> => {
    const next = known.get(key) ?? (free === undefined ? undefined : core(free.type))
    if (next === undefined) return [[key, child]]
    const isSection = next._tag === "TypeLiteral" || next._tag === "TupleType"
    if (child !== null || !isSection) return [[key, withoutEmptySections(child, next)]]
    return free === undefined ? [] : [[key, {}]]
  })
  return Object.fromEntries(kept)
}
