/** Exchange rates from files: checked as a whole and stored as immutable versions. */
import { Data, Effect, Either, Option } from "effect"
import { allBooks } from "./Book.ts"
import { unreadable, unwritable } from "./Common/Files/CsvFile.ts"
import { writeWholeFile } from "./Common/Files/NewFile.ts"
import { largestImport } from "./Common/Files/RegularFile/ImportBounds.ts"
import { readNamed } from "./Common/Files/RegularFile.ts"
import { standingBatches } from "./Export/Request/StandingBatches.ts"
import { isEcbHistory, readEcbHistory } from "./Valuation/Rates/EcbHistory.ts"
import { type KeptRates, keptMonths, overtakenMonths } from "./Valuation/Rates/OvertakenMonths.ts"
import {
  addRates,
  allRates,
  type ContradictedRates,
  firstCorrected,
  storedIn,
} from "./Valuation/Rates/RateStore.ts"
import { printedRates, readRates } from "./Valuation/Rates/RatesCsv.ts"
import type { ValuationOptions } from "./Valuation/ValuedBook.ts"

/** `message` says what, where (file and line) and what to do. Nothing was stored. */
class RatesError extends Data.TaggedError("RatesError")<{
  readonly reason: "Unreadable" | "Unwritable" | "Exists" | "NoFolder" | "Invalid"
  readonly message: string
}> {}

const shownMistakes = 50

/** The first of many lines, and how many more there are. */
const shown = (lines: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...lines.slice(0, shownMistakes),
  ...(lines.length > shownMistakes ? [`… and ${lines.length - shownMistakes} more.`] : []),
]

const contradicted = (file: string, { rates }: ContradictedRates): RatesError =>
  new RatesError({
    reason: "Invalid",
    message: [
      ...shown(
        rates.map(
          ({ date, from, rate, reverse, to, version }) =>
            `${file}: ${date} ${from} ${to} is ${rate} here and ${to} ${from} is ${reverse} in version ${version}: one turned round, they are more than 1 % apart`,
        ),
      ),
      "Nothing was stored: a rate counts before one of the opposite direction. Correct it in its own direction, or state both in the file.",
    ].join("\n"),
  })

/**
 * Checks a file and stores as a new version what it states otherwise than the rates in force, or nothing. `version` is null where
 * there is no rate in it; `stored` counts what is new.
 */
export const importRates = Effect.fn("Rates.import")(function* (file: string) {
  const bytes = yield* Effect.try({
    try: () => readNamed(file, largestImport),
    catch: (cause) => new RatesError({ reason: "Unreadable", message: unreadable(file, cause) }),
  })
  const isOfBank = isEcbHistory(bytes)
  const read = isOfBank ? readEcbHistory(bytes) : readRates(bytes)
  if (Either.isLeft(read)) {
    const mistakes = read.left
    return yield* new RatesError({
      reason: "Invalid",
      message: [
        ...shown(mistakes.map(({ line, text }) => `${file}:${line}: ${text}`)),
        "Nothing was stored: correct the file and import it again. Its columns are date,from,to,rate,source, or those of the ECB's eurofxref-hist.csv.",
      ].join("\n"),
    })
  }
  const version =
    read.right.length === 0
      ? null
      : yield* addRates(read.right, isOfBank).pipe(
          Effect.catchTag("ContradictedRates", (found) => contradicted(file, found)),
        )
  const stored = version === null ? 0 : yield* storedIn(version)
  return { version, rates: read.right.length, stored }
})

/** A book whose months have to be valued again, with the standing batches that become out of date by that. */
export interface Overtaken {
  readonly book: string
  /** `YYYY-MM`, the earliest first */
  readonly months: ReadonlyArray<string>
  readonly batches: ReadonlyArray<{
    readonly batch: number
    readonly scope: string
    readonly formats: ReadonlyArray<string>
    /** Written with rates, and written again so. */
    readonly rated: boolean
  }>
}

/** Valued months and exported batches that the current rates make out of date; only books that have any. */
export const overtaken = Effect.fn("Rates.overtaken")(function* (options: ValuationOptions) {
  const books = yield* allBooks(Option.none())
  const found = yield* Effect.forEach(books, (book) =>
    Effect.gen(function* () {
      const months = yield* overtakenMonths(book, options)
      const [first] = months
      if (first === undefined) return []
      const standing = yield* standingBatches(book.bookId, options.baseCurrency)
      const batches = standing
        .filter(({ region }) => region.some(({ to }) => to >= `${first}-01`))
        .map(({ batch, formats, rated, scope }) => ({ batch, scope, formats, rated }))
      return [{ book: book.code, months, batches } satisfies Overtaken]
    }).pipe(
      // Kept in another base currency or by another method, so that rates do not change it.
      Effect.catchTag("ValuationError", () => Effect.succeed([])),
    ),
  )
  return found.flat()
})

/** A book with closed months that keep the rates of their close, the earliest first. */
export interface Kept extends KeptRates {
  readonly book: string
}

/** The closed months of which an import corrects a rate, which changes nothing there; only books that have any. */
export const kept = Effect.fn("Rates.kept")(function* (version: number, options: ValuationOptions) {
  const first = yield* firstCorrected(version)
  if (first === null) return []
  const found = yield* Effect.forEach(yield* allBooks(Option.none()), (book) =>
    Effect.map(keptMonths(book, options, version, first), (found): Kept => ({ book: book.code, ...found })),
  )
  return found.filter(({ months }) => months.length > 0)
})

/** All current rates, as a file that can be imported again. */
export const exportRates = Effect.fn("Rates.export")(function* () {
  return printedRates(yield* allRates())
})

/** Writes the lines to a new file. */
export const writeRates = Effect.fn("Rates.write")(function* (file: string, lines: ReadonlyArray<string>) {
  yield* Effect.tryPromise({
    try: () => writeWholeFile(file, lines.map((line) => `${line}\n`).join("")),
    catch: (cause) => new RatesError(unwritable(file, cause)),
  })
})
