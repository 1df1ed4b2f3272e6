/**
 * The canonical journal in a form that is not text: turned back into the rows of `journal.csv` and proved as that is. Where that file
 * stands beside, the two are the same, byte for byte.
 */
import { createHash } from "node:crypto"
import { open } from "node:fs/promises"
import { textCells } from "../Common/Csv.ts"
import type { Problems } from "../Common/Problems.ts"
import type { FileRecord, Manifest } from "../Export/Batch/Manifest.ts"
import { Unreadable } from "../Format/Reading/LineCells.ts"
import type { Places, PlainReading } from "../Format/Reading/Plain.ts"
import type { ExpectedAccount } from "./AccountsProof.ts"
import { checkJournal } from "./JournalProof.ts"
import { journalColumns } from "./JournalRow.ts"

type Columns = Extract<PlainReading, { readonly kind: "columns" }>

const debit = journalColumns.indexOf("debit")
const credit = journalColumns.indexOf("credit")
const currency = journalColumns.indexOf("currency")

/** An amount with the decimals of its currency; one with more decimals stays as it is, and is then refused as an amount. */
const shortened = (text: string, scale: number): string => {
  const end = text.length - 18 + scale
  if (text === "" || /[^0]/.test(text.slice(end))) return text
  return scale === 0 ? text.slice(0, -19) : text.slice(0, end)
}

/** The rows as `journal.csv` has them; ends without a problem of its own where the file cannot be read further. */
const asCsv = async function* (
  { rowsOf }: Columns,
  file: Places,
  scales: ReadonlyMap<string, number>,
  unreadable: (why: string) => void,
): AsyncGenerator<Buffer> {
  let begun = false
  try {
    for await (const { columns, rows } of rowsOf(file)) {
      if (!begun) yield Buffer.from(`${columns.join(",")}\n`)
      begun = true
      const lines = rows.map((row) => {
        const scale = scales.get(row[currency] ?? "") ?? 18
        const plain = row.map((text, at) => (at === debit || at === credit ? shortened(text, scale) : text))
        return `${textCells(plain).join(",")}\n`
      })
      yield Buffer.from(lines.join(""))
    }
  } catch (cause) {
    // The library has many errors for bytes that are not Parquet.
    if (!(cause instanceof Unreadable || cause instanceof Error)) throw cause
    unreadable(`cannot be read: ${cause.message}`)
  }
}

const hashed = async function* (chunks: AsyncIterable<Buffer>, see: (chunk: Buffer) => void) {
  for await (const chunk of chunks) {
    see(chunk)
    yield chunk
  }
}

export const checkColumns = async (
  path: string,
  chunks: AsyncIterable<Buffer>,
  file: FileRecord,
  reading: Columns,
  manifest: Manifest,
  accounts: ReadonlyArray<ExpectedAccount>,
  problems: Problems,
): Promise<void> => {
  let bytes = 0
  for await (const chunk of chunks) bytes += chunk.length
  const handle = await open(path, "r")
  try {
    const read = async (start: number, end: number) => {
      const [from, to] = [start < 0 ? bytes + start : start, end < 0 ? bytes + end : end]
      if (!(from >= 0 && to >= from)) throw new Unreadable("it names places that it does not have")
      const made = Buffer.alloc(Math.max(0, Math.min(to, bytes) - from))
      await handle.read(made, 0, made.length, from)
      return made.buffer.slice(made.byteOffset, made.byteOffset + made.length)
    }
    const places: Places = {
      byteLength: bytes,
      slice: (start, end = bytes) => {
        const piece = read(start, end)
        // The library asks for several at once, and forgets the others where one of them fails.
        piece.catch(() => undefined)
        return piece
      },
    }
    const scales = new Map(accounts.map(({ account }) => [account.currency, account.scale]))
    const digest = createHash("sha256")
    let whole = true
    const text = asCsv(reading, places, scales, (why) => {
      whole = false
      problems.add(file.name, null, why)
    })
    await checkJournal(
      hashed(text, (chunk) => digest.update(chunk)),
      file,
      manifest,
      accounts,
      problems,
      () => {},
    )
    const beside = manifest.files.find(({ name }) => name === "journal.csv")
    if (whole && beside !== undefined && digest.digest("hex") !== beside.sha256) {
      problems.add(file.name, null, `does not say what ${beside.name} says`)
    }
  } finally {
    await handle.close()
  }
}
