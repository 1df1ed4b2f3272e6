/** Pretty-prints JSON text: only whitespace changes, never a digit of a number. */

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

const isWhole = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The lines of a JSON text; text that is not JSON stays as it is. */
export const jsonLines = (text: string): ReadonlyArray<string> => {
  if (!isWhole(text)) return text.split("\n")
  const lines: Array<string> = []
  let line = ""
  let depth = 0
  const endLine = () => {
    lines.push(line)
    line = "  ".repeat(depth)
  }
  const tokens = text.match(token) ?? []
  tokens.forEach((part, at) => {
    if (part === "{" || part === "[") {
      line += part
      depth += 1
      const next = tokens[at + 1]
      if (next !== "}" && next !== "]") endLine()
    } else if (part === "}" || part === "]") {
      depth -= 1
      const before = tokens[at - 1]
      if (before !== "{" && before !== "[") endLine()
      line += part
    } else if (part === ",") {
      line += part
      endLine()
    } else line += part === ":" ? ": " : part
  })
  return [...lines, line]
}
