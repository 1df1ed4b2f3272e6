/**
 * The base-currency journal: the months of a book valued in order, each from the state of the month before. A month whose
 * inputs have not changed is not valued again; a closed month keeps its valuation for good.
 */
import { Data, Effect, Option } from "effect"
import { inSentence } from "./Book/InSentence.ts"
import { allBooks, type Book } from "./Book.ts"
import { scaleOf } from "./Common/Currency.ts"
import { inStage } from "./Common/Progress.ts"
import type { DatabaseError } from "./Database/DatabaseError.ts"
import { Database } from "./Database.ts"
import { valueBookNow, valueBookThen } from "./Valuation/Months/ValuedThen.ts"
import { missingRates } from "./Valuation/Rates/MissingRates.ts"
import { baseScale } from "./Valuation/Rates/Rate.ts"
import { valuationError } from "./Valuation/ValuationError.ts"
import { keepBaseAccounts, type ValuationOptions, valueBook } from "./Valuation/ValuedBook.ts"

const checkBase = (baseCurrency: string) =>
  scaleOf(baseCurrency) === baseScale
    ? Effect.void
    : valuationError(
        "Usage",
        `accounting.baseCurrency is ${baseCurrency}: the base-currency journal has two decimals, and so must its currency.`,
      )

/** A closed month keeps its valuation for good, so that a method for a book by another code must not pass unseen. */
const checkBooks = Effect.fn("Valuation.checkBooks")(function* ({ settings }: ValuationOptions) {
  const named = Object.keys(settings.books)
  if (named.length === 0) return
  const known = (yield* allBooks(Option.none())).map(({ code }) => code)
  const unknown = named.filter((code) => !known.includes(code))
  if (unknown.length === 0) return
  return yield* valuationError(
    "Usage",
    `accounting.valuation.books names ${unknown.join(", ")}, which is no book: known are ${inSentence(known)}. Nothing was written.`,
  )
})

const valuing = ({ code }: Book) => inStage("value in the base currency", () => `book ${code}`)

/** The valuation of a book is not kept. */
class NotKept extends Data.TaggedError("NotKept")<object> {}

/**
 * Brings the base-currency journal of the books up to a month (`YYYY-MM`; null: the last with entries, or that was valued), each book in a
 * transaction of its own. With several books, a dry run over all of them comes first, so that nothing changes where rates are
 * missing: the error lists the missing rates of all books. `keeps` looks at what a book's journal has become, in its
 * transaction: where it says no, nothing of that book is valued.
 */
export const value = Effect.fn("Valuation.value")(function* (
  books: ReadonlyArray<Book>,
  through: string | null,
  options: ValuationOptions,
  keeps: (book: Book) => Effect.Effect<boolean, DatabaseError, Database> = () => Effect.succeed(true),
) {
  const database = yield* Database
  const source = options.settings.rates
  yield* checkBase(options.baseCurrency)
  yield* checkBooks(options)
  if (books.length > 1) {
    const missing = yield* Effect.forEach(books, (book) =>
      database.transaction(valueBook(book, through, options, false)).pipe(valuing(book)),
    )
    if (missing.some(({ length }) => length > 0)) return yield* missingRates(missing.flat(), source)
  }
  for (const book of books) {
    const unwritten = books.length > 1 ? `Nothing was written of book ${book.code}.` : undefined
    yield* database
      .transaction(
        Effect.gen(function* () {
          const missing = yield* valueBook(book, through, options, true)
          // With several books this can only concern a book that got entries after the dry run.
          if (missing.length > 0) return yield* missingRates(missing, source, unwritten)
          if (!(yield* keeps(book))) return yield* new NotKept()
        }),
      )
      .pipe(
        // The account mapping must know the accounts that the journal would have.
        Effect.catchTag("NotKept", () => database.transaction(keepBaseAccounts(book, options))),
        valuing(book),
      )
  }
})

interface Days {
  /** `YYYY-MM-DD`; null: unbounded. */
  readonly from: string | null
  readonly to: string | null
}

const monthOf = (day: string | null): string | null => day?.slice(0, 7) ?? null

/**
 * Makes the as-of base-currency journal `then` in the caller's transaction, for queries there; it disappears with the
 * transaction. Fails where rates had not been imported by then. With `writing` false it only checks that.
 */
export const valueThen = Effect.fn("Valuation.valueThen")(function* (
  book: Book,
  { from, to }: Days,
  options: ValuationOptions,
  asOf: string,
  writing: boolean,
) {
  const range = { first: monthOf(from), last: monthOf(to) }
  const missing = yield* valueBookThen(book, range, options, asOf, writing)
  if (missing.length > 0) {
    return yield* missingRates(missing, options.settings.rates, "Nothing was written.", asOf)
  }
})

/**
 * Makes the base-currency journal as of now, as `now`, to compare with `then`, whose months have the given fingerprints.
 * Returns the number of missing rates; unless it is 0 there is nothing to compare with.
 */
export const valueNow = Effect.fn("Valuation.valueNow")(function* (
  book: Book,
  to: string | null,
  options: ValuationOptions,
  then: ReadonlyMap<string, string>,
) {
  const missing = yield* valueBookNow(book, monthOf(to), options, then)
  return new Set(missing.map(({ date, from }) => `${date} ${from}`)).size
})
