/** What a night exports of a connection: what is new, of every book that the formats can hold. */
import { Effect, Either, Option } from "effect"
import { allBooks } from "../../Book.ts"
import { counted } from "../../Common/Text.ts"
import { ExportError, exportError, refused } from "../../Export/ExportError.ts"
import { checkChoices, type ExportRequest } from "../../Export/Request.ts"
import { lackingText } from "../../Export/Source/LeftOutThen.ts"
import { run as runExport } from "../../Export.ts"
import { Settings, SettingsError } from "../../Settings.ts"

/** What a night asks for: by the settings, what no standing batch has. */
const requestOf = Effect.fn("Nightly.exportRequest")(function* (
  connection: Option.Option<string>,
  book: Option.Option<string>,
) {
  const { accounting, export: kept, formats, schedule } = yield* Settings
  const request: ExportRequest = {
    perFormat: true,
    formats: schedule.export ?? [],
    scope: { kind: "since-last" },
    connection,
    book,
    out: schedule.out,
    tables: { settings: formats, baseCurrency: accounting.baseCurrency },
    keepFiles: kept.keepFiles,
  }
  return request
})

/** Fails where no night could export, whatever the books hold: a start is the time to say so. */
export const checkNightExport = Effect.fn("Nightly.checkExport")(function* () {
  yield* requestOf(Option.none(), Option.none()).pipe(
    Effect.flatMap(checkChoices),
    Effect.mapError(
      ({ message }) =>
        new SettingsError({
          reason: "Invalid",
          mistakes: [`schedule.export: ${message}`],
          advice: "Leave that format out, or change the setting; no other would be exported with it either.",
        }),
    ),
  )
})

const exporting = Effect.fn("Nightly.exporting")(function* (connection: string, book: Option.Option<string>) {
  const exported = yield* runExport(yield* requestOf(Option.some(connection), book))
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

/**
 * A person wants all books or is told why not. At night the others are not to wait for the one that a format cannot hold, that a person
 * exports just now, or whose folder cannot be written.
 */
const exportOthers = Effect.fn("Nightly.exportOthers")(function* (connection: string, error: ExportError) {
  const failures: Array<ExportError> = error.refusals === undefined ? [] : [error]
  const isRefused = new Set(error.refusals?.map(({ book }) => book))
  const others = (yield* allBooks(Option.some(connection))).filter(({ code }) => !isRefused.has(code))
  let batches = 0
  for (const { code } of others) {
    batches += yield* exporting(connection, Option.some(code)).pipe(
      Effect.map((made) => made.batches.length),
      Effect.catchIf(isOfBook, (failed) => {
        failures.push(failed)
        return Effect.succeed(0)
      }),
    )
  }
  yield* Effect.logInfo(`Exported ${counted(batches, "batch", "batches")} of the books that can be exported.`)
  return yield* failures.length === 0 ? Effect.void : together(failures)
})

/** Fails where a book could not be exported, once the others are. */
export const exportNew = Effect.fn("Nightly.exportNew")(function* (connection: string) {
  const { schedule } = yield* Settings
  if (schedule.export === null) return
  const exported = yield* Effect.either(exporting(connection, Option.none()))
  if (Either.isRight(exported)) {
    const { batches, unchanged } = exported.right
    yield* Effect.logInfo(
      `Exported ${counted(batches.length, "batch", "batches")}; nothing new in ${counted(unchanged.length, "book")}.`,
    )
  } else if (isOfBook(exported.left)) yield* exportOthers(connection, exported.left)
  else return yield* exported.left
})
