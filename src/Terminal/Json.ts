/** JSON text over several lines for a person: only the space between its parts changes, never a digit of a number. */

const parts = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g

const isWhole = (text: string): boolean => {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** The lines of a JSON text; one that is not whole JSON stays as it is. */
export const jsonLines = (text: string): ReadonlyArray<string> => {
  if (!isWhole(text)) return text.split("\n")
  const lines: Array<string> = []
  let line = ""
  let depth = 0
  const end = () => {
    lines.push(line)
    line = "  ".repeat(depth)
  }
  const tokens = text.match(parts) ?? []
  tokens.forEach((token, at) => {
    if (token === "{" || token === "[") {
      line += token
      depth += 1
      const next = tokens[at + 1]
      if (next !== "}" && next !== "]") end()
    } else if (token === "}" || token === "]") {
      depth -= 1
      const before = tokens[at - 1]
      if (before !== "{" && before !== "[") end()
      line += token
    } else if (token === ",") {
      line += token
      end()
    } else line += token === ":" ? ": " : token
  })
  return [...lines, line]
}
