/**
 * Takes secrets out of text in every form in which somebody may send them back: each character as it is, or as a form, a URL,
 * JSON, a program or HTML may write it, in any mixture, with control characters and invisible ones anywhere between; in base64, once or
 * twice, alone or within something longer; and in hexadecimal.
 */

/** What others write in place of a character that means something to them. */
const jsonShort: Readonly<Record<string, string>> = { "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t" }
const htmlNames: Readonly<Record<string, string>> = {
  "&": "amp",
  "<": "lt",
  ">": "gt",
  '"': "quot",
  "'": "apos",
}

const literal = (text: string): string => text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")

const anyCase = (hex: string): string =>
  hex.replace(/[a-f]/gi, (digit) => `[${digit.toLowerCase()}${digit.toUpperCase()}]`)

const percent = (character: string): string =>
  [...Buffer.from(character, "utf8")]
    .map((byte) => `%(?:25)*${anyCase(byte.toString(16).padStart(2, "0"))}`)
    .join("")

const unicode = (character: string): string =>
  Array.from(
    { length: character.length },
    (_, at) => `\\\\u${anyCase(character.charCodeAt(at).toString(16).padStart(4, "0"))}`,
  ).join("")

const hexadecimal = (character: string): string =>
  [...Buffer.from(character, "utf8")]
    .map((byte) => `\\\\x${anyCase(byte.toString(16).padStart(2, "0"))}`)
    .join("")

const numeric = (character: string): string => {
  const code = character.codePointAt(0) ?? 0
  return `&#(?:0*${code}|[xX]0*${anyCase(code.toString(16))});`
}

const characterPattern = (character: string): string => {
  const named = htmlNames[character]
  const forms = [
    percent(character),
    unicode(character),
    hexadecimal(character),
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

/** What is not seen, or is seen as a space, may stand between any two characters. */
const unseen = "[\\p{Cc}\\p{Cf}]*"

const hexOf = (bytes: Buffer): string =>
  [...bytes].map((byte) => anyCase(byte.toString(16).padStart(2, "0"))).join("[ :]?")

/** Matches a secret in any of its forms; none for an empty one. */
export const formsOf = (secret: string): ReadonlyArray<RegExp> => {
  if (secret === "") return []
  const bytes = Buffer.from(secret, "utf8")
  const alone = bytes.toString("base64").replace(/=+$/, "")
  const forms = [
    ...(bytes.length < shortest ? [] : [hexOf(bytes)]),
    ...base64Within(Buffer.from(alone)).map(base64Pattern),
    // Before the secret itself, since that may be the beginning of its own base64.
    `${base64Pattern(alone)}(?:=|%3[dD]){0,2}`,
    [...secret].map(characterPattern).join(unseen),
    ...base64Within(bytes).map(base64Pattern),
  ]
  return forms.map((form) => new RegExp(form, "gu"))
}

/** The text with dots in place of secrets. */
export const withoutSecrets = (text: string, forms: ReadonlyArray<RegExp>): string =>
  forms.reduce((clean, form) => clean.replace(form, "•••"), text)
