/**
 * How many values JSON holds, counted in its bytes before it is parsed: sixteen megabytes of `{},` become gigabytes of objects, and a
 * few kilobytes of gzip become sixteen megabytes.
 */

/** JSON of so few bytes cannot hold too much, whatever is in it. */
const harmless = 64 * 1024

/** Objects, arrays and values within an answer: five hundred times what a page of a hundred rows has. */
const mostOfAnswer = 500_000

/** Levels of nesting; rows are held to less when they are decoded. */
const deepest = 256

const quote = 0x22
const backslash = 0x5c

/** The place behind a string's closing quote, or the end. */
const behindString = (bytes: Buffer, from: number): number => {
  for (let at = bytes.indexOf(quote, from + 1); at >= 0; at = bytes.indexOf(quote, at + 1)) {
    let before = at - 1
    while (bytes[before] === backslash) before--
    if ((at - before) % 2 === 1) return at + 1
  }
  return bytes.length
}

/** What is wrong with the extent of JSON in UTF-8; undefined: nothing. It need not be JSON. */
export const beyondBounds = (bytes: Buffer, mostValues = mostOfAnswer): string | undefined => {
  if (bytes.length <= harmless) return undefined
  let values = 0
  let depth = 0
  for (let at = 0; at < bytes.length; at++) {
    switch (bytes[at]) {
      case quote:
        at = behindString(bytes, at) - 1
        break
      case 0x7b: // {
      case 0x5b: // [
        depth++
        values++
        if (depth > deepest) return `it is nested deeper than ${deepest} levels`
        break
      case 0x7d: // }
      case 0x5d: // ]
        depth--
        break
      case 0x2c: // ,
        values++
        break
    }
    if (values > mostValues) return `it holds more than ${mostValues} values`
  }
  return undefined
}
