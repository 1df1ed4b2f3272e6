/** Writes the files of an accounting system's format: one per currency, in parts where the system takes only so many rows. */
import { Effect } from "effect"
import { TooPrecise } from "../../Common/MinorUnits.ts"
import type { Entry } from "../../Format/Entry.ts"
import { journalsOf } from "../../Format/Table/JournalChoice.ts"
import { type TableJournal, Unholdable } from "../../Format/Table/Journals.ts"
import type { Setup } from "../../Format/Table/Profile.ts"
import { differencesOf } from "../../Format/Table/RatedRows.ts"
import { rowsIn, textsOf } from "../../Format/Table/TableRows.ts"
import { type ExportError, exportError } from "../ExportError.ts"
import type { Folder } from "./Folder.ts"
import { cancelledEntries } from "./TableFiles/CancelledEntries.ts"
import { partFiles } from "./TableFiles/PartFiles.ts"
import { differencesWriter } from "./TableFiles/RateDifferences.ts"
import { summaryEntries } from "./TableFiles/SummaryEntries.ts"
import type { TableContext } from "./TableFiles/TableContext.ts"

/** Turns an entry that a format cannot hold into the error that ends the export. */
export const refusedIfUnholdable = <A>(format: string, make: () => A): Effect.Effect<A, ExportError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(make())
    } catch (cause) {
      if (!(cause instanceof Unholdable || cause instanceof TooPrecise)) throw cause
      return exportError(
        "Refused",
        `${format} cannot hold what would be exported: ${cause.message}. Nothing of this export was written.`,
      )
    }
  })

/** Takes entries by date and keeps one open file per currency or account. */
export const tableWriter = (folder: Folder, context: TableContext) => {
  const { mapping, profile } = context
  const setup: Setup = {
    ...{ profile, book: context.book.code, baseCurrency: context.baseCurrency },
    names: context.names,
  }
  const journals = journalsOf(context)
  const summed = journals.placed === undefined ? undefined : summaryEntries(folder, profile)
  const differences = profile.rates === undefined ? undefined : differencesWriter(folder, profile.name)
  const cancelled = cancelledEntries(folder, profile.name, mapping)
  const files = partFiles(folder, context)
  let written = 0

  const put = Effect.fnUntraced(function* (ready: ReadonlyArray<TableJournal>) {
    for (const journal of ready) {
      const made = yield* refusedIfUnholdable(profile.name, () => rowsIn(journal, mapping, profile, written))
      if (differences !== undefined) yield* differences.add(differencesOf(journal, made, mapping))
      if (made.length === 0) {
        // What is worth nothing, or stands in the base currency, is among the differences.
        const isListed = journal.rate === 0n || journal.lines.length === 0
        if (journal.entry !== null && !isListed) cancelled.add(journal)
        continue
      }
      const rows = yield* refusedIfUnholdable(profile.name, () => textsOf(made, setup))
      written += rows.length
      yield* files.add(journal, rows)
    }
  })

  return {
    write: Effect.fnUntraced(function* (entries: ReadonlyArray<Entry>) {
      for (const entry of entries) {
        yield* put(yield* refusedIfUnholdable(profile.name, () => journals.add(entry)))
        yield* refusedIfUnholdable(profile.name, () => summed?.add(entry, journals.placed?.() ?? [], mapping))
      }
      if (summed !== undefined) yield* summed.flush
      yield* files.flush
    }),
    end: Effect.gen(function* () {
      yield* put(journals.end())
      const parts = yield* files.end
      return [
        ...parts.toSorted((a, b) => (a.name < b.name ? -1 : 1)),
        ...(differences === undefined ? [] : [yield* differences.end]),
        ...(summed === undefined ? [] : [yield* summed.end]),
        ...(yield* cancelled.end),
      ]
    }),
  }
}
