/**
 * Where the values of a JSON text begin and end. Objects are kept as the service wrote them: reading a number of an
 * unknown field into a JavaScript number and writing it back would lose digits. Every function expects text that
 * `JSON.parse` has accepted; none recurses, so that no nesting can exhaust the stack.
 */

interface Span {
  readonly start: number
  readonly end: number
}

interface Member extends Span {
  readonly key: string
}

/** What a database could refuse of a JSON value: too deep a nesting, an absurd number. */
interface Shape {
  readonly depth: number
  readonly absurdNumber: boolean
}

const quote = 34
const comma = 44
const backslash = 92
const openBrace = 123
const closeBrace = 125
const openBracket = 91
const closeBracket = 93

const isSpace = (code: number): boolean => code === 32 || code === 10 || code === 13 || code === 9

const skipSpace = (text: string, from: number): number => {
  let at = from
  while (isSpace(text.charCodeAt(at))) at++
  return at
}

/** From an opening quote to the position after the closing one. */
const skipString = (text: string, from: number): number => {
  let at = from
  for (;;) {
    at = text.indexOf('"', at + 1)
    if (at < 0) return text.length
    let before = at - 1
    while (text.charCodeAt(before) === backslash) before--
    if ((at - before) % 2 === 1) return at + 1
  }
}

const skipScalar = (text: string, from: number): number => {
  let at = from
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === comma || code === closeBrace || code === closeBracket || isSpace(code)) return at
    at++
  }
  return at
}

const absurd = (token: string): boolean => token.length > 200 || /[eE][+-]?[0-9]{4,}$/.test(token)

const skipValue = (
  text: string,
  from: number,
  seen?: (depth: number, scalar: Span | null) => void,
): number => {
  let at = from
  let depth = 0
  do {
    const code = text.charCodeAt(at)
    if (code === quote) at = skipString(text, at)
    else if (code === openBrace || code === openBracket) {
      depth++
      seen?.(depth, null)
      at++
    } else if (code === closeBrace || code === closeBracket) {
      depth--
      at++
    } else if (code === comma || code === 58 || isSpace(code)) at++
    else {
      const end = skipScalar(text, at)
      seen?.(depth, { start: at, end })
      at = end
    }
  } while (depth > 0 && at < text.length)
  return at
}

/** Nesting and numbers of a value: `depth` 1 is a flat object. */
export const shape = (text: string): Shape => {
  let deepest = 0
  let absurdNumber = false
  skipValue(text, skipSpace(text, 0), (depth, scalar) => {
    if (depth > deepest) deepest = depth
    if (scalar !== null && absurd(text.slice(scalar.start, scalar.end))) absurdNumber = true
  })
  return { depth: deepest, absurdNumber }
}

const parseKey = (literal: string): string => {
  const key: unknown = JSON.parse(literal)
  return String(key)
}

/** The members of the object that starts at `from`, in the order of the text. */
export const members = (text: string, from = 0): ReadonlyArray<Member> => {
  const found: Array<Member> = []
  let at = skipSpace(text, skipSpace(text, from) + 1)
  while (at < text.length && text.charCodeAt(at) !== closeBrace) {
    const keyEnd = skipString(text, at)
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const end = skipValue(text, start)
    found.push({ key: parseKey(text.slice(at, keyEnd)), start, end })
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === comma) at = skipSpace(text, at + 1)
  }
  return found
}

/** The elements of the array that lies at a path of keys (empty: the text itself), as texts. */
export const elements = (text: string, path: ReadonlyArray<string>): ReadonlyArray<string> => {
  let from = 0
  for (const key of path) {
    // JSON.parse takes the last of doubled keys; so does this.
    const member = members(text, from).findLast((candidate) => candidate.key === key)
    if (member === undefined) return []
    from = member.start
  }
  const found: Array<string> = []
  let at = skipSpace(text, skipSpace(text, from) + 1)
  while (at < text.length && text.charCodeAt(at) !== closeBracket) {
    const end = skipValue(text, at)
    found.push(text.slice(at, end))
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === comma) at = skipSpace(text, at + 1)
  }
  return found
}
