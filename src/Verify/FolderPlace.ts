/**
 * The place of a report: `<connection>-<book>/<month>`, with a time behind the month where it is as of one. The place of a batch:
 * `<connection>-<book>/<scope>/<batch>`. Those of older versions stand in `<connection>-<org|clientId>/…`. A folder with the name of
 * another book, month, scope or batch was renamed or copied to a wrong place, whatever its files say.
 */
import { basename, dirname, resolve } from "node:path"
import type { Problems } from "../Common/Problems.ts"
import { uuidPattern } from "../Common/Uuid.ts"
import type { Manifest as ReportManifest } from "../Export/Batch/Manifest/ReportManifest.ts"
import { type Manifest, manifestFile } from "../Export/Batch/Manifest.ts"

export const batchName = /^\d+$/
export const scopeName = /^(?:\d{4}-\d{2}|\d{4}-\d{2}-\d{2}_\d{4}-\d{2}-\d{2}|all|since-\d+)(?:@.*)?$/
/** Also of one as of a time. */
export const reportName = /^\d{4}-\d{2}(?:@.*)?$/
const olderBookName = new RegExp(`^.+-(?:org|${uuidPattern})$`)

/** The end of the name of what is as of a time: `@20261101T120000Z`. */
export const timeName = (asOf: string): string => `@${asOf.slice(0, 19).replaceAll(/[-:]/g, "")}Z`

interface Level {
  readonly what: string
  readonly found: string
  readonly stated: string
  readonly isOne: Pick<RegExp, "test">
}

/** The level of a book's folder, with the names that can only be another book's. */
const bookLevel = (found: string, connection: string, code: string): Level => ({
  what: "book",
  found,
  stated: `${connection}-${code}`,
  isOne: {
    test: (name) =>
      name.startsWith(`${connection}-`) || name.endsWith(`-${code}`) || olderBookName.test(name),
  },
})

/** The book's folder as older versions named it. */
const olderOf = (connection: string, { clientId }: { readonly clientId: string | null }): string =>
  `${connection}-${clientId ?? "org"}`

const wrongLevel = ({ stated, found, what }: Level): string =>
  `is of the ${what} ${stated}, but stands in the folder ${found}`

/** As for a batch, of what the path of a report says. */
export const checkReportPlace = (
  folder: string,
  { asOf, book, connection, period }: Pick<ReportManifest, "asOf" | "book" | "connection" | "period">,
  problems: Problems,
): void => {
  const path = resolve(folder)
  const month: Level = {
    what: "month",
    found: basename(path),
    stated: asOf === null ? period : `${period}${timeName(asOf)}`,
    isOne: reportName,
  }
  if (month.found !== month.stated && !month.isOne.test(month.found)) {
    problems.note(
      `The folder's name says nothing of what it holds: by its manifest it is the report of ${book.code} ${month.stated}.`,
    )
    return
  }
  for (const level of [month, bookLevel(basename(dirname(path)), connection, book.code)]) {
    if (
      level.found !== level.stated &&
      level.found !== olderOf(connection, book) &&
      level.isOne.test(level.found)
    ) {
      problems.add(manifestFile, null, wrongLevel(level))
    }
  }
}

/**
 * Every part of the path that names a batch, a scope or a book must agree with the manifest. A batch that was downloaded into a
 * folder of any other name is outside of an export tree, and its path says nothing: that is a note, not a problem.
 */
export const checkPlace = (folder: string, manifest: Manifest, problems: Problems): void => {
  const path = resolve(folder)
  const { batch, book, connection, scope } = manifest
  const levels: ReadonlyArray<Level> = [
    { what: "batch", found: basename(path), stated: String(batch), isOne: batchName },
    { what: "scope", found: basename(dirname(path)), stated: scope.text, isOne: scopeName },
    bookLevel(basename(dirname(dirname(path))), connection, book.code),
  ]
  const older = olderOf(connection, book)
  const [own] = levels
  if (own !== undefined && own.found !== own.stated && !own.isOne.test(own.found)) {
    problems.note(
      `The folder's name says nothing of what it holds: by its manifest it is batch ${batch}, ${scope.text}, of book ${book.code}.`,
    )
    return
  }
  for (const level of levels) {
    const { found, isOne, stated } = level
    if (found !== stated && found !== older && isOne.test(found)) {
      problems.add(manifestFile, null, wrongLevel(level))
    }
  }
  const [, inScope, ofBook] = levels
  if (inScope?.found !== inScope?.stated || ofBook === undefined) return
  if (ofBook.found !== ofBook.stated && ofBook.found !== older && !ofBook.isOne.test(ofBook.found)) {
    problems.note(
      `The name of the folder ${ofBook.found} says nothing of the book: by its manifest it is ${ofBook.stated}.`,
    )
  }
}
