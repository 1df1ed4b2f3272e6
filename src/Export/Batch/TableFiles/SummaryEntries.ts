/**
 * `summary_entries_{format}.csv`, beside a format's summaries: every line of every entry with the number of the journal that has it.
 * UTF-8, LF; one of debit and credit is filled, positive.
 */
import { Effect } from "effect"
import { cellCache } from "../../../Common/Csv.ts"
import { print } from "../../../Common/MinorUnits.ts"
import { accompanyingFiles } from "../../../Format/AccompanyingFiles.ts"
import { encode } from "../../../Format/Encoding.ts"
import type { Entry } from "../../../Format/Entry.ts"
import type { NamedJournal } from "../../../Format/Table/Journals.ts"
import type { Profile } from "../../../Format/Table/Profile.ts"
import { fileNumber } from "../../../Format/Table/SharedCells.ts"
import type { Mapping } from "../../../Format/Table/TableRows.ts"
import type { Folder } from "../Folder.ts"
import type { FolderFile } from "../FolderFile.ts"
import type { FileRecord } from "../Manifest.ts"

const columns = [
  "summary_number",
  "journal_number",
  "effective_date",
  "kind",
  "account",
  "account_code",
  "account_name",
  "currency",
  "debit",
  "credit",
]

export const summaryEntries = (folder: Folder, profile: Profile) => {
  const cell = cellCache()
  let file: FolderFile | undefined
  let rows = 0
  let text = ""
  const opened = Effect.gen(function* () {
    if (file !== undefined) return file
    file = yield* folder.create(accompanyingFiles.summaryEntries.file.replace("{format}", profile.name))
    yield* file.write(encode(`${columns.join(",")}\n`, "utf-8"))
    return file
  })
  const flush = Effect.gen(function* () {
    const chunk = text
    text = ""
    yield* (yield* opened).write(encode(chunk, "utf-8"))
  })
  return {
    /** `placed`: the journals that hold the entry; none for a currency that is left out. Throws `Unholdable` as their rows would. */
    add: (
      { effectiveDate, kind, lines, number }: Entry,
      placed: ReadonlyArray<NamedJournal>,
      mapping: Mapping,
    ): void => {
      const journals = new Map(placed.map((journal) => [journal.currency, fileNumber(journal, profile)]))
      for (const { account, minor } of lines) {
        const journal = journals.get(account.currency)
        if (journal === undefined) continue
        const amount = print(minor < 0n ? -minor : minor, account.scale)
        const head = `${journal},${number},${effectiveDate},${cell(kind)},${cell(mapping.get(account)?.account ?? "")}`
        const sides = minor > 0n ? `${amount},` : `,${amount}`
        text += `${head},${cell(account.code)},${cell(account.name)},${cell(account.currency)},${sides}\n`
        rows += 1
      }
    },
    flush,
    end: Effect.gen(function* () {
      yield* flush
      const { bytes, lines, name, sha256 } = yield* (yield* opened).finish
      const record: FileRecord = {
        name,
        format: accompanyingFiles.summaryEntries.name,
        rows,
        bytes,
        sha256,
        lines,
      }
      return record
    }),
  }
}
