/** The settings file: its content, and the line of each key. */
import { isMap, isNode, isScalar, isSeq, LineCounter, parseDocument } from "yaml"
import { mostSettings } from "../Common/Files/RegularFile/ImportBounds.ts"
import { formatPath, type Mistake, type Path } from "./Mistake.ts"

export interface Document {
  readonly content: unknown
  /** The line (from 1) of the deepest key on the path that the file holds. */
  readonly lineOf: (path: Path) => number | undefined
  readonly mistakes: ReadonlyArray<Mistake & { readonly line?: number }>
}

const keyOf = (key: unknown): unknown => (isScalar(key) ? key.value : key)

/** The line on which a file exceeds the number of marks that settings may have; each mark may become a value. */
const beyondBounds = (text: string): number | undefined => {
  let line = 1
  let marks = 0
  for (const [mark] of text.matchAll(/[\n,:[\]{}?-]/g)) {
    if (mark === "\n") line += 1
    marks += 1
    if (marks > mostSettings) return line
  }
  return undefined
}

export const readDocument = (text: string): Document => {
  const beyond = beyondBounds(text)
  if (beyond !== undefined) {
    const mistake = {
      path: [],
      text: `goes on beyond the ${mostSettings} values that settings may have`,
      line: beyond,
    }
    return { content: undefined, lineOf: () => undefined, mistakes: [mistake] }
  }
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const mistakes = document.errors.map((error) => ({
    path: [],
    text:
      error.code === "MULTIPLE_DOCS"
        ? "a second document begins here (---), expected one"
        : `cannot be read as YAML: ${error.message}`,
    line: lines.linePos(error.pos[0]).line,
  }))
  const lineOf = (path: Path): number | undefined => {
    let node: unknown = document.contents
    let offset: number | undefined
    for (const key of path) {
      if (isMap(node)) {
        const pair = node.items.find((item) => keyOf(item.key) === key)
        if (pair === undefined) break
        offset = isScalar(pair.key) ? pair.key.range?.[0] : offset
        node = pair.value
      } else if (isSeq(node) && typeof key === "number") {
        const item: unknown = node.items[key]
        offset = isNode(item) ? (item.range?.[0] ?? offset) : offset
        node = item
      } else break
    }
    return offset === undefined ? undefined : lines.linePos(offset).line
  }
  if (mistakes.length > 0) return { content: undefined, lineOf, mistakes }
  try {
    return { content: document.toJS(), lineOf, mistakes }
  } catch (error) {
    // Aliases of aliases exceed what the library resolves.
    const text = `cannot be read as YAML: ${error instanceof Error ? error.message : String(error)}`
    return { content: undefined, lineOf, mistakes: [{ path: [], text }] }
  }
}

/** The variable that set the key, or the nearest one around it; `isWhole`: the key itself. */
const variableFor = (path: Path, setBy: ReadonlyMap<string, string>) => {
  for (let length = path.length; length > 0; length--) {
    const name = setBy.get(path.slice(0, length).join("."))
    if (name !== undefined) return { name, isWhole: length === path.length }
  }
  return undefined
}

const lineFor = (
  mistake: Mistake,
  file: string,
  document: Document,
  setBy: ReadonlyMap<string, string>,
): string => {
  const path = formatPath(mistake.path)
  const variable = variableFor(mistake.path, setBy)
  if (variable !== undefined) {
    return variable.isWhole
      ? `${variable.name}: ${mistake.text}`
      : `${variable.name}: ${path}: ${mistake.text}`
  }
  if (path.startsWith("TIEOUT_") || path === "DATABASE_URL") return `${path}: ${mistake.text}`
  const line = document.lineOf(mistake.path)
  return `${file}${line === undefined ? "" : `:${line}`}: ${path === "" ? "" : `${path}: `}${mistake.text}`
}

/** Mistakes as whole lines, in the order of the file. */
export const linesFor = (
  mistakes: ReadonlyArray<Mistake>,
  file: string,
  document: Document,
  setBy: ReadonlyMap<string, string>,
): ReadonlyArray<string> =>
  [...mistakes]
    .sort((a, b) => (document.lineOf(a.path) ?? 0) - (document.lineOf(b.path) ?? 0))
    .map((mistake) => lineFor(mistake, file, document, setBy))
