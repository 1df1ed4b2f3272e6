/** The rates of a book's own conversions are those of the conversions that became whole in the month, and of no others. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { exchangedIn } from "../../../src/Valuation/Rates/ExchangedIn.ts"
import { addConversionAccounts, assignNumbers, leg, openBook, post, whole } from "../../Export/Books.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const id = (number: number) => `77777777-0000-4000-8000-00000000000${number}`

layer(TestDatabase.layer, { excludeTestServices: true })("what a month exchanged", (it) => {
  it.effect("is not what it gave back of a conversion of an earlier month", () =>
    Effect.gen(function* () {
      const bookId = yield* openBook("BACK")
      yield* addConversionAccounts(bookId)
      const sold = (resource: string, day: string, dollars: string, euros: string, sign = "") =>
        Effect.forEach(
          [
            leg(resource, day, ["USD", sign === "" ? `-${dollars}` : dollars]),
            leg(resource, day, ["EUR", `${sign}${euros}`]),
            whole(
              resource,
              day,
              ["USD", dollars],
              ["EUR", euros],
              sign === "" ? "conversion_whole" : "conversion_reversal",
            ),
          ],
          (movement) => post(bookId, movement),
        )
      yield* sold(id(1), "2010-01-10", "100.00", "90.00")
      yield* sold(id(2), "2010-02-10", "100.00", "80.00")
      // January's is given back in February, at its own rate; February's second one comes and goes.
      yield* sold(id(1), "2010-02-15", "100.00", "90.00", "-")
      yield* sold(id(3), "2010-02-20", "500.00", "450.00")
      yield* sold(id(3), "2010-02-21", "500.00", "450.00", "-")
      yield* assignNumbers(bookId)
      const traded = (month: string) => exchangedIn(bookId, `${month}-01`, 1000, "EUR", null)
      const dollars = (foreign: bigint, base: bigint) => [{ currency: "USD", scale: 2, foreign, base }]
      expect(yield* traded("2010-01")).toEqual(dollars(10_000n, 9_000n))
      expect(yield* traded("2010-02")).toEqual(dollars(10_000n, 8_000n))
    }),
  )
})
