/** One line of a file that is kept in the database. */
import { Effect } from "effect"
import { keptBlock } from "./KeptFiles.ts"

const lineFeed = 0x0a

/** The line, counted from 1, without its end, as UTF-8; undefined where it is not there or the file is not kept. */
export const keptLine = Effect.fn("Export.keptLine")(function* (
  bookId: number,
  batch: number,
  name: string,
  line: number,
) {
  let at = 1
  const parts: Array<Buffer> = []
  for (let chunk = 1; ; chunk++) {
    const block = yield* keptBlock(bookId, batch, name, chunk)
    if (block === undefined) break
    for (let from = 0; from < block.length; ) {
      const end = block.indexOf(lineFeed, from)
      if (at === line) parts.push(block.subarray(from, end < 0 ? block.length : end))
      if (end < 0) break
      from = end + 1
      at += 1
      if (at > line) return Buffer.concat(parts).toString("utf8").replace(/\r$/, "")
    }
  }
  return parts.length === 0 ? undefined : Buffer.concat(parts).toString("utf8")
})
