/** A close knew the rates of its month, those of two currencies that are crossed through the euro among them. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeSync } from "effect/Schema"
import { allBooks } from "../../../src/Book.ts"
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
      const books = yield* allBooks(Option.none())
      const cash = Effect.fnUntraced(function* () {
        yield* value(books, "2026-10", options)
        const [row] = yield* query(`select p.amount::text from valuation.postings p
          join ledger.accounts a using (book_id, account_id) where a.role = 'cash'`)
        return row?.amount
      })
      yield* addRates([rate("2026-10-31", "USD", "1.10"), rate("2026-10-31", "JPY", "165")])
      expect(yield* cash()).toBe("100.00")
      yield* addRates([rate("2026-10-31", "JPY", "150")])
      yield* query(closePeriod(bookId, "2026-10"))
      expect(yield* cash()).toBe("110.00")
    }),
  )
})
