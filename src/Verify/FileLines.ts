/** Reads a file of rows without line breaks in cells, line by line with flat memory. */

import { Unreadable } from "../Format/Reading/LineCells.ts"
import { wholeLines } from "./ByteText.ts"

const lineFeed = 0x0a

/** The bytes of each line without its line feed. The last line must end as well. */
export const linesOf = async function* (chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const bytes of wholeLines(chunks)) {
    let from = 0
    for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, from)) {
      yield bytes.subarray(from, at)
      from = at + 1
    }
    if (from < bytes.length) throw new Unreadable("the last line does not end")
  }
}
