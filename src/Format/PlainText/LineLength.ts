/** What ledger has room for: it reads no line of 4,096 bytes, and then nothing of the file. */

/** Bytes of a text: beside it a line has at most a date, a number, a tag's name or two amounts. */
const mostOfText = 3_000

/** Bytes of an account's name, beside which two amounts may stand. Where cut names are the same, the account's code is appended. */
const mostOfName = 1_500

/** Bytes of a component that others follow: at 256 ledger ends. */
const mostOfComponent = 255

const more = "…"

/** No character of a text takes more than three bytes for each of its UTF-16 units. */
const bytesOfUnit = 3

const isContinuation = (byte: number | undefined): boolean => byte !== undefined && (byte & 0xc0) === 0x80

const cut = (text: string, most: number): string => {
  if (text.length * bytesOfUnit <= most) return text
  const bytes = Buffer.from(text)
  if (bytes.length <= most) return text
  let end = most - Buffer.byteLength(more)
  while (isContinuation(bytes[end])) end -= 1
  return `${bytes.toString("utf8", 0, end).trimEnd()}${more}`
}

/** The beginning of a text, as much as a line has room for. */
export const asText = (text: string): string => cut(text, mostOfText)

/** The same of an account's name. */
export const asName = (name: string): string => cut(name, mostOfName)

/** The same of one component of it. */
export const asComponent = (component: string): string => cut(component, mostOfComponent)
