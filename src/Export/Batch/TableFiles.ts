/** Writes the files of an accounting system's format: one per currency, in parts where the system takes only so many rows. */
import { Effect } from "effect"
import { TooPrecise } from "../../Common/MinorUnits.ts"
import { productVersion } from "../../Common/Package.ts"
import { encode } from "../../Format/Encoding.ts"
import type { Entry } from "../../Format/Entry.ts"
import { quoted } from "../../Format/Table/CellText.ts"
import type { AccountFile } from "../../Format/Table/Define.ts"
import { type JournalChoice, journalsOf } from "../../Format/Table/JournalChoice.ts"
import { type TableJournal, Unholdable } from "../../Format/Table/Journals.ts"
import type { PreambleOf, Profile, Setup } from "../../Format/Table/Profile.ts"
import { differencesOf } from "../../Format/Table/RatedRows.ts"
import { rowsIn, textsOf } from "../../Format/Table/TableRows.ts"
import { type ExportError, exportError } from "../ExportError.ts"
import type { Days } from "../Request/Days.ts"
import type { Folder, FolderFile } from "./Folder.ts"
import type { FileRecord } from "./Manifest.ts"
import { cancelledEntries } from "./TableFiles/CancelledEntries.ts"
import { differencesWriter } from "./TableFiles/RateDifferences.ts"
import { summaryEntries } from "./TableFiles/SummaryEntries.ts"

export interface TableContext extends JournalChoice {
  /** ISO 8601 in UTC. */
  readonly createdAt: string
  /** The first and the last day, `YYYY-MM-DD`; null where there is nothing to write. */
  readonly days: Days | null
  /** Files of the book's accounts that stand beside; they come last, with the totals of the entries. */
  readonly accountFiles: ReadonlyArray<AccountFile>
  readonly book: { readonly code: string; readonly name: string }
  /** By account of the system, as all of the book's accounts make them: the same in every file of the book. */
  readonly names: ReadonlyMap<string, string>
}

/** What a file holds: one currency, all (gl-detail), or one of the service's accounts. */
interface Share {
  readonly currency?: string
  readonly account?: string
}

/** A finished file, which gets its name when it is known how many parts there are. */
interface Part {
  readonly share: Share
  readonly period: string
  readonly part: number
  readonly record: FileRecord
}

interface OpenFile {
  readonly share: Share
  readonly period: string
  readonly part: number
  readonly file: FolderFile
  rows: number
  text: string
}

const compact = (date: string): string => date.replaceAll("-", "")

/** A file's name with its days, if the name has them. */
export const inDays = (file: string, days: Days | null): string =>
  file.replace("{from}", compact(days?.first ?? "")).replace("{to}", compact(days?.last ?? ""))

/** `part` is empty if the file is not in parts. */
const nameOf = ({ days, profile }: TableContext, share: Share, period: string, part: string): string =>
  inDays(profile.file, days)
    .replace("{currency}", share.currency ?? "")
    .replace("{account}", share.account ?? "")
    .replace("{period}", period)
    .replace("{part}", part)

/** The system's accounts that the mapping names, each once. */
const accountsIn = ({ mapping, names }: Pick<TableContext, "mapping" | "names">): PreambleOf["accounts"] =>
  [...new Set([...mapping.values()].map(({ account }) => account))]
    .map((account) => ({ account, name: names.get(account) ?? account }))
    .toSorted((a, b) => (a.account < b.account ? -1 : 1))

const headOf = (context: TableContext, share: Share, period: string): string => {
  const { baseCurrency, book, createdAt, profile } = context
  const { columns, delimiter, lineEnd, preamble } = profile
  const before =
    preamble?.({
      ...{ book, period, currency: share.currency ?? "", baseCurrency, createdAt },
      accounts: accountsIn(context),
      version: productVersion(),
    }) ?? ""
  const names = columns.map(({ header }) => quoted(header, delimiter, false)).join(delimiter)
  return profile.header ? `${before}${names}${lineEnd}` : before
}

const shareOf = ({ file }: Profile, { currency, partnerAccountId }: TableJournal): Share => ({
  ...(file.includes("{currency}") ? { currency } : {}),
  ...(file.includes("{account}") ? { account: partnerAccountId ?? "none" } : {}),
})

const keyOf = ({ account, currency }: Share): string => `${currency ?? ""} ${account ?? ""}`

