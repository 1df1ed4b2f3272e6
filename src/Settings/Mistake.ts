/** A mistake in the settings: where, what was found, what is expected. */
import { Option, type ParseResult, SchemaAST } from "effect"

export type Path = ReadonlyArray<PropertyKey>

export interface Mistake {
  readonly path: Path
  /** A whole sentence part: `found 7, expected text`. Never holds a secret. */
  readonly text: string
}

/** `rules[2].match.reference` */
export const formatPath = (path: Path): string =>
  path.reduce<string>(
    (text, key) =>
      typeof key === "number" ? `${text}[${key}]` : text === "" ? String(key) : `${text}.${String(key)}`,
    "",
  )

const show = (value: unknown): string => {
  if (value === undefined || value === null) return "nothing"
  // The content of a section is not shown: a secret may have strayed into it.
  if (typeof value === "object")
    return Array.isArray(value) ? (value.length === 0 ? "an empty list" : "a list") : "a section"
  // Nor what follows the host in an address, which may be a secret.
  const shown =
    typeof value === "string" ? value.replace(/^(\w+:\/\/)(?:[^/?#]*@)?([^/?#]*).+$/, "$1$2/…") : value
  const text = JSON.stringify(shown) ?? String(shown)
  return text.length > 80 ? `${text.slice(0, 77)}...` : text
}

const plain: Record<string, string> = {
  string: "text (in quotes if it looks like a number)",
  NonEmptyTrimmedString: "text that is not empty and has no space around it",
  Int: "a whole number",
  number: "a number",
  boolean: "true or false",
}

/** What the schema expects, as text: its description, else its message, else its structure. */
const expected = (ast: SchemaAST.AST): string => {
  const described = SchemaAST.getDescriptionAnnotation(ast)
  if (Option.isSome(described) && !described.value.startsWith("a string matching")) {
    const builtIn = plain[Option.getOrElse(SchemaAST.getIdentifierAnnotation(ast), () => "")]
    return builtIn ?? described.value
  }
  switch (ast._tag) {
    case "Refinement":
      return expected(ast.from)
    case "Transformation":
      return expected(ast.from)
    case "Union": {
      const members = ast.types.filter((type) => type._tag !== "UndefinedKeyword")
      return members.map(expected).join(" or ")
    }
    case "Literal":
      return ast.literal === null ? "null" : String(ast.literal)
    case "TypeLiteral":
      return "a section with keys"
    case "TupleType":
      return "a list"
    default:
      return plain[String(ast)] ?? String(ast)
  }
}

const sentence = (actual: unknown, wanted: string): string => {
  const words = wanted.replace(/^expected /, "")
  return actual === undefined ? `is missing, expected ${words}` : `found ${show(actual)}, expected ${words}`
}

const messageOf = (issue: ParseResult.Refinement | ParseResult.Type): Option.Option<string> =>
  Option.flatMap(SchemaAST.getMessageAnnotation(issue.ast), (annotated) => {
    const message = annotated(issue)
    return typeof message === "string" ? Option.some(message) : Option.none()
  })

const isAbsence = (issue: ParseResult.ParseIssue): boolean =>
  issue._tag === "Type" && issue.ast._tag === "UndefinedKeyword"

/** What the outer schema expects, for a value of the wrong kind. */
const wantedBy = (ast: SchemaAST.AST, outer: string | undefined): string | undefined =>
  outer ?? Option.getOrUndefined(SchemaAST.getDescriptionAnnotation(ast))

/**
 * Flattens the decoder's issue into one mistake per place. `outer` is what the schema around this place expects, which
 * explains more than the bare kind of value.
 */
export const mistakesOf = (
  issue: ParseResult.ParseIssue,
  path: Path = [],
  outer?: string,
): ReadonlyArray<Mistake> => {
  switch (issue._tag) {
    case "Pointer":
      return mistakesOf(issue.issue, path.concat(issue.path))
    case "Missing":
      return [{ path, text: sentence(undefined, expected(issue.ast.type)) }]
    case "Unexpected":
    case "Forbidden":
      return [{ path, text: sentence(issue.actual, "nothing here") }]
    case "Composite": {
      const issues = "_tag" in issue.issues ? [issue.issues] : issue.issues
      if (issue.ast._tag !== "Union") return issues.flatMap((part) => mistakesOf(part, path))
      // A choice between kinds of values is explained as a whole; an optional value is no choice.
      const [only, ...others] = issues.filter((part) => !isAbsence(part))
      if (only !== undefined && others.length === 0) return mistakesOf(only, path, outer)
      // In a list, the wrong items are named; that the list could also be null explains nothing.
      if (Array.isArray(issue.actual) && issue.actual.length > 0) {
        const ofItems = issues
          .flatMap((part) => mistakesOf(part, path))
          .filter((mistake) => mistake.path.length > path.length)
        if (ofItems.length > 0) return ofItems
      }
      return [{ path, text: sentence(issue.actual, expected(issue.ast)) }]
    }
    case "Refinement": {
      if (issue.kind === "From") return mistakesOf(issue.issue, path, wantedBy(issue.ast, outer))
      if (issue.issue._tag !== "Type" || issue.issue.message !== undefined)
        return mistakesOf(issue.issue, path)
      const wanted = Option.getOrElse(messageOf(issue), () => expected(issue.ast))
      return [{ path, text: sentence(issue.actual, wanted) }]
    }
    case "Transformation": {
      if (issue.kind !== "Transformation") return mistakesOf(issue.issue, path, wantedBy(issue.ast, outer))
      const detail = issue.issue._tag === "Type" && issue.issue.message ? ` (${issue.issue.message})` : ""
      return [{ path, text: sentence(issue.actual, expected(issue.ast)) + detail }]
    }
    case "Type": {
      // Values that contradict each other: the message says which.
      if (issue.message !== undefined && typeof issue.actual === "object") {
        return [{ path, text: `expected ${issue.message}` }]
      }
      const wanted = issue.message ?? Option.getOrElse(messageOf(issue), () => outer ?? expected(issue.ast))
      return [{ path, text: sentence(issue.actual, wanted) }]
    }
  }
}
