/** The method by which a closed month was valued is kept with it, and applies to the months after it. */
import { expect, layer } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { decodeSync } from "effect/Schema"
import { allBooks } from "../../src/Book.ts"
import { Database } from "../../src/Database.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { Content } from "../../src/Settings/Content.ts"
import { Settings } from "../../src/Settings.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import type { ValuationOptions } from "../../src/Valuation/ValuedBook.ts"
import { value } from "../../src/Valuation.ts"
import { closing, reopening, threeMonths } from "../Close/Months.ts"
import { rows, sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"

const { accounting, chart } = decodeSync(Content)({})
const average: ValuationOptions = { baseCurrency: "EUR", settings: accounting.valuation, chart }
const by = (method: "average" | "fifo"): ValuationOptions => ({
  ...average,
  settings: { ...average.settings, method },
})

const setting = (method: string) => ({ TIEOUT_ACCOUNTING_VALUATION_METHOD: method })

const valued = (method: "average" | "fifo") =>
  Effect.flatMap(allBooks(Option.none()), (books) => value(books, null, by(method)))

const refusal = Effect.map(Effect.flip(valued("fifo")), ({ message }) => message)

const found = (method: string) =>
  Effect.flatMap(Reconcile, (reconcile) =>
    reconcile.run({ connection: Option.none(), period: Option.none(), full: false }),
  ).pipe(
    Effect.provide(Reconcile.Default.pipe(Layer.provideMerge(Settings.from({ variables: setting(method) })))),
    Effect.map(({ findings }) =>
      findings.flatMap(({ check, message }) => (check === "valuation-method" ? [message] : [])),
    ),
  )

const told = (month: string) =>
  `${month} of book ORG is closed and valued by average, the settings say fifo: a book keeps its method from month to month. Set accounting.valuation.method back to average (accounting.valuation.books.ORG.method, where the book has its own), or reopen the closed months, the last first, back to ${month}.`

const closes = Effect.map(
  rows(
    "select action || ' ' || coalesce(valuation_method, '-') as line from ledger.closes order by sequence",
  ),
  (all) => all.map(({ line }) => line),
)

const days = ["08-10", "08-31", "09-10", "09-30", "10-05", "10-31", "11-01"]

const months = Effect.map(
  rows("select to_char(period, 'MM') || ' ' || method as line from valuation.months order by period"),
  (all) => all.map(({ line }) => line),
)

layer(TestDatabase.layer, { excludeTestServices: true })(
  "another method than that of a closed month",
  (it) => {
    it.scoped("is refused, is a finding, and counts once the month is open again", () =>
      Effect.gen(function* () {
        const { service } = yield* threeMonths
        yield* sync(service.url)
        const rate = { from: "USD", to: "EUR", rate: "0.90", source: "test" }
        yield* addRates(days.map((day) => ({ ...rate, date: `2026-${day}` })))
        yield* valued("average")
        yield* closing("2026-08")
        const kept = yield* months
        expect(yield* refusal).toBe(told("2026-08"))
        expect(yield* months).toEqual(kept)
        expect(yield* found("average")).toEqual([])
        expect(yield* found("fifo")).toEqual([told("2026-08")])
        yield* valued("average")
        expect(yield* found("average")).toEqual([])
        yield* reopening("2026-08")
        yield* valued("fifo")
        expect(yield* found("fifo")).toEqual([])
        expect(new Set((yield* months).map((line) => String(line).slice(3)))).toEqual(new Set(["fifo"]))
      }).pipe(Effect.provide(TestDatabase.layer)),
    )

    it.scoped(
      "is told of a month that was closed before it was valued, once the book had been valued at all",
      () =>
        Effect.gen(function* () {
          const { service } = yield* threeMonths
          yield* sync(service.url)
          const rate = { from: "USD", to: "EUR", rate: "0.90", source: "test" }
          yield* addRates(days.map((day) => ({ ...rate, date: `2026-${day}` })))
          // The journal has not been made yet, so that any method may begin it.
          yield* closing("2026-08", { variables: setting("average") })
          yield* valued("fifo")
          expect(yield* months).toContain("08 fifo")
          yield* reopening("2026-08")
          const database = yield* Database
          yield* database.query("Test.forget", (sql) => sql`delete from valuation.months`)
          yield* closing("2026-08", { variables: setting("average") })
          expect(yield* closes).toEqual(["close -", "reopen -", "close average"])
          expect(yield* refusal).toBe(told("2026-08"))
          expect(yield* found("fifo")).toEqual([told("2026-08")])
          yield* valued("average")
          expect(yield* months).toContain("08 average")
        }).pipe(Effect.provide(TestDatabase.layer)),
    )
  },
)
