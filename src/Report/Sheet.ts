/**
 * Review files: CSV for a spreadsheet. UTF-8 with a byte order mark, CRLF, RFC 4180; an apostrophe before text that a
 * spreadsheet would run as a formula; figures are plain exact decimals.
 */
import { Effect } from "effect"
import { textCells } from "../Common/Csv.ts"
import { inStage } from "../Common/Progress.ts"
import { counted } from "../Common/Text.ts"
import type { Folder } from "../Export/Batch/Folder.ts"
import type { ExportError } from "../Export/ExportError.ts"
import { type Chunks, heldChunks } from "../Export/Source/Chunks.ts"

/** `figure`: a decimal or a count, which is never neutralised. */
export type Columns = Readonly<Record<string, "text" | "figure">>
export type Row<C extends Columns> = { readonly [K in keyof C]: string | null }

export interface Sheet<C extends Columns> {
  /** The file's name. */
  readonly name: string
  readonly columns: C
}

const lines = <C extends Columns>(columns: C, rows: ReadonlyArray<Row<C>>): string => {
  const names: ReadonlyArray<keyof C> = Object.keys(columns)
  const texts = rows.flatMap((row) =>
    names.flatMap((name) => (columns[name] === "text" ? [row[name] ?? ""] : [])),
  )
  const cells = textCells(texts)
  let next = 0
  return rows
    .map(
      (row) =>
        `${names.map((name) => (columns[name] === "text" ? cells[next++] : (row[name] ?? ""))).join(",")}\r\n`,
    )
    .join("")
}

export interface Written<C extends Columns> {
  readonly name: string
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
  /** The first rows, for the page. */
  readonly first: ReadonlyArray<Row<C>>
}

/** Writes rows as they arrive; only the first `keep` stay in memory. */
export const writeSheet = Effect.fn("Report.writeSheet")(function* <C extends Columns, E, R>(
  folder: Folder,
  { columns, name }: Sheet<C>,
  chunks: Chunks<ReadonlyArray<Row<C>>, E, R>,
  keep: number,
): Effect.fn.Return<Written<C>, E | ExportError, R> {
  const file = yield* folder.create(name)
  const first: Array<Row<C>> = []
  let rows = 0
  yield* file.write(Buffer.from(`\uFEFF${Object.keys(columns).join(",")}\r\n`, "utf8"))
  const writeChunk = (chunk: ReadonlyArray<Row<C>>) => {
    rows += chunk.length
    if (first.length < keep) first.push(...chunk.slice(0, keep - first.length))
    return file.write(Buffer.from(lines(columns, chunk), "utf8"))
  }
  yield* chunks.forEach(writeChunk).pipe(inStage(name, () => counted(rows, "row")))
  return { ...(yield* file.finish), rows, first }
})

/** A sheet whose rows are all in memory. */
export const writeRows = <C extends Columns>(
  folder: Folder,
  sheet: Sheet<C>,
  rows: ReadonlyArray<Row<C>>,
  keep = rows.length,
) => writeSheet(folder, sheet, heldChunks([rows]), keep)
