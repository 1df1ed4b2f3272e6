/** A file of rates that states again what is stored adds nothing: histories are imported whole, each time with a day more. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { int4, text } from "../../../src/Database/Columns.ts"
import { Database } from "../../../src/Database.ts"
import { addRates, allRates, firstCorrected } from "../../../src/Valuation/Rates/RateStore.ts"
import { TestDatabase } from "../../support/TestDatabase.ts"

const rate = (day: number, value: string, source = "bank") => ({
  ...{ date: `2026-10-${String(day).padStart(2, "0")}`, from: "USD", to: "EUR" },
  ...{ rate: value, source },
})

const kept = Effect.flatMap(Database, (database) =>
  database.rows(
    "Test.kept",
    { date: text, version: int4, rate: text },
    (sql) => sql`select date::text, version, rate::text from valuation.rates order by version, date`,
  ),
)

layer(TestDatabase.layer, { excludeTestServices: true })("a history of rates", (it) => {
  it.scoped("that is imported each day is kept once", () =>
    Effect.gen(function* () {
      for (let days = 1; days <= 20; days++)
        yield* addRates(Array.from({ length: days }, (_, at) => rate(at + 1, "0.90")))
      const rows = yield* kept
      expect(rows).toHaveLength(20)
      expect(rows.at(-1)).toEqual({ date: "2026-10-20", version: 20, rate: "0.90" })
    }),
  )

  it.scoped("is kept wherever it says something else: a rate, its digits, its source, and back again", () =>
    Effect.gen(function* () {
      const stated = [
        rate(31, "0.90"),
        rate(31, "0.91"),
        rate(31, "0.90"),
        rate(31, "0.900"),
        rate(31, "0.900", "other"),
      ]
      for (const one of stated) {
        yield* addRates([one])
        const version = yield* addRates([one])
        expect(yield* firstCorrected(version)).toBeNull()
        expect(yield* allRates()).toContainEqual(one)
      }
      expect((yield* kept).filter(({ date }) => date === "2026-10-31")).toHaveLength(stated.length)
    }),
  )
})
