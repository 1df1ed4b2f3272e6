/** The files of an accounting system's format: one open file per currency or account, in parts where the system takes only so many rows. */
import { Effect } from "effect"
import { productVersion } from "../../../Common/Package.ts"
import { encode } from "../../../Format/Encoding.ts"
import { quoted } from "../../../Format/Table/CellText.ts"
import type { TableJournal } from "../../../Format/Table/Journals.ts"
import type { PreambleOf, Profile } from "../../../Format/Table/Profile.ts"
import type { Days } from "../../Request/Days.ts"
import type { Folder } from "../Folder.ts"
import type { FolderFile } from "../FolderFile.ts"
import type { FileRecord } from "../Manifest.ts"
import type { TableContext } from "./TableContext.ts"

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
  const { baseCurrency, book, createdAt, createdOn, profile } = context
  const { columns, delimiter, lineEnd, preamble } = profile
  const before =
    preamble?.({
      ...{ book, period, currency: share.currency ?? "", baseCurrency, createdAt, createdOn },
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

/**
 * Gives finished files their names. The only file of its currency and month has no number; the others have numbers of at least two
 * digits, so that they sort.
 */
const named = Effect.fnUntraced(function* (
  folder: Folder,
  context: TableContext,
  finished: ReadonlyArray<Part>,
) {
  const keyOfPart = ({ period, share }: Part) =>
    `${keyOf(share)} ${context.profile.filePerPeriod ? period : ""}`
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

/** Takes the rows of journals. A journal is never split over two files. */
export const partFiles = (folder: Folder, context: TableContext) => {
  const { profile } = context
  const open = new Map<string, OpenFile>()
  const finished: Array<Part> = []

  const flushOne = (output: OpenFile) =>
    Effect.suspend(() => {
      const { file, text } = output
      output.text = ""
      return file.write(encode(text, profile.encoding))
    })

  const finish = Effect.fnUntraced(function* (output: OpenFile) {
    yield* flushOne(output)
    const { bytes, lines, name: fileName, sha256 } = yield* output.file.finish
    const { part, period, rows, share } = output
    const record = { name: fileName, format: profile.name, ...share, rows, bytes, sha256, lines }
    finished.push({ share, period, part, record })
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

  return {
    add: Effect.fnUntraced(function* (journal: TableJournal, rows: ReadonlyArray<string>) {
      const output = yield* fileFor(journal, rows.length)
      output.rows += rows.length
      output.text += rows.join("")
    }),
    flush: Effect.suspend(() => Effect.forEach(open.values(), flushOne, { discard: true })),
    /** Finishes the files and gives them their names. */
    end: Effect.suspend(() =>
      Effect.zipRight(
        Effect.forEach(open.values(), finish, { discard: true }),
        Effect.suspend(() => named(folder, context, finished)),
      ),
    ),
  }
}
