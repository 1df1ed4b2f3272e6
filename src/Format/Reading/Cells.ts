/** Parses a line's bytes into cells, strictly. */

/** A line that cannot be read. `message` says why. */
export class Unreadable extends Error {
  override readonly name = "Unreadable"
}

export type TextEncoding = "utf-8" | "windows-1252" | "ascii"

const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Windows-1252 from 0x80 to 0x9F by code point; 0: undefined. Node's own decoder takes these for control characters. */
const upper = [
  0x20ac, 0, 0x201a, 0x0192, 0x201e, 0x2026, 0x2020, 0x2021, 0x02c6, 0x2030, 0x0160, 0x2039, 0x0152, 0,
  0x017d, 0, 0, 0x2018, 0x2019, 0x201c, 0x201d, 0x2022, 0x2013, 0x2014, 0x02dc, 0x2122, 0x0161, 0x203a,
  0x0153, 0, 0x017e, 0x0178,
]

const windows1252 = (bytes: Buffer): string =>
  bytes
    .toString("latin1")
    .replace(/[\u0080-\u009f]/g, (char) => String.fromCharCode(upper[char.charCodeAt(0) - 0x80] ?? 0))

/** A line's text. Control characters other than a tab, and bytes that the encoding does not know, are refused. */
export const textOf = (bytes: Buffer, encoding: TextEncoding): string => {
  if (encoding === "ascii" && bytes.some((byte) => byte > 0x7e)) throw new Unreadable("is not ASCII")
  let text: string
  try {
    text = encoding === "windows-1252" ? windows1252(bytes) : utf8.decode(bytes)
  } catch {
    throw new Unreadable(`is not ${encoding}`)
  }
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if ((code < 0x20 && code !== 0x09) || (code > 0x7e && code < 0xa0) || code === 0xfeff) {
      throw new Unreadable("holds a control character")
    }
  }
  return text
}

export interface Cell {
  readonly text: string
  readonly quoted: boolean
}

const quotedCell = (line: string, from: number): readonly [text: string, end: number] => {
  let text = ""
  let at = from + 1
  for (;;) {
    const next = line.indexOf('"', at)
    if (next < 0) throw new Unreadable("a quoted cell does not end")
    text += line.slice(at, next)
    if (line[next + 1] !== '"') return [text, next + 1]
    text += '"'
    at = next + 2
  }
}

/** A line's cells by RFC 4180. */
export const cellsOf = (line: string, delimiter: string): ReadonlyArray<Cell> => {
  const cells: Array<Cell> = []
  for (let at = 0; ; at += 1) {
    if (line[at] === '"') {
      const [text, end] = quotedCell(line, at)
      cells.push({ text, quoted: true })
      at = end
    } else {
      const end = line.indexOf(delimiter, at)
      const text = line.slice(at, end < 0 ? line.length : end)
      if (text.includes('"')) throw new Unreadable("a quote stands within a cell that is not quoted")
      cells.push({ text, quoted: false })
      at += text.length
    }
    if (at === line.length) return cells
    if (line[at] !== delimiter) throw new Unreadable("something follows a quoted cell")
  }
}
