/**
 * Free text for an import file. An importer would keep the quote that protects a spreadsheet, so a leading formula character is
 * removed instead; `journal.csv` has the original text.
 */
import { type Encoding, holds } from "../Encoding.ts"
import { oneLine } from "../OneLine.ts"

const formula = /^[=+\-@\uFF1D\uFF0B\uFF0D\uFF20'\s]+/

/** What a reader takes for the same sign. */
const plainSigns: Readonly<Record<string, string>> = {
  "´": "'",
  "‘": "'",
  "’": "'",
  "‚": "'",
  "“": '"',
  "”": '"',
  "„": '"',
  "–": "-",
  "—": "-",
}

const plainLetters: Readonly<Record<string, string>> = {
  ß: "ss",
  æ: "ae",
  Æ: "AE",
  ø: "o",
  Ø: "O",
  ł: "l",
  Ł: "L",
  đ: "d",
  Đ: "D",
  œ: "oe",
  Œ: "OE",
}

/** Superscripts, fractions and digits in circles: as plain digits they and those beside them would be another number. */
const numeral = /\p{No}/u

/** A letter without its marks. */
const inAscii = (char: string): string =>
  char
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .replace(/[^ -~]/gu, (letter) => plainLetters[letter] ?? letter)

/** Each character as it came if the encoding holds it, or else its plain form, if it has one. */
const inEncoding = (text: string, encoding: Encoding): string => {
  const composed = text.normalize("NFC")
  if (encoding === "utf-8") return composed
  return composed.replace(/[^ -~]/gu, (char) => {
    if (holds(char, encoding) || numeral.test(char)) return char
    return plainSigns[char] ?? (encoding === "ascii" ? inAscii(char) : char.normalize("NFKC"))
  })
}

export interface TextRule {
  readonly encoding: Encoding
  /** UTF-16 code units, at most: what Windows programs and .NET count, and never fewer than there are characters. */
  readonly most: number
  /** Characters that the format does not allow; each becomes a space. */
  readonly without?: RegExp | undefined
  /** Characters that are left out, and leave no space. */
  readonly drop?: RegExp | undefined
}

/** Separators that are left at the ends once other characters are gone. */
const dangling = /[\s/,;|-]+$/

/**
 * The beginning of a text, cut between words, since half a number would be another number. A text without a gap in its first
 * half is cut at the limit, unless that is within a number.
 */
const cut = (text: string, most: number): string => {
  if (text.length <= most) return text
  // Not between the two units of one character.
  const kept = text.slice(0, most).replace(/[\ud800-\udbff]$/, "")
  if (text.charAt(kept.length) === " ") return kept.replace(dangling, "")
  const gap = kept.lastIndexOf(" ")
  const begun = kept.slice(gap + 1)
  const isWord = gap >= kept.length / 2 || /\p{N}/u.test(begun)
  return isWord ? kept.slice(0, Math.max(gap, 0)).replace(dangling, "") : kept
}

const cleaned = (text: string, { drop, encoding, most, without }: TextRule): string => {
  const plain = oneLine(inEncoding(text, encoding))
  const allowed = without === undefined ? plain : plain.replace(without, " ").replace(/ {2,}/g, " ")
  const kept = drop === undefined ? allowed : allowed.replace(drop, "")
  return cut(kept.replace(formula, ""), most).trimEnd()
}

/**
 * A text cleaned and cut to a rule. A text with letters that the encoding lacks is replaced as a whole by `instead`: half a
 * name would be a wrong name.
 */
export const fitted = (text: string, rule: TextRule, instead: string): string => {
  const own = cleaned(text, rule)
  return own !== "" && holds(own, rule.encoding) ? own : cleaned(instead, rule)
}

/** No rule takes a letter or a digit away. */
const letterOrDigit = /[\p{L}\p{N}]/u

/** Whether something is left of a text once it is cleaned, and the encoding holds it. */
export const isHoldable = (text: string, { encoding, without }: Omit<TextRule, "most" | "drop">): boolean =>
  (encoding === "utf-8" && letterOrDigit.test(text)) ||
  fitted(text, { encoding, without, most: Number.POSITIVE_INFINITY }, "") !== ""

/** A text as a cell: quoted where RFC 4180 asks for it, or always. */
export const quoted = (text: string, delimiter: string, always: boolean): string =>
  always || text.includes(delimiter) || /["\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
