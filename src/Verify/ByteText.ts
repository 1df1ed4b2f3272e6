/**
 * UTF-8 text searched before it is decoded: one character per byte (as in Latin-1), which takes a fifth of the time, and only
 * what is needed is decoded. It is read in pieces that end at line ends.
 */

const beyondAscii = /[\u0080-\u00ff]/

/** The bytes as text with one character per byte. They must be UTF-8 (`isUtf8`). */
export const byteText = (bytes: Buffer): string => bytes.toString("latin1")

/** Decodes a part of such a text. */
export const decoded = (text: string): string =>
  beyondAscii.test(text) ? Buffer.from(text, "latin1").toString("utf8") : text

/** Encodes a text as it appears in such a text. */
export const encoded = (text: string): string => Buffer.from(text, "utf8").toString("latin1")

const lineFeed = 0x0a

/** The same bytes in chunks that end with a line feed, except perhaps the last. */
export const wholeLines = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Array<Buffer> = []
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(lineFeed) + 1
    if (end > 0) {
      const ended = chunk.subarray(0, end)
      yield rest.length === 0 ? ended : Buffer.concat([...rest, ended])
      rest = []
    }
    if (end < chunk.length) rest.push(chunk.subarray(end))
  }
  if (rest.length > 0) yield Buffer.concat(rest)
}
