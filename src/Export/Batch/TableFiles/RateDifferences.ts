/** `rate_differences_{format}.csv`: how a file with rates differs from the base-currency journal. UTF-8, LF. */
import { Effect } from "effect"
import { accompanyingFiles } from "../../../Format/AccompanyingFiles.ts"
import { encode } from "../../../Format/Encoding.ts"
import { rateDifferenceColumns, rateDifferencesFile } from "../../../Format/Table/RatedRows.ts"
import type { Folder } from "../Folder.ts"
import type { FolderFile } from "../FolderFile.ts"
import type { FileRecord } from "../Manifest.ts"

export const differencesWriter = (folder: Folder, format: string) => {
  let file: FolderFile | undefined
  let rows = 0
  const opened = Effect.gen(function* () {
    if (file !== undefined) return file
    file = yield* folder.create(rateDifferencesFile(format))
    yield* file.write(encode(`${rateDifferenceColumns.join(",")}\n`, "utf-8"))
    return file
  })
  return {
    add: Effect.fnUntraced(function* (lines: ReadonlyArray<string>) {
      if (lines.length === 0) return
      rows += lines.length
      yield* (yield* opened).write(encode(lines.map((line) => `${line}\n`).join(""), "utf-8"))
    }),
    end: Effect.gen(function* () {
      const { bytes, lines, name, sha256 } = yield* (yield* opened).finish
      const record: FileRecord = {
        name,
        format: accompanyingFiles.rateDifferences.name,
        rows,
        bytes,
        sha256,
        lines,
      }
      return record
    }),
  }
}
