/** Text for a terminal: its width, and without anything that could move the cursor or mislead the reader. */

let segmenter: Intl.Segmenter | undefined

/** Made when the first text needs it: that takes longer than most commands have. */
const segmentsOf = (text: string) => {
  segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" })
  return segmenter.segment(text)
}

/** East Asian wide and full-width ranges and pictographs take two columns. Source: UAX #11, coarsely. */
const wide =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u

// biome-ignore lint/suspicious/noControlCharactersInRegex: taking colours out is what it is for
const colours = /\u001b\[[0-9;]*m/g

/** Columns that the text takes; colours take none. */
export const widthOf = (text: string): number => {
  const plain = text.replace(colours, "")
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the whole of ASCII
  if (/^[\x00-\x7f]*$/.test(plain)) return plain.length
  let width = 0
  for (const { segment } of segmentsOf(plain)) width += wide.test(segment) ? 2 : 1
  return width
}

/** Text from outside (names, references) with control characters and direction overrides made visible. */
export const harmless = (text: string): string =>
  text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]/gu, "\ufffd")

/** The same of a text of several lines. */
export const harmlessLines = (text: string): string => text.split("\n").map(harmless).join("\n")

/** A path as a word of a command that a person copies into a shell. */
export const inShell = (path: string): string => {
  const word = path.startsWith("-") ? `./${path}` : path
  return /^[\p{L}\p{N}_@%+=:,./-]+$/u.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`
}

/** Sentences that stand on lines of their own, as of several mistakes, for a place that holds one line. */
export const inOneLine = (text: string): string => text.split("\n").join(". ")

/** JSON whose strings hold none of them, either: as escapes, which read back as the same text. JSON itself escapes those of ASCII alone. */
export const harmlessJson = (json: string): string =>
  json.replace(
    /[\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  )

/** Cuts text to a number of columns, with an ellipsis. Not for text with colours. */
export const truncate = (text: string, columns: number): string => {
  if (widthOf(text) <= columns) return text
  let kept = ""
  let width = 0
  for (const { segment } of segmentsOf(text)) {
    width += wide.test(segment) ? 2 : 1
    if (width > columns - 1) break
    kept += segment
  }
  return `${kept}…`
}

const escapes = { bold: 1, dim: 2, red: 31, green: 32, yellow: 33, cyan: 36 } as const

export const styled = (color: boolean, style: keyof typeof escapes, text: string): string =>
  color && text !== "" ? `\u001b[${escapes[style]}m${text}\u001b[0m` : text

/** `1234567` → `1,234,567`. For whole numbers; amounts are text already. Loading the locale's own way would take 30 ms. */
export const count = (value: number | bigint): string => String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, ",")

/** The first of some names, and how many more there are: `one, two and 3 more`. */
export const firstNames = (names: ReadonlyArray<string>, most: number): string =>
  names.length > most
    ? `${names.slice(0, most).join(", ")} and ${count(names.length - most)} more`
    : names.join(", ")

/** `2 entries`, `1 entry`. */
export const counted = (value: number | bigint, one: string, many = `${one}s`): string =>
  `${count(value)} ${value === 1 || value === 1n ? one : many}`
