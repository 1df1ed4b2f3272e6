/** Parses a line's bytes into cells, strictly. */

/** A line that cannot be read. `message` says why. */
export class Unreadable extends Error {
  override readonly name = "Unreadable"
}

export type TextEncoding = "utf-8" | "windows-1252" | "cp437" | "ascii"

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

/** Code page 437 from 0x80 to 0xFE, by code point in hexadecimal. */
const personalComputer = (
  "c7 fc e9 e2 e4 e0 e5 e7 ea eb e8 ef ee ec c4 c5 " +
  "c9 e6 c6 f4 f6 f2 fb f9 ff d6 dc a2 a3 a5 20a7 192 " +
  "e1 ed f3 fa f1 d1 aa ba bf 2310 ac bd bc a1 ab bb " +
  "2591 2592 2593 2502 2524 2561 2562 2556 2555 2563 2551 2557 255d 255c 255b 2510 " +
  "2514 2534 252c 251c 2500 253c 255e 255f 255a 2554 2569 2566 2560 2550 256c 2567 " +
  "2568 2564 2565 2559 2558 2552 2553 256b 256a 2518 250c 2588 2584 258c 2590 2580 " +
  "3b1 df 393 3c0 3a3 3c3 b5 3c4 3a6 398 3a9 3b4 221e 3c6 3b5 2229 " +
  "2261 b1 2265 2264 2320 2321 f7 2248 b0 2219 b7 221a 207f b2 25a0"
)
  .split(" ")
  .map((point) => String.fromCharCode(Number.parseInt(point, 16)))

const codePage437 = (bytes: Buffer): string => {
  if (bytes.includes(0xff)) throw new Unreadable("holds a space that does not break")
  return bytes
    .toString("latin1")
    .replace(/[\u0080-\u00fe]/g, (char) => personalComputer[char.charCodeAt(0) - 0x80] ?? "\u0000")
}

/** A line's text. Control characters other than a tab, and bytes that the encoding does not know, are refused. */
export const textOf = (bytes: Buffer, encoding: TextEncoding): string => {
  if (encoding === "ascii" && bytes.some((byte) => byte > 0x7e)) throw new Unreadable("is not ASCII")
  let text: string
  try {
    text =
      encoding === "windows-1252"
        ? windows1252(bytes)
        : encoding === "cp437"
          ? codePage437(bytes)
          : utf8.decode(bytes)
  } catch (cause) {
    if (cause instanceof Unreadable) throw cause
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