/** Turns an entry that a format cannot hold into the error that ends the export. */
export const refusedIfUnholdable = <A>(format: string, make: () => A): Effect.Effect<A, ExportError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(make())
    } catch (cause) {
      if (!(cause instanceof Unholdable || cause instanceof TooPrecise)) throw cause
      return exportError(
        "Refused",
        `${format} cannot hold what would be exported: ${cause.message}. Nothing was written.`,
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
  const summed = journals.placed === undefined ? undefined : summaryEntries(folder, profile.name)
  const differences = profile.rates === undefined ? undefined : differencesWriter(folder, profile.name)
  const cancelled = cancelledEntries(folder, profile.name, mapping)
  const open = new Map<string, OpenFile>()
  const finished: Array<Part> = []
  let written = 0

  const flush = (output: OpenFile) =>
    Effect.suspend(() => {
      const { file, text } = output
      output.text = ""
      return file.write(encode(text, profile.encoding))
    })

  const finish = Effect.fnUntraced(function* (output: OpenFile) {
    yield* flush(output)
    const { bytes, lines, name: fileName, sha256 } = yield* output.file.finish
    const { part, period, rows, share } = output
    const record = { name: fileName, format: profile.name, ...share, rows, bytes, sha256, lines }
    finished.push({ share, period, part, record })
  })

  /** The only file of its currency and month has no number; the others have numbers of at least two digits, so that they sort. */
  const named = Effect.gen(function* () {
    const keyOfPart = ({ period, share }: Part) => `${keyOf(share)} ${profile.filePerPeriod ? period : ""}`
    const counts = new Map<string, number>()
    for (const one of finished) counts.set(keyOfPart(one), (counts.get(keyOfPart(one)) ?? 0) + 1)
    return yield* Effect.forEach(finished, (one) => {
      const parts = counts.get(keyOfPart(one)) ?? 1
      const digits = Math.max(2, String(parts).length)
      const part = parts === 1 ? "" : `-${String(one.part).padStart(digits, "0")}`
      const name = nameOf(context, one.share, one.period, part)
      return Effect.as(folder.rename(one.record.name, name), { ...one.record, name })
    })
  })

  const start = Effect.fnUntraced(function* (share: Share, period: string, part: number) {
    // A name of its own that no finished file can have.
    const file = yield* folder.create(nameOf(context, share, period, `.${part}`))
    const output: OpenFile = {
      share,
      period,
      part,
      file,
      rows: 0,
      text: headOf(context, share, period),
    }
    open.set(keyOf(share), output)
    return output
  })

  /** The file for a journal with so many rows, which is never split over two files. */
  const fileFor = Effect.fnUntraced(function* (journal: TableJournal, rows: number) {
    const { period } = journal
    const share = shareOf(profile, journal)
    const current = open.get(keyOf(share))
    if (current === undefined) return yield* start(share, period, 1)
    const over = profile.filePerPeriod && current.period !== period
    if (!over && current.rows + rows <= profile.limits.rowsPerFile) return current
    yield* finish(current)
    return yield* start(share, period, over ? 1 : current.part + 1)
  })

  const put = Effect.fnUntraced(function* (ready: ReadonlyArray<TableJournal>) {
    for (const journal of ready) {
      const made = yield* refusedIfUnholdable(profile.name, () => rowsIn(journal, mapping, profile, written))
      if (differences !== undefined) yield* differences.add(differencesOf(journal, made, mapping))
      if (made.length === 0) {
        if (journal.entry !== null && journal.lines.length > 0) cancelled.add(journal)
        continue
      }
      const rows = yield* refusedIfUnholdable(profile.name, () => textsOf(made, setup))
      written += rows.length
      const output = yield* fileFor(journal, rows.length)
      output.rows += rows.length
      output.text += rows.join("")
    }
  })

  return {
    write: Effect.fnUntraced(function* (entries: ReadonlyArray<Entry>) {
      for (const entry of entries) {
        yield* put(yield* refusedIfUnholdable(profile.name, () => journals.add(entry)))
        summed?.add(entry, journals.placed?.() ?? [], mapping)
      }
      if (summed !== undefined) yield* summed.flush
      for (const output of open.values()) yield* flush(output)
    }),
    end: Effect.gen(function* () {
      yield* put(journals.end())
      for (const output of open.values()) yield* finish(output)
      const files = (yield* named).toSorted((a, b) => (a.name < b.name ? -1 : 1))
      return [
        ...files,
        ...(differences === undefined ? [] : [yield* differences.end]),
        ...(summed === undefined ? [] : [yield* summed.end]),
        ...(yield* cancelled.end),
      ]
    }),
  }
}
