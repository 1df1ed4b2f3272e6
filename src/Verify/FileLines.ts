/** Reads a file of rows without line breaks in cells, line by line with flat memory. */
import { streamOf } from "../Common/RegularFile.ts"
import { Unreadable } from "../Format/Reading/Cells.ts"

const lineFeed = 0x0a

/** The bytes of each line without its line feed. The last line must end as well. */
export const linesOf = async function* (path: string): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const chunk of await streamOf(path)) {
    const bytes: Buffer = Buffer.isBuffer(chunk) ? Buffer.concat([rest, chunk]) : rest
    let from = 0
    for (let at = bytes.indexOf(lineFeed); at >= 0; at = bytes.indexOf(lineFeed, from)) {
      yield bytes.subarray(from, at)
      from = at + 1
    }
    rest = Buffer.from(bytes.subarray(from))
  }
  if (rest.length > 0) throw new Unreadable("the last line does not end")
}
