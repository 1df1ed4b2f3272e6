/** A close knew the rates of its month, those of two currencies that are crossed through the euro among them. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeSync } from "effect/Schema"
import { allBooks } from "../../../src/Book.ts"
import { kept, overtaken } from "../../../src/Rates.ts"
import { Content } from "../../../src/Settings/Content.ts"
import { addRates } from "../../../src/Valuation/Rates/RateStore.ts"
import type { RateRow } from "../../../src/Valuation/Rates/RateTable.ts"
import { value } from "../../../src/Valuation.ts"
import { assignNumbers, openBook, partner, post } from "../../Export/Books.ts"
import { closePeriod } from "../../support/Closing.ts"
import { statement as query } from "../../support/statement.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const { accounting, chart } = decodeSync(Content)({})
const options = { baseCurrency: "USD", settings: accounting.valuation, chart }

const rate = (date: string, to: string, text: string): RateRow => ({
  ...{ date, from: "EUR", to },
  ...{ rate: text, source: "ECB" },
})

layer(TestDatabase.layer, { excludeTestServices: true })("a month valued before its close", (it) => {
  it.effect("is valued again where the close knew a correction of a rate that is crossed", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("CROSSED")
      yield* post(bookId, {
        date: "2026-10-31",
        kind: "deposit",
        partner: partner.jpy,
        cash: "15000",
        description: "Deposit",
        lines: [
          ["cash", "", "JPY", "15000"],
          ["deposits_clearing", "", "JPY", "-15000"],
        ],
      })
      yield* assignNumbers(bookId)
      const books = (yield* allBooks(Option.none())).filter(({ code }) => code === "CROSSED")
      const cash = Effect.fnUntraced(function* () {
        yield* value(books, "2026-10", options)
        const [row] = yield* query(`select p.amount::text from valuation.postings p
          join ledger.accounts a using (book_id, account_id) where a.role = 'cash' and p.book_id = ${bookId}`)
        return row?.amount
      })
      yield* addRates([rate("2026-10-31", "USD", "1.10"), rate("2026-10-31", "JPY", "165")])
      expect(yield* cash()).toBe("100.00")
      yield* addRates([rate("2026-10-31", "JPY", "150")])
      yield* query(closePeriod(bookId, "2026-10"))
      expect(yield* cash()).toBe("110.00")
    }),
  )

  it.effect("depends on no rate at all where the book has nothing but the base currency", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("DOLLARS", "55555555-0000-4000-8000-000000000001")
      yield* post(bookId, {
        date: "2026-09-30",
        kind: "deposit",
        partner: partner.usd,
        cash: "100.00",
        description: "Deposit",
        lines: [
          ["cash", "", "USD", "100.00"],
          ["deposits_clearing", "", "USD", "-100.00"],
        ],
      })
      yield* assignNumbers(bookId)
      yield* addRates([rate("2026-09-30", "USD", "1.20")])
      const books = (yield* allBooks(Option.none())).filter(({ code }) => code === "DOLLARS")
      yield* value(books, "2026-09", options)
      const corrected = yield* addRates([rate("2026-09-30", "USD", "1.21")])
      const isOwn = ({ book }: { readonly book: string }) => book === "DOLLARS"
      expect((yield* overtaken(options)).filter(isOwn)).toEqual([])
      yield* query(closePeriod(bookId, "2026-09"))
      expect((yield* kept(corrected, options)).filter(isOwn)).toEqual([])
      const again = yield* addRates([rate("2026-09-30", "USD", "1.22")])
      expect((yield* kept(again, options)).filter(isOwn)).toEqual([])
    }),
  )
})
