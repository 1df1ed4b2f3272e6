/**
 * `cancelled_entries_{format}.csv`, if there are any: entries that are absent from the format's files because all their lines
 * are on one account of the system, where the amounts cancel. UTF-8, LF.
 */
import { Effect } from "effect"
import { cellCache } from "../../../Common/Csv.ts"
import { accompanyingFiles } from "../../../Format/AccompanyingFiles.ts"
import { encode } from "../../../Format/Encoding.ts"
import type { TableJournal } from "../../../Format/Table/Journals.ts"
import type { Mapping } from "../../../Format/Table/TableRows.ts"
import type { Folder } from "../Folder.ts"
import type { FileRecord } from "../Manifest.ts"

const columns = ["journal_number", "effective_date", "kind", "currency", "accounts"]

export const cancelledEntries = (folder: Folder, format: string, mapping: Mapping) => {
  const cell = cellCache()
  const texts: Array<string> = []
  return {
    /** A journal that came to no rows. */
    add: ({ currency, date, kind, lines, number }: TableJournal): void => {
      const accounts = new Set(lines.map(({ account }) => mapping.get(account)?.account ?? account.code))
      texts.push(`${number},${date},${cell(kind)},${cell(currency)},${cell([...accounts].join(" "))}\n`)
    },
    end: Effect.gen(function* () {
      if (texts.length === 0) return []
      const file = yield* folder.create(accompanyingFiles.cancelledEntries.file.replace("{format}", format))
      yield* file.write(encode(`${columns.join(",")}\n${texts.join("")}`, "utf-8"))
      const { bytes, lines, name, sha256 } = yield* file.finish
      const record: FileRecord = {
        ...{ name, format: accompanyingFiles.cancelledEntries.name, rows: texts.length },
        ...{ bytes, sha256, lines },
      }
      return [record]
    }),
  }
}
