/** Exchange rates from files: checked as a whole, kept in versions, never changed. */
import { readFile, writeFile } from "node:fs/promises"
import { Data, Effect, Either } from "effect"
import { addRates, allRates } from "./Valuation/RateStore.ts"
import { printedRates, readRates } from "./Valuation/RatesCsv.ts"

/** `message` says what, where (file and line) and what to do. Nothing was stored. */
class RatesError extends Data.TaggedError("RatesError")<{
  readonly reason: "Unreadable" | "Unwritable" | "Invalid"
  readonly message: string
}> {}

const most = 50

/** Checks a file and stores its rates as a new version, or nothing. */
export const importRates = Effect.fn("Rates.import")(function* (file: string) {
  const bytes = yield* Effect.tryPromise({
    try: () => readFile(file),
    catch: (cause) =>
      new RatesError({ reason: "Unreadable", message: `${file} cannot be read: ${String(cause)}` }),
  })
  const read = readRates(bytes)
  if (Either.isLeft(read)) {
    const mistakes = read.left
    return yield* new RatesError({
      reason: "Invalid",
      message: [
        ...mistakes.slice(0, most).map(({ line, text }) => `${file}:${line}: ${text}`),
        ...(mistakes.length > most ? [`… and ${mistakes.length - most} more.`] : []),
        "Nothing was stored: mend the file and import it again. Its columns are date,from,to,rate,source.",
      ].join("\n"),
    })
  }
  const version = yield* addRates(read.right)
  return { version, rates: read.right.length }
})

/** All rates that count, as a file that can be imported again. */
export const exportRates = Effect.fn("Rates.export")(function* () {
  return printedRates(yield* allRates())
})

/** Writes them to a file that is not there yet. */
export const writeRates = Effect.fn("Rates.write")(function* (file: string, lines: ReadonlyArray<string>) {
  yield* Effect.tryPromise({
    try: () => writeFile(file, lines.map((line) => `${line}\n`).join(""), { flag: "wx", flush: true }),
    catch: (cause) =>
      new RatesError({
        reason: "Unwritable",
        message: `${file} cannot be written: ${String(cause)}. Choose the name of a new file with --out.`,
      }),
  })
})
