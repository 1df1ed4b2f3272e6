/** The formats of a pass over the entries, each with its files. */
import { Effect } from "effect"
import { encode } from "../../Format/Encoding.ts"
import type { Entry } from "../../Format/Entry.ts"
import type { Content, FormatContext, SingleFile } from "../../Format/Format.ts"
import type { Totals } from "../../Format/Totals.ts"
import type { ExportError } from "../ExportError.ts"
import type { Folder } from "./Folder.ts"
import type { FileRecord } from "./Manifest.ts"
import { inDays } from "./TableFiles/PartFiles.ts"
import type { TableContext } from "./TableFiles/TableContext.ts"
import { refusedIfUnholdable, tableWriter } from "./TableFiles.ts"

export interface Output {
  /** Before the first entry, with its date; undefined where there is none. */
  readonly begin: (firstDate: string | undefined) => Effect.Effect<void, ExportError>
  readonly write: (entries: ReadonlyArray<Entry>) => Effect.Effect<void, ExportError>
  readonly takesAll: boolean
  readonly end: (totals: Totals) => Effect.Effect<ReadonlyArray<FileRecord>, ExportError>
}

/** UTF-8 needs at most as many bytes for a unit of UTF-16. */
const bytesPerUnit = 3

/** One file, in UTF-8. */
export const singleOutput = Effect.fn("Export.singleOutput")(function* (
  folder: Folder,
  format: SingleFile,
  context: FormatContext,
): Effect.fn.Return<Output, ExportError> {
  const file = yield* folder.create(format.file)
  const writer = format.open(context)
  // One buffer, used again for every chunk: measuring a long text first costs as much as encoding it.
  let buffer = Buffer.alloc(0)
  const write = (text: Content) => {
    if (typeof text !== "string") return file.write(Buffer.from(text))
    const most = text.length * bytesPerUnit
    if (buffer.length < most) buffer = Buffer.allocUnsafe(most)
    return file.write(buffer.subarray(0, buffer.write(text, "utf-8")))
  }
  return {
    takesAll: format.takesAll ?? false,
    begin: (firstDate) =>
      Effect.flatMap(
        refusedIfUnholdable(format.name, () => writer.begin(firstDate)),
        write,
      ),
    write: (entries) =>
      Effect.flatMap(
        refusedIfUnholdable(format.name, () => writer.write(entries)),
        write,
      ),
    end: (totals) =>
      refusedIfUnholdable(format.name, () => writer.end(totals)).pipe(
        Effect.flatMap(write),
        Effect.andThen(file.finish),
        Effect.map(({ bytes, lines, name, sha256 }) => [
          { name, format: format.name, rows: writer.rows(), bytes, sha256, lines },
        ]),
      ),
  }
})

/** The files beside a format's files, if there is a day that they are of. */
const writeAccountFiles = Effect.fn("Export.writeAccountFiles")(function* (
  folder: Folder,
  { accountFiles, accounts, book, days, mapping, nativeOf, profile }: TableContext,
  totals: Totals,
) {
  if (days === null) return []
  const balances = accounts.map(({ account, opening }) => {
    const { credit, debit } = totals.of(account)
    const number = mapping.get(account)?.account ?? account.code
    const { currency } = nativeOf(account)
    return { account, currency, number, opening, closing: opening + debit - credit }
  })
  return yield* Effect.forEach(accountFiles, (each) =>
    Effect.gen(function* () {
      const { rows, text } = yield* refusedIfUnholdable(profile.name, () =>
        each.make({ profile, book: book.code, days, accounts: balances }),
      )
      const file = yield* folder.create(inDays(each.file, days))
      yield* file.write(encode(text, profile.encoding))
      const { bytes, lines, name, sha256 } = yield* file.finish
      const record: FileRecord = { name, format: each.name, rows, bytes, sha256, lines }
      return record
    }),
  )
})

/** As many files as there are currencies and parts; none where there is nothing to write. */
export const tableOutput = (folder: Folder, context: TableContext): Output => {
  const writer = tableWriter(folder, context)
  return {
    // Lines worth 0.00 in the base currency are listed with the rate differences.
    takesAll: context.profile.rates !== undefined,
    begin: () => Effect.void,
    write: writer.write,
    end: (totals) =>
      Effect.zipWith(writer.end, writeAccountFiles(folder, context, totals), (files, more) => [
        ...files,
        ...more,
      ]),
  }
}
