/** The archived entries of a book as a set of the same form as those of batches: they cannot be exported here any more. */
import { Effect } from "effect"
import { archivesOf, whereIs } from "../../Book/Archived.ts"
import { byBook } from "../../Book/ByBook.ts"
import { shiftDate } from "../../Common/Time.ts"
import { exportError } from "../ExportError.ts"
import type { Selection } from "./ExportScope.ts"
import { box, everyStep, intersect, type Region, subtract, union } from "./Region.ts"

interface ArchivedDays {
  /** The book's code. */
  readonly book: string
  readonly lastDay: string
  readonly region: Region
  /** Where the archive is. */
  readonly where: string
}

/** Null: nothing of the book is archived. */
export type Archived = ArchivedDays | null

/** By book; none: nothing of the book is archived. */
export const archivedDays = Effect.fn("Export.archivedDays")(function* (bookIds: ReadonlyArray<number>) {
  const archives = byBook(yield* archivesOf(bookIds))
  return new Map(
    bookIds.flatMap((bookId): ReadonlyArray<readonly [number, ArchivedDays]> => {
      const own = archives.of({ bookId })
      const last = own.at(-1)
      if (last === undefined) return []
      const { book, lastDay } = last
      const regions = own.map((one) => box(one.firstDay, one.lastDay, 0n, one.throughNumbering))
      return [[bookId, { book, lastDay, region: union(regions), where: own.map(whereIs).join("; ") }]]
    }),
  )
})

const regionOf = ({ covered, from, since, to }: Selection): Region =>
  subtract(
    box(from, to, BigInt(since ?? 0), everyStep),
    union(covered.map((part) => box(part.from, part.to, BigInt(part.after ?? 0), BigInt(part.through)))),
  )

/**
 * Adds the archived entries to what a format has, if it has begun: it goes on from there. A format that has not begun is
 * refused a selection with archived entries.
 */
export const withArchived = (had: ReadonlyArray<Region>, archived: Archived): ReadonlyArray<Region> =>
  had.length > 0 && archived !== null ? [...had, archived.region] : had

/** Warns if a format that goes on after the archived entries does not have all of these in its batches. */
export const warnOfGap = (format: string, had: ReadonlyArray<Region>, archived: Archived) =>
  had.length === 0 || archived === null || subtract(archived.region, union(had)).length === 0
    ? Effect.void
    : Effect.logWarning(
        `${archived.book}: no ${format} batch has all entries through ${archived.lastDay}, which are archived and are not in this one either: ${archived.where}.`,
      )

/** Fails where the selection would have archived entries in it. */
export const refuseArchivedDays = (selection: Selection, archived: Archived) => {
  if (archived === null || intersect(regionOf(selection), archived.region).length === 0) return Effect.void
  const what = selection.since === null ? selection.text : "What --since-last has"
  return exportError(
    "Usage",
    `${what} of ${archived.book} reaches into what is archived, through ${archived.lastDay}: ${archived.where}. Choose days from ${shiftDate(archived.lastDay, 1)} on, with --from and --to or --period. Nothing was written.`,
  )
}
