/** The encodings of import files. A character that an encoding lacks is an error, never a question mark. */

export type Encoding = "utf-8" | "windows-1252" | "cp437" | "ascii"

/** Windows-1252 from 0x80 to 0x9F; the five places that it leaves undefined are a space here and never used. */
const upper = "€ ‚ƒ„…†‡ˆ‰Š‹Œ Ž  ‘’“”•–—˜™š›œ žŸ"

const windows = new Map<number, number>(
  [...upper].flatMap((char, at) =>
    char === " " ? [] : [[char.codePointAt(0) ?? 0, 0x80 + at] satisfies [number, number]],
  ),
)

/** Code page 437 of the IBM PC, from 0x80 to 0xFE. */
const personal = new Map<string, number>(
  [
    ..."ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜ¢£¥₧ƒáíóúñÑªº¿⌐¬½¼¡«»░▒▓│┤╡╢╖╕╣║╗╝╜╛┐",
    ..."└┴┬├─┼╞╟╚╔╩╦╠═╬╧╨╤╥╙╘╒╓╫╪┘┌█▄▌▐▀αßΓπΣσµτΦΘΩδ∞φε∩≡±≥≤⌠⌡÷≈°∙·√ⁿ²■",
  ].map((char, at) => [char, 0x80 + at]),
)

const byteOf = (char: string, encoding: Exclude<Encoding, "utf-8">): number | undefined => {
  const point = char.codePointAt(0) ?? 0
  if (point < 0x80) return point
  if (encoding === "ascii") return undefined
  if (encoding === "cp437") return personal.get(char)
  return point >= 0xa0 && point <= 0xff ? point : windows.get(point)
}

export const holds = (text: string, encoding: Encoding): boolean =>
  encoding === "utf-8" || [...text].every((char) => byteOf(char, encoding) !== undefined)

/** Throws where the encoding lacks a character: texts are made to fit before, so that would be our mistake. */
export const encode = (text: string, encoding: Encoding): Buffer => {
  if (encoding === "utf-8") return Buffer.from(text, "utf8")
  const chars = [...text]
  const bytes = Buffer.alloc(chars.length)
  chars.forEach((char, at) => {
    const byte = byteOf(char, encoding)
    if (byte === undefined) throw new Error(`${JSON.stringify(char)} is not in ${encoding}`)
    bytes[at] = byte
  })
  return bytes
}
