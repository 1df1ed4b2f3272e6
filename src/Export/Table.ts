/** Writes the files of an accounting system's format: one per currency, in parts where the system takes only so many rows. */
import { Effect } from "effect"
import type { Formats } from "../Settings/Formats.ts"
import { encode } from "./Encoding.ts"
import type { Entry } from "./Entry.ts"
import { type ExportError, exportError } from "./ExportError.ts"
import type { Folder, FolderFile } from "./Folder.ts"
import type { FormatName } from "./Formats.ts"
import type { FileRecord } from "./Manifest.ts"
import { TooPrecise } from "./MinorUnits.ts"
import { datevHeader } from "./Profiles/Datev.ts"
import type { Setup } from "./Table/Cells.ts"
import { journalsOf, type Mode, type TableJournal, Unholdable } from "./Table/Journals.ts"
import type { Profile } from "./Table/Profile.ts"
import { type Mapping, rowsOf } from "./Table/Rows.ts"

export interface TableContext {
  readonly name: FormatName
  readonly profile: Profile
  readonly settings: Formats
  readonly baseCurrency: string
  readonly mode: Mode
  readonly mapping: Mapping
  /** ISO 8601 in UTC. */
  readonly createdAt: string
}

interface OpenFile {
  readonly currency: string
  readonly period: string
  readonly part: number
  readonly file: FolderFile
  rows: number
  text: string
}

const nameOf = ({ file }: Profile, currency: string, period: string, part: number): string =>
  file
    .replace("{currency}", currency)
    .replace("{period}", period)
    .replace("{part}", part === 1 ? "" : `-${part}`)

const headOf = ({ createdAt, profile, settings }: TableContext, currency: string, period: string): string => {
  const before = profile.name === "datev" ? datevHeader(settings.datev, { period, currency, createdAt }) : ""
  const names = profile.columns.map(({ header }) => header).join(profile.delimiter)
  return profile.header ? `${before}${names}${profile.lineEnd}` : before
}

/** What a format cannot hold ends the export. */
const held = <A>({ profile }: TableContext, make: () => A): Effect.Effect<A, ExportError> =>
  Effect.suspend(() => {
    try {
      return Effect.succeed(make())
    } catch (cause) {
      if (!(cause instanceof Unholdable || cause instanceof TooPrecise)) throw cause
      return exportError(
        "Refused",
        `${profile.name} cannot hold what would be exported: ${cause.message}. Nothing was written.`,
      )
    }
  })

/** Takes entries by date and keeps one open file per currency. */
export const tableWriter = (folder: Folder, context: TableContext) => {
  const { mapping, mode, name, profile, settings } = context
  const setup: Setup = { profile, settings, baseCurrency: context.baseCurrency }
  const journals = journalsOf(mode, new Set(settings.leaveOut), profile.limits.rowsPerJournal)
  const open = new Map<string, OpenFile>()
  const finished: Array<FileRecord> = []

  const flush = (output: OpenFile) =>
    Effect.suspend(() => {
      const { file, text } = output
      output.text = ""
      return file.write(encode(text, profile.encoding))
    })

  const finish = Effect.fnUntraced(function* (output: OpenFile) {
    yield* flush(output)
    const written = yield* output.file.finish
    const { bytes, name: fileName, sha256 } = written
    finished.push({
      name: fileName,
      format: name,
      currency: output.currency,
      rows: output.rows,
      bytes,
      sha256,
    })
  })

  const start = Effect.fnUntraced(function* (currency: string, period: string, part: number) {
    const file = yield* folder.create(nameOf(profile, currency, period, part))
    const output: OpenFile = {
      currency,
      period,
      part,
      file,
      rows: 0,
      text: headOf(context, currency, period),
    }
    open.set(currency, output)
    return output
  })

  /** The file that a journal of so many rows goes into: never split over two. */
  const fileFor = Effect.fnUntraced(function* ({ currency, period }: TableJournal, rows: number) {
    const current = open.get(currency)
    if (current === undefined) return yield* start(currency, period, 1)
    const over = profile.filePerPeriod && current.period !== period
    if (!over && current.rows + rows <= profile.limits.rowsPerFile) return current
    yield* finish(current)
    return yield* start(currency, period, over ? 1 : current.part + 1)
  })

  const put = Effect.fnUntraced(function* (ready: ReadonlyArray<TableJournal>) {
    for (const journal of ready) {
      const rows = yield* held(context, () => rowsOf(journal, mapping, setup))
      if (rows.length === 0) continue
      const output = yield* fileFor(journal, rows.length)
      output.rows += rows.length
      output.text += rows.join("")
    }
  })

  return {
    write: Effect.fnUntraced(function* (entries: ReadonlyArray<Entry>) {
      yield* put(yield* held(context, () => entries.flatMap((entry) => journals.add(entry))))
      for (const output of open.values()) yield* flush(output)
    }),
    end: Effect.gen(function* () {
      yield* put(journals.end())
      for (const output of open.values()) yield* finish(output)
      return finished.sort((a, b) => (a.name < b.name ? -1 : 1))
    }),
  }
}
