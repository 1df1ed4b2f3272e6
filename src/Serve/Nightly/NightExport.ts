/** What a night exports of a connection: what is new, of every book in every format that can hold it. */
import { Effect, Either, Option } from "effect"
import { allBooks } from "../../Book.ts"
import { counted } from "../../Common/Text.ts"
import { ExportError, exportError, ofFormat, refused } from "../../Export/ExportError.ts"
import { checkChoices, type ExportRequest } from "../../Export/Request.ts"
import { lackingText } from "../../Export/Source/LeftOutThen.ts"
import { run as runExport } from "../../Export.ts"
import { Settings, SettingsError } from "../../Settings.ts"

/** Of which books, and in which formats; absent: all. */
interface Part {
  readonly connection?: string
  readonly book?: string
  readonly formats?: ReadonlyArray<string>
}

/** What a night asks for: by the settings, what no standing batch has. */
const requestOf = Effect.fn("Nightly.exportRequest")(function* (part: Part) {
  const { accounting, export: kept, formats, schedule } = yield* Settings
  const request: ExportRequest = {
    perFormat: true,
    formats: part.formats ?? schedule.export ?? [],
    scope: { kind: "since-last" },
    connection: Option.fromNullable(part.connection),
    book: Option.fromNullable(part.book),
    out: schedule.out,
    tables: { settings: formats, baseCurrency: accounting.baseCurrency },
    keepFiles: kept.keepFiles,
  }
  return request
})

/** Fails where no night could export, whatever the books hold: a start is the time to say so. */
export const checkNightExport = Effect.fn("Nightly.checkExport")(function* () {
  yield* requestOf({}).pipe(
    Effect.flatMap(checkChoices),
    Effect.mapError(
      ({ message }) =>
        new SettingsError({
          reason: "Invalid",
          mistakes: [`schedule.export: ${message}`],
          advice: "Leave that format out, or change the setting.",
        }),
    ),
  )
})

const exporting = Effect.fn("Nightly.exporting")(function* (part: Part) {
  const exported = yield* runExport(yield* requestOf(part))
  for (const one of exported.lacking) yield* Effect.logWarning(lackingText(one))
  return exported
})

/** What stands in the way of an export: most often of one book's. What ends the night itself is none of these. */
const isOfBook = (error: unknown): error is ExportError => error instanceof ExportError

/** Messages that an alert's log shows whole. */
const shownFailures = 20

/** One error for all books that were not exported: their refusals alone, or else what was said of each. */
const together = (failures: ReadonlyArray<ExportError>): ExportError => {
  const others = failures.filter(({ refusals }) => refusals === undefined)
  const [first] = others
  if (first === undefined) return refused(failures.flatMap(({ refusals = [] }) => refusals))
  const messages = [...new Set(failures.map(({ message }) => message))]
  const more = messages.length - shownFailures
  return exportError(
    first.reason,
    [...messages.slice(0, shownFailures), ...(more > 0 ? [`… and ${more} more.`] : [])].join("\n"),
  )
}

/** How many batches were written, and what stood in the way of others. */
interface Attempt {
  readonly batches: number
  readonly failures: ReadonlyArray<ExportError>
}

const attempt = (part: Part) =>
  exporting(part).pipe(
    Effect.map(({ batches }): Attempt => ({ batches: batches.length, failures: [] })),
    Effect.catchIf(isOfBook, (failed) => Effect.succeed<Attempt>({ batches: 0, failures: [failed] })),
  )

const sum = (attempts: ReadonlyArray<Attempt>): Attempt => ({
  batches: attempts.reduce((batches, one) => batches + one.batches, 0),
  failures: attempts.flatMap(({ failures }) => failures),
})

/** Book by book after an error, without those of which it says why they cannot be exported. */
const byBook = Effect.fn("Nightly.exportByBook")(function* (
  { connection, ...part }: Part & { readonly connection: string },
  error: ExportError,
) {
  const isRefused = new Set(error.refusals?.map(({ book }) => book))
  const others = (yield* allBooks(Option.some(connection))).filter(({ code }) => !isRefused.has(code))
  const known: Attempt = { batches: 0, failures: error.refusals === undefined ? [] : [error] }
  return sum([
    known,
    ...(yield* Effect.forEach(others, ({ code: book }) => attempt({ ...part, connection, book }))),
  ])
})

/** All books in one format, and what it says of those that it cannot hold. */
const inFormat = (connection: string, format: string) => {
  const part = { connection, formats: [format] }
  return Effect.flatMap(attempt(part), (tried) => {
    const [error] = tried.failures
    return error === undefined
      ? Effect.succeed(tried)
      : Effect.map(byBook(part, error), ({ batches, failures }) => ({
          batches,
          failures: failures.map((failed) => ofFormat(failed, format)),
        }))
  })
}

/**
 * A person wants all books in all formats or is told why not. At night the others are not to wait for a format that cannot hold a book, or
 * for a book that a person exports just now, or whose folder cannot be written.
 */
const exportOthers = Effect.fn("Nightly.exportOthers")(function* (connection: string, error: ExportError) {
  const { schedule } = yield* Settings
  const formats = schedule.export ?? []
  const { batches, failures } = yield* formats.length === 1
    ? byBook({ connection }, error)
    : Effect.map(
        Effect.forEach(formats, (format) => inFormat(connection, format)),
        sum,
      )
  yield* Effect.logInfo(`Exported ${counted(batches, "batch", "batches")} of what can be exported.`)
  return yield* failures.length === 0 ? Effect.void : together(failures)
})

/** Fails where a book could not be exported in a format, once everything else is. */
export const exportNew = Effect.fn("Nightly.exportNew")(function* (connection: string) {
  const { schedule } = yield* Settings
  if (schedule.export === null) return
  const exported = yield* Effect.either(exporting({ connection }))
  if (Either.isRight(exported)) {
    const { batches, unchanged } = exported.right
    yield* Effect.logInfo(
      `Exported ${counted(batches.length, "batch", "batches")}; nothing new in ${counted(unchanged.length, "book")}.`,
    )
  } else if (isOfBook(exported.left)) yield* exportOthers(connection, exported.left)
  else return yield* exported.left
})
