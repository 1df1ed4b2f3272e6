/** Settings from environment variables: a variable's name follows from the key's path, and it overrides the file. */
import { Option, type SchemaAST } from "effect"
import { parse } from "yaml"
import { isRecord } from "../Common/Record.ts"
import type { Mistake } from "./Mistake.ts"
import { nearest } from "./Nearest.ts"
import { connectionPrefix, type Leaf, leaves, sectionNames } from "./SettingsKeys.ts"

export type Variables = Readonly<Record<string, string | undefined>>

const screamingSnake = (key: string): string =>
  key
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/-/g, "_")
    .toUpperCase()

/** `["accounting", "timeZone"]` → `TIEOUT_ACCOUNTING_TIME_ZONE` */
const variableName = (path: ReadonlyArray<string>): string =>
  ["TIEOUT", ...path.map(screamingSnake)].join("_")

const sections = sectionNames.map((name) => variableName([name]))

/** A key with its variable and its dotted path. */
interface VariableKey extends Leaf {
  readonly name: string
  readonly dotted: string
}

const keysOf = (names: ReadonlyArray<string>): ReadonlyArray<VariableKey> =>
  leaves(names).map((leaf) => ({ ...leaf, name: variableName(leaf.path), dotted: leaf.path.join(".") }))

/** The keys of the default connection, which is the usual one: computed once. */
const defaultNames: ReadonlyArray<string> = ["default"]
const defaultKeys = keysOf(defaultNames)

/** Variables that have no key in the file. */
const ownVariables = [
  "TIEOUT_CONFIG",
  "TIEOUT_DATA_DIR",
  "TIEOUT_LOG",
  "TIEOUT_LOG_LEVEL",
  "TIEOUT_STATUS_TOKEN",
  "TIEOUT_TOKEN_KEY",
  "TIEOUT_USER",
]
const secretNames = ["BASE_URL", "CLIENT_ID", "CLIENT_SECRET", "SCOPE"] as const

/** An empty variable counts as not set, as it does in a compose file. */
export const variable = (variables: Variables, name: string): Option.Option<string> =>
  Option.filter(Option.fromNullable(variables[name]), (text) => text.trim() !== "")

const acceptsText = (ast: SchemaAST.AST): boolean =>
  ast._tag === "StringKeyword" ||
  (ast._tag === "Literal" && typeof ast.literal === "string") ||
  (ast._tag === "Union" && ast.types.some(acceptsText))

const acceptsNull = (ast: SchemaAST.AST): boolean =>
  ast._tag === "Union" && ast.types.some((type) => type._tag === "Literal" && type.literal === null)

const isList = (ast: SchemaAST.AST): boolean =>
  ast._tag === "TupleType" || (ast._tag === "Union" && ast.types.some(isList))

const yamlOrText = (text: string): unknown => {
  try {
    return parse(text)
  } catch {
    return text
  }
}

/** A text stays text, whatever it looks like; a list may be separated by commas; anything else is parsed as YAML. */
const valueOf = (text: string, ast: SchemaAST.AST): unknown => {
  if (acceptsNull(ast) && text === "null") return null
  if (acceptsText(ast)) return text
  if (isList(ast) && !/^\s*[[{-]/.test(text)) return text.split(",").map((item) => item.trim())
  return yamlOrText(text)
}

const put = (target: unknown, path: ReadonlyArray<string>, value: unknown): unknown => {
  const [key, ...rest] = path
  if (key === undefined) return value
  const base = isRecord(target) ? target : {}
  return { ...base, [key]: put(base[key], rest, value) }
}

export interface Overlaid {
  readonly content: unknown
  /** Dotted path → the variable that set it. */
  readonly setBy: ReadonlyMap<string, string>
  readonly mistakes: ReadonlyArray<Mistake>
}

const connectionNames = (content: unknown): ReadonlyArray<string> => {
  const connections = isRecord(content) ? content.connections : undefined
  return isRecord(connections) ? Object.keys(connections) : defaultNames
}

const misspelled = (variables: Variables, known: ReadonlyArray<string>): ReadonlyArray<Mistake> =>
  Object.keys(variables)
    .filter((name) => name.startsWith("TIEOUT_") && !known.includes(name))
    .filter((name) => Option.isSome(variable(variables, name)))
    .flatMap((name): ReadonlyArray<Mistake> => {
      const [example] = known.filter((one) => one.startsWith(`${name}_`))
      if (example !== undefined) {
        return [{ path: [name], text: `is a section; each of its keys is a variable, such as ${example}` }]
      }
      const near = nearest(name, known, 2)
      // Other programs may have variables that begin with TIEOUT_, but none that begins with one of our sections.
      const below = sections.some((section) => name.startsWith(`${section}_`))
      if (near === undefined && !below) return []
      const best = near ?? nearest(name, known, name.length / 3)
      return [
        { path: [name], text: `unknown variable${best === undefined ? "" : `; did you mean ${best}?`}` },
      ]
    })

/** Overrides the file's content by the variables. */
export const overlay = (content: unknown, variables: Variables): Overlaid => {
  const whole = variable(variables, "TIEOUT_CONNECTIONS")
  const start = Option.isSome(whole) ? put(content, ["connections"], yamlOrText(whole.value)) : content
  const names = connectionNames(start)
  const setBy = new Map<string, string>()
  let overlaid = start
  const known = names === defaultNames ? defaultKeys : keysOf(names)
  for (const { ast, dotted, name, path } of known) {
    const text = variable(variables, name)
    if (Option.isNone(text)) continue
    setBy.set(dotted, name)
    if (name !== "TIEOUT_CONNECTIONS") overlaid = put(overlaid, path, valueOf(text.value, ast))
  }
  const knownNames = [
    ...ownVariables,
    ...known.map(({ name }) => name),
    ...names.flatMap((name) => secretNames.map((secret) => connectionPrefix(name) + secret)),
  ]
  return { content: overlaid, setBy, mistakes: misspelled(variables, knownNames) }
}
