/** Writes bank statements: a file per account of the service, a statement per day that was read completely. */
import { Effect } from "effect"
import type { Book } from "../../Book.ts"
import { print } from "../../Common/MinorUnits.ts"
import type { BankFile, BankStatementFormat, BankWriter } from "../../Format/BankStatement.ts"
import { encode } from "../../Format/Encoding.ts"
import type { OpenedAccount } from "../../Format/Entry.ts"
import { type BankRow, dayOf, entryOf } from "../Source/BankStatements.ts"
import type { Chunks } from "../Source/Chunks.ts"
import type { Folder } from "./Folder.ts"
import type { FolderFile } from "./FolderFile.ts"
import type { BankSpan, FileRecord } from "./Manifest.ts"
import { refusedIfUnholdable } from "./TableFiles.ts"

export interface BankPlan {
  readonly book: Book
  readonly batch: number
  readonly createdAt: string
  readonly personalData: boolean
  readonly accounts: ReadonlyArray<OpenedAccount>
}

interface OpenFile {
  readonly account: string
  readonly currency: string
  readonly scale: number
  readonly file: FolderFile
  readonly writer: BankWriter
  readonly first: string
  readonly opening: bigint
  day: string
  closing: bigint
  days: number
  entries: number
  journalled: number
  text: string
}

const nameIn = (accounts: ReadonlyArray<OpenedAccount>, id: string): string =>
  accounts.find(({ account }) => account.role === "cash" && account.partnerAccountId === id)?.account.name ??
  id

const spanOf = ({
  account,
  closing,
  currency,
  day,
  days,
  entries,
  first,
  journalled,
  opening,
  scale,
}: OpenFile): BankSpan => ({
  ...{ account, currency, days, entries, journalled, first, last: day },
  opening: print(opening, scale),
  closing: print(closing, scale),
})

/** One pass over the statements' rows. Memory does not grow with them. */
export const writeBankStatements = Effect.fn("Export.writeBankStatements")(function* (
  folder: Folder,
  format: BankStatementFormat,
  { accounts, batch, book, createdAt, personalData }: BankPlan,
  rows: Chunks<ReadonlyArray<BankRow>>,
) {
  const files: Array<FileRecord> = []
  const spans: Array<BankSpan> = []
  let open: OpenFile | undefined

  const flush = (output: OpenFile) =>
    Effect.suspend(() => {
      const { file, text } = output
      output.text = ""
      return file.write(encode(text, "utf-8"))
    })

  const finish = Effect.fnUntraced(function* (output: OpenFile) {
    output.text += output.writer.dayEnd + output.writer.end
    yield* flush(output)
    const { bytes, lines, name, sha256 } = yield* output.file.finish
    const { account, currency, entries } = output
    files.push({ name, format: format.name, currency, account, rows: entries, bytes, sha256, lines })
    spans.push(spanOf(output))
  })

  const start = Effect.fnUntraced(function* (row: BankRow) {
    const { account_id: account, currency, scale } = row
    const bankFile: BankFile = {
      account: { id: account, currency, scale, name: nameIn(accounts, account), owner: book.name },
      ...{ batch, createdAt, personalData },
    }
    const file = yield* folder.create(
      format.file.replace("{currency}", currency).replace("{account}", account),
    )
    const writer = format.open(bankFile)
    const { day, opening } = dayOf(row)
    const counts = { day: "", closing: opening, days: 0, entries: 0, journalled: 0 }
    return {
      ...{ account, currency, scale, file, writer, first: day, opening, text: writer.begin },
      ...counts,
    }
  })

  const add = (output: OpenFile, row: BankRow): void => {
    if (output.day !== row.day) {
      const day = dayOf(row)
      output.text += (output.days === 0 ? "" : output.writer.dayEnd) + output.writer.day(day)
      output.day = row.day
      output.closing = day.closing
      output.days += 1
    }
    output.text += output.writer.entry(entryOf(book.code, row))
    output.entries += 1
    if (row.journalled) output.journalled += 1
  }

  const writeChunk = Effect.fnUntraced(function* (chunk: ReadonlyArray<BankRow>) {
    for (const row of chunk) {
      if (open !== undefined && open.account !== row.account_id) {
        yield* finish(open)
        open = undefined
      }
      const output: OpenFile = open ?? (yield* start(row))
      open = output
      yield* refusedIfUnholdable(format.name, () => add(output, row))
    }
    if (open !== undefined) yield* flush(open)
  })
  yield* rows.forEach(writeChunk)
  if (open !== undefined) yield* finish(open)
  return { files, spans }
})
