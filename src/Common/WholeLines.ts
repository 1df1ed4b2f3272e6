/** Splits a file's bytes at line ends, so that its text can be read piece by piece. */

const lineFeed = 0x0a

/** The same bytes in chunks that end with a line feed, except perhaps the last. */
export const wholeLines = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    const end = bytes.lastIndexOf(lineFeed) + 1
    rest = bytes.subarray(end)
    if (end > 0) yield bytes.subarray(0, end)
  }
  if (rest.length > 0) yield rest
}
