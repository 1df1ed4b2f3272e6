/** What a night exports of a connection: what is new, of every book that the formats can hold. */
import { Effect, Option } from "effect"
import { allBooks } from "../../Book.ts"
import { counted } from "../../Common/Text.ts"
import { ExportError, refused } from "../../Export/ExportError.ts"
import { run as runExport } from "../../Export.ts"
import { Settings } from "../../Settings.ts"

const exporting = Effect.fn("Nightly.exporting")(function* (connection: string, book: Option.Option<string>) {
  const { export: kept, schedule } = yield* Settings
  return yield* runExport({
    perFormat: true,
    formats: schedule.export ?? [],
    scope: { kind: "since-last" },
    connection: Option.some(connection),
    book,
    out: schedule.out,
    keepFiles: kept.keepFiles,
  })
})

const isRefusal = (error: unknown): error is ExportError =>
  error instanceof ExportError && error.reason === "Refused"

/** A person wants all books or is told why not. At night the others are not to wait for the one that a format cannot hold. */
const exportOthers = Effect.fn("Nightly.exportOthers")(function* (connection: string, error: ExportError) {
  const refusals = [...(error.refusals ?? [])]
  const isRefused = new Set(refusals.map(({ book }) => book))
  const others = (yield* allBooks(Option.some(connection))).filter(({ code }) => !isRefused.has(code))
  let batches = 0
  for (const { code } of others) {
    batches += yield* exporting(connection, Option.some(code)).pipe(
      Effect.map((made) => made.batches.length),
      Effect.catchIf(isRefusal, (failed) => {
        refusals.push(...(failed.refusals ?? []))
        // What is found while a file is written is not among the refusals.
        const said = failed.refusals === undefined ? Effect.logError(failed.message) : Effect.void
        return Effect.as(said, 0)
      }),
    )
  }
  yield* Effect.logInfo(`Exported ${counted(batches, "batch", "batches")} of the books that are not refused.`)
  return yield* refusals.length === 0 ? error : refused(refusals)
})

/** Fails where a book was refused, once the others are exported. */
export const exportNew = Effect.fn("Nightly.exportNew")(function* (connection: string) {
  const { schedule } = yield* Settings
  if (schedule.export === null) return
  const { batches, unchanged } = yield* exporting(connection, Option.none()).pipe(
    Effect.catchIf(isRefusal, (error) => exportOthers(connection, error)),
  )
  yield* Effect.logInfo(
    `Exported ${counted(batches.length, "batch", "batches")}; nothing new in ${counted(unchanged.length, "book")}.`,
  )
})
