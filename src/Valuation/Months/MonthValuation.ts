/** One month of a book, read, valued and written. */
import { Effect, Stream } from "effect"
import type { Book } from "../../Book.ts"
import type { BaseEntry } from "../Base.ts"
import type { Journal } from "../BaseJournal.ts"
import { earlierLegs, earlierLines, type MonthEntries, pricesIn } from "../Cost/History.ts"
import type { Rules } from "../Cost/UnitValue.ts"
import { beginMonth, endMonth, writeEntries } from "../KeptMonths.ts"
import { nativeEntries } from "../Natives.ts"
import type { MissingRate } from "../Rates/MissingRates.ts"
import type { Rate } from "../Rates/Rate.ts"
import { Unvaluable, valuationError } from "../ValuationError.ts"
import { printState, type State } from "../ValuationState.ts"
import { lookupOf, type MonthInputs } from "./MonthInputs.ts"
import { valuedMonth } from "./ValuedMonth.ts"

/** Entries per write. */
const entriesPerWrite = 500

const noRate: Rate = { numerator: 0n, denominator: 1n, text: "", date: "", source: "" }

/**
 * Values a month and writes it into the journal, if there is one. Where rates are missing it goes on to find them all, and
 * keeps nothing.
 */
export const valueMonth = Effect.fn("Valuation.valueMonth")(
  function* (
    book: Book,
    inputs: MonthInputs,
    state: State,
    missing: Array<MissingRate>,
    journal: Journal | null,
  ) {
    const { asOf, frame, head } = inputs
    const lookup = yield* lookupOf(book, inputs)
    const { firstDay } = frame
    const entries: MonthEntries = { bookId: book.bookId, firstDay, through: head.throughNumber, asOf }
    // A month without entries has no trades and no returns.
    const empty = head.throughNumber === 0
    const rules: Rules = {
      prices: empty ? new Map() : yield* pricesIn(entries, head.baseCurrency),
      earlier: empty ? [] : yield* earlierLegs(entries, journal),
      movements: empty ? [] : yield* earlierLines(entries, journal),
      baseCurrency: head.baseCurrency,
      method: head.method === "fifo" ? "fifo" : "average",
      rateOn: (currency, date) => {
        const rate = lookup(currency, date)
        if (rate === undefined) {
          const when = head.rates === "file" ? date : head.period
          missing.push({ date: when, from: currency, to: head.baseCurrency })
        }
        return rate ?? noRate
      },
    }
    const month = valuedMonth(frame, state, rules)
    let made: ReadonlyArray<BaseEntry> = []
    const write = Effect.suspend(() => {
      const entries = made
      made = []
      return journal !== null && missing.length === 0
        ? writeEntries(book.bookId, head.period, entries, journal)
        : Effect.void
    })
    if (journal !== null) yield* beginMonth(book.bookId, head, journal)
    made = month.begin()
    if (!empty) {
      yield* Stream.runForEach(
        nativeEntries(book.bookId, firstDay, head.throughNumber, frame.accounts, asOf),
        (chunk) =>
          Effect.suspend(() => {
            made = [...made, ...chunk.map(month.take)]
            return made.length < entriesPerWrite ? Effect.void : write
          }),
      )
    }
    made = [...made, ...month.end()]
    yield* write
    if (journal !== null) yield* endMonth(book.bookId, head.period, printState(state), journal)
  },
  (effect, book, { head }) =>
    Effect.catchAllDefect(effect, (defect) =>
      defect instanceof Unvaluable
        ? valuationError(
            "Disagrees",
            `${head.period} of book ${book.code} cannot be valued: ${defect.message}. Nothing was written of it.`,
          )
        : Effect.die(defect),
    ),
)
