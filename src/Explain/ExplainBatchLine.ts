/** A line of Business Central's general journal, which has a number of its own within its batch. */
import { parse } from "csv-parse/sync"
import { Effect } from "effect"
import { int4, text } from "../Database/Columns.ts"
import { Database } from "../Database.ts"
import { keptLine } from "../Export/Batch/Kept/KeptFiles.ts"
import { findBatch, type KnownBatch, nameOf } from "../Export/Batch/Kept/KnownBatch.ts"
import { businessCentral, rowOfLine } from "../Format/BusinessCentral/BusinessCentral.ts"
import type { Step } from "./Step.ts"

const format = businessCentral.name
const documentColumn = "Document No."

/** How many batches are searched, the newest first and superseded ones last: each may have a line with the number. */
const shownBatches = 5

/** A line with the journal number that its document has. */
interface Line {
  readonly step: Step
  readonly document: string | null
}

const newest = Effect.fn("Explain.batchLines")(function* () {
  const database = yield* Database
  return yield* database.rows(
    "Explain.batchLines",
    { code: text, batch: int4 },
    (sql) => sql`
      select b.code, x.batch from export.batches x join mirror.books b on b.book_id = x.book_id
      where ${format} = any(x.formats)
      order by export.batch_state(x.book_id, x.batch) = 'superseded', x.committed_at desc, b.code, x.batch desc
      limit ${shownBatches}`,
  )
})

/** The file that has a row of the batch, counted from 1 over all files of the format, and its place there. */
const placeOf = ({ manifest }: KnownBatch, row: number) => {
  let before = 0
  for (const file of manifest.files) {
    if (file.format !== format) continue
    if (row <= before + file.rows) return { name: file.name, row: row - before }
    before += file.rows
  }
  return undefined
}

const lineOf = Effect.fn("Explain.batchLine")(function* (batch: KnownBatch, line: string, row: number) {
  const place = placeOf(batch, row)
  if (place === undefined) return []
  const layout = batch.manifest.tables?.layouts?.[format]
  const heads = layout?.header === true ? 1 : 0
  const at = place.row + heads
  const content = yield* keptLine(batch.book.bookId, batch.batch, place.name, at)
  const cells: ReadonlyArray<ReadonlyArray<string>> =
    content === undefined
      ? []
      : parse(content, { delimiter: layout?.delimiter ?? ",", relaxColumnCount: true })
  const document = cells[0]?.[layout?.columns.indexOf(documentColumn) ?? -1] ?? null
  const step: Step = {
    title: `line ${line} of ${nameOf(batch)}`,
    facts: [
      ["file", `${place.name}, line ${at}`],
      ["batch", `${batch.manifest.scope.text}, ${batch.state}`],
      content === undefined
        ? ["row", "its files are not kept in the database: look into the file"]
        : ["row", content],
      ...(document === null ? [] : [["document", document] as const]),
    ],
  }
  return [{ step, document } satisfies Line]
})

/** `1000` in the newest batches, or in a named one: `ORG/4:1000`. Empty if it is not such a number. */
export const batchLines = Effect.fn("Explain.lines")(function* (typed: string) {
  const [, named, line = ""] = /^(?:(.+\/\d+):)?(\d{1,10})$/.exec(typed.trim()) ?? []
  const row = rowOfLine(Number(line))
  if (row === undefined) return []
  const names = named === undefined ? (yield* newest()).map(({ batch, code }) => `${code}/${batch}`) : [named]
  const found = yield* Effect.forEach(names, (name) =>
    Effect.flatMap(findBatch(name), (batch) => lineOf(batch, line, row)).pipe(
      Effect.catchTag("ExportError", () => Effect.succeed([])),
    ),
  )
  return found.flat()
})
