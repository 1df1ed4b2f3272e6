/**
 * The folder of a report. A new report is written beside it and then exchanged with the one before, which must be an unchanged
 * report of the same book and month: a folder that holds anything else is refused.
 */
import { createHash } from "node:crypto"
import { rename } from "node:fs/promises"
import { join } from "node:path"
import { Effect, Either } from "effect"
import { type Book, bookFolder } from "../Book.ts"
import { chunksOf } from "../Common/Files/RegularFile.ts"
import { attempt } from "../Export/Batch/FileAttempt.ts"
import { listFolder, readIfThere, removeFolder } from "../Export/Batch/Folder.ts"
import { decode, isSealed, manifestFile } from "../Export/Batch/Manifest/ReportManifest.ts"
import { type ExportError, exportError } from "../Export/ExportError.ts"
import { asOfSuffix } from "../Ledger/AsOf.ts"

export interface Placed {
  readonly book: Book
  readonly period: string
  readonly asOf: string | null
}

/** `default-ORG/2026-10`, or `default-ORG/2026-10@20261105T120000Z`. */
export const placeOf = ({ asOf, book, period }: Placed): string => {
  return join(bookFolder(book), `${period}${asOfSuffix(asOf)}`)
}

const folderTaken = (path: string, what: string): ExportError =>
  exportError(
    "FolderTaken",
    `${path} ${what}: move it away, or choose another folder with --out. Nothing of this report was written.`,
  )

const digestOf = (path: string): Effect.Effect<string, ExportError> =>
  attempt(path, async () => {
    const hash = createHash("sha256")
    for await (const part of chunksOf(path)) hash.update(part)
    return hash.digest("hex")
  })

/** Fails with `FolderTaken` where the folder holds anything but an unchanged report of that book and month. */
const checkReport = Effect.fn("Report.checkReport")(function* (path: string, { asOf, book, period }: Placed) {
  const names = yield* listFolder(path)
  if (names.length === 0) return
  const text = yield* readIfThere(join(path, manifestFile))
  const manifest = text === undefined ? undefined : Either.getOrUndefined(decode(text))
  if (manifest === undefined || text === undefined) {
    return yield* folderTaken(path, `holds ${names[0]} and no report's ${manifestFile}`)
  }
  if (!isSealed(manifest, text)) return yield* folderTaken(path, `holds a ${manifestFile} that was changed`)
  if (manifest.book.code !== book.code || manifest.period !== period || manifest.asOf !== asOf) {
    const asOf = manifest.asOf === null ? "" : ` as of ${manifest.asOf}`
    return yield* folderTaken(path, `holds the report of ${manifest.book.code} ${manifest.period}${asOf}`)
  }
  const known = new Map(manifest.files.map(({ name, sha256 }) => [name, sha256]))
  for (const name of names.filter((each) => each !== manifestFile)) {
    const expected = known.get(name)
    if (expected === undefined) return yield* folderTaken(path, `holds ${name}, which is not the report's`)
    if ((yield* digestOf(join(path, name))) !== expected) {
      return yield* folderTaken(path, `holds ${name}, which was changed since the report was made`)
    }
  }
})

const unfinished = (path: string): string => `${path}.unfinished`
const previous = (path: string): string => `${path}.previous`

/** Fails with `FolderTaken` where a report would replace or remove what is not ours. Changes nothing. `names`: of a report's files. */
export const checkPlace = Effect.fn("Report.checkPlace")(function* (
  path: string,
  placed: Placed,
  names: ReadonlyArray<string>,
) {
  yield* checkReport(path, placed)
  yield* checkReport(previous(path), placed)
  const beside = unfinished(path)
  const ours = [...names, manifestFile]
  const foreign = (yield* listFolder(beside)).find((name) => !ours.includes(name.replace(/\.partial$/, "")))
  if (foreign !== undefined) return yield* folderTaken(beside, `holds ${foreign}, which is not a report's`)
})

/** Checks the place again, and clears what a killed report left there. Returns the folder to write into. */
export const prepare = Effect.fn("Report.prepare")(function* (
  path: string,
  placed: Placed,
  names: ReadonlyArray<string>,
) {
  yield* checkPlace(path, placed, names)
  const begun = yield* listFolder(unfinished(path))
  if (begun.length > 0) yield* removeFolder(unfinished(path), begun)
  const left = yield* listFolder(previous(path))
  if (left.length > 0) {
    // A report was killed during the exchange: either the new report is in place already, or the old one is put back.
    const isExchanged = (yield* listFolder(path)).length > 0
    yield* isExchanged
      ? removeFolder(previous(path), left)
      : attempt(path, () => rename(previous(path), path))
  }
  return unfinished(path)
})

/** Moves the finished folder into place. */
export const exchange = Effect.fn("Report.exchange")(function* (path: string) {
  const old = yield* listFolder(path)
  yield* attempt(path, async () => {
    if (old.length > 0) await rename(path, previous(path))
    await rename(unfinished(path), path)
  })
  if (old.length > 0) yield* removeFolder(previous(path), old)
})
