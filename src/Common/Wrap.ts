/** Lines for a narrow terminal, broken between words. Imports nothing: `--help` answers by it at once. */

/** Where the text of a second column begins: `  --out FILE   Where to write`. */
const secondColumn = /^\s*\S.*?\s{2,}(?=\S)/

/** The lines that follow are indented to the second column, or a little where there is none or too little room. */
const hangOf = (line: string, width: number): number => {
  const at = secondColumn.exec(line)?.[0].length ?? 0
  const leading = line.length - line.trimStart().length
  return at > 0 && at <= width / 2 ? at : leading + 4
}

/** A line as lines of at most `width` characters; a word that is longer stays whole. */
export const wrapped = (line: string, width: number): ReadonlyArray<string> => {
  if (line.length <= width) return [line]
  const hang = " ".repeat(Math.min(hangOf(line, width), Math.max(0, width - 20)))
  const made: Array<string> = []
  let rest = line
  while (rest.length > width) {
    const least = made.length === 0 ? rest.length - rest.trimStart().length : hang.length
    const space = rest.lastIndexOf(" ", width)
    const at = rest.slice(least, Math.max(space, 0)).trim() === "" ? rest.indexOf(" ", least + 1) : space
    if (at < 0) break
    made.push(rest.slice(0, at).trimEnd())
    rest = hang + rest.slice(at).trimStart()
  }
  return [...made, rest]
}

/** All lines of a text. */
export const wrappedText = (text: string, width: number): string =>
  text
    .split("\n")
    .flatMap((line) => wrapped(line, width))
    .join("\n")
