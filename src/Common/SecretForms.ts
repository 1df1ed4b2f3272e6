/**
 * Takes secrets out of text in every form in which somebody may send them back: each character as it is, or as a form, a URL,
 * JSON or HTML may write it, in any mixture; in base64, once or twice, alone or within something longer; in hexadecimal; and letter by
 * letter in what stands for characters elsewhere, with invisible ones anywhere between.
 */

/** The escapes that other notations write in place of a character with a meaning of its own. */
const jsonShort: Readonly<Record<string, string>> = { "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t" }
const htmlNames: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
}

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&")

const anyCase = (hex: string): string =>
  hex.replace(/[a-f]/gi, (digit) => `[${digit.toLowerCase()}${digit.toUpperCase()}]`)

const percent = (character: string): string =>
  [...Buffer.from(character, "utf8")]
    .map((byte) => `%${anyCase(byte.toString(16).padStart(2, "0"))}`)
    .join("")

const unicode = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\\\u${anyCase(character.charCodeAt(at).toString(16).padStart(4, "0"))}`,
  ).join("")

const numeric = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return `&#(?:0*${code}|[xX]0*${anyCase(code.toString(16))});`
}

/** Every notation leaves letters and digits as they are. */
const characterPattern = (character: string): string => {
  if (/^[A-Za-z0-9]$/.test(character)) return character
  const named = htmlNames[character]
  const forms = [
    percent(character),
    unicode(character),
    numeric(character),
    ...(character === " " ? ["\\+"] : []),
    ...(/^["\\/]$/.test(character) ? [`\\\\${literal(character)}`] : []),
    ...(jsonShort[character] === undefined ? [] : [`\\\\${jsonShort[character]}`]),
    ...(named === undefined ? [] : [`&${named};`]),
    // Last: the others may begin with it.
    literal(character),
  ]
  return `(?:${forms.join("|")})`
}

/** Bytes whose base64 would be too short to be anything but chance. */
const shortest = 6

/** Base64 of something longer has these characters for certain, by how many bytes of a group of three come before the secret. */
const base64Within = (secret: Buffer): ReadonlyArray<string> =>
  secret.length < shortest
    ? []
    : [0, 1, 2].map((before) => {
        const text = Buffer.concat([Buffer.alloc(before), secret])
          .toString("base64")
          .replace(/=+$/, "")
        const whole = Math.floor(((before + secret.length) * 8) / 6)
        return text.slice(Math.ceil((before * 8) / 6), whole)
      })

const base64Pattern = (text: string): string =>
  text.replace(/\+/g, "(?:[+-]|%2[bB])").replace(/\//g, "(?:\\\\?[/_]|%2[fF])")

/** Bytes in hexadecimal, with or without a mark between; half of one may be left at the end, where another half stands before. */
const hexadecimal = /[\dA-Fa-f]{2}(?:[ :]?[\dA-Fa-f]{2}){5,}[\dA-Fa-f]?/g

const withoutHexadecimal = (text: string, plain: ReadonlyArray<PlainSecret>): string =>
  text.replace(hexadecimal, (run) => {
    const digits = run.replaceAll(/[ :]/g, "").toLowerCase()
    return plain.some(({ hex }) => hex.length >= 2 * shortest && digits.includes(hex)) ? "•••" : run
  })

/** Everything that may stand for a byte or a character in any notation, and invisible characters. */
const written =
  /%(?:25)*(?<percent>[\dA-Fa-f]{2})|\\u(?<unicode>[\dA-Fa-f]{4})|\\x(?<hex>[\dA-Fa-f]{2})|&#(?<decimal>\d{1,7});|&#[xX](?<number>[\dA-Fa-f]{1,6});|(?<unseen>[\p{Cc}\u00ad\u200b\u2060\ufeff])/gu

/** Decoded text with one character of `bytes` per byte of UTF-8, and where each byte's source begins and ends. */
interface Decoded {
  readonly bytes: string
  readonly starts: ReadonlyArray<number>
  readonly ends: ReadonlyArray<number>
}

const decoded = (text: string): Decoded => {
  const parts: Array<string> = []
  const starts: Array<number> = []
  const ends: Array<number> = []
  const add = (bytes: string, start: number, end: number): void => {
    parts.push(bytes)
    for (let at = 0; at < bytes.length; at++) {
      starts.push(start)
      ends.push(end)
    }
  }
  const addPlain = (from: number, to: number): void => {
    for (let at = from; at < to; ) {
      const character = String.fromCodePoint(text.codePointAt(at) ?? 0)
      add(Buffer.from(character).toString("latin1"), at, at + character.length)
      at += character.length
    }
  }
  let from = 0
  // Half of a character beyond the basic plane waits for its other half.
  let half: { readonly unit: string; readonly start: number } | undefined
  for (const { 0: found, groups = {}, index } of text.matchAll(written)) {
    addPlain(from, index)
    from = index + found.length
    const byte = groups.percent ?? groups.hex
    const code = groups.decimal ?? (groups.number === undefined ? undefined : `0x${groups.number}`)
    if (byte !== undefined) add(String.fromCharCode(Number.parseInt(byte, 16)), index, from)
    else if (groups.unicode !== undefined) {
      const unit = String.fromCharCode(Number.parseInt(groups.unicode, 16))
      if (/[\ud800-\udbff]/.test(unit)) half = { unit, start: index }
      else {
        add(Buffer.from((half?.unit ?? "") + unit).toString("latin1"), half?.start ?? index, from)
        half = undefined
      }
    } else if (code !== undefined && Number(code) <= 0x10ffff) {
      add(Buffer.from(String.fromCodePoint(Number(code))).toString("latin1"), index, from)
    }
  }
  addPlain(from, text.length)
  return { bytes: parts.join(""), starts, ends }
}

export interface PlainSecret {
  /** The bytes of UTF-8, a character each. */
  readonly bytes: string
  readonly hex: string
}

export type SecretForm = RegExp | PlainSecret

const isPlain = (form: SecretForm): form is PlainSecret => "bytes" in form

/** The text without secrets whose characters are written as escapes; `escapedFirst`: only those whose first character is. */
const withoutWritten = (text: string, plain: ReadonlyArray<PlainSecret>, escapedFirst = false): string => {
  if (text.search(written) < 0) return text
  const { bytes, ends, starts } = decoded(text)
  const ranges: Array<readonly [from: number, to: number]> = []
  for (const secret of plain) {
    const { length } = secret.bytes
    for (let at = bytes.indexOf(secret.bytes); at >= 0; at = bytes.indexOf(secret.bytes, at + length)) {
      const start = starts[at] ?? 0
      const isEscaped = /[%\\&]/.test(text.charAt(start)) && (ends[at] ?? 0) > start + 1
      const end = ends[at + length - 1] ?? 0
      // The first half of an escaped backslash is one as well.
      const isHalf = text.slice(end - 1, end + 1) === "\\\\"
      if (isEscaped || !escapedFirst) ranges.push([start, isHalf ? end + 1 : end])
    }
  }
  let clean = ""
  let from = 0
  for (const [start, end] of ranges.sort(([a], [b]) => a - b)) {
    if (start < from) continue
    clean += `${text.slice(from, start)}•••`
    from = end
  }
  return clean + text.slice(from)
}

/** A secret in any of its forms; none for an empty one. */
export const formsOf = (secret: string): ReadonlyArray<SecretForm> => {
  if (secret === "") return []
  const bytes = Buffer.from(secret, "utf8")
  const alone = bytes.toString("base64").replace(/=+$/, "")
  const forms = [
    ...base64Within(Buffer.from(alone)).map(base64Pattern),
    // Comes before the secret itself, which may be the beginning of its own base64.
    `${base64Pattern(alone)}(?:=|%3[dD]){0,2}`,
    [...secret].map(characterPattern).join(""),
    ...base64Within(bytes).map(base64Pattern),
  ]
  return [
    { bytes: bytes.toString("latin1"), hex: bytes.toString("hex") },
    ...forms.map((form) => new RegExp(form, "g")),
  ]
}

/** The text with dots in place of secrets. */
export const withoutSecrets = (text: string, forms: ReadonlyArray<SecretForm>): string => {
  const plain = forms.filter(isPlain)
  // Before the patterns: an escape may end in the character itself (`%30` in 0), where a pattern would begin to match.
  const begun = withoutWritten(text, plain, true)
  // The patterns know more of how a character is escaped, and leave nothing of such an escape behind.
  const clean = forms.reduce<string>(
    (left, form) => (isPlain(form) ? left : left.replace(form, "•••")),
    begun,
  )
  return withoutHexadecimal(withoutWritten(clean, plain), plain)
}
