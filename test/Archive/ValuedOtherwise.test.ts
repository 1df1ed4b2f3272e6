/** What is said of archived months that settings or rates would value otherwise: they cannot be reopened. */
import { expect, it } from "@effect/vitest"
import { Effect, Layer, Option } from "effect"
import { decodeSync } from "effect/Schema"
import { allBooks } from "../../src/Book.ts"
import { kept } from "../../src/Rates.ts"
import { Reconcile } from "../../src/Reconcile.ts"
import { Content } from "../../src/Settings/Content.ts"
import { Settings } from "../../src/Settings.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import { value } from "../../src/Valuation.ts"
import { reopening } from "../Close/Months.ts"
import { sync } from "../Sync/Runs.ts"
import { messageOf } from "../support/messageOf.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { archiving, closeAll, committed, rates, threeYears } from "./Years.ts"

const { accounting, chart } = decodeSync(Content)({})
const asClosed = { baseCurrency: "EUR", settings: accounting.valuation, chart }
const byLots = { ...asClosed, settings: { ...asClosed.settings, method: "fifo" as const } }

const refusal = (options: typeof asClosed | typeof byLots) =>
  allBooks(Option.none()).pipe(
    Effect.flatMap((books) => Effect.flip(value(books, null, options))),
    Effect.map(({ message }) => message),
  )

const finding = Effect.flatMap(Reconcile, (reconcile) =>
  reconcile.run({ connection: Option.none(), period: Option.none(), full: false }),
).pipe(
  Effect.provide(
    Reconcile.Default.pipe(
      Layer.provideMerge(Settings.from({ variables: { TIEOUT_ACCOUNTING_VALUATION_METHOD: "fifo" } })),
    ),
  ),
  Effect.map(({ findings }) => findings.find(({ check }) => check === "valuation-method")?.message),
)

it.scopedLive(
  "nobody is told to reopen or to export an archived month again, nor the months after it to come to it",
  () =>
    Effect.gen(function* () {
      const { service } = yield* threeYears
      yield* sync(service.url)
      yield* closeAll(["2024-03", "2024-06", "2024-12", "2025-01"])
      yield* rates
      yield* committed({ kind: "period", period: "2025-01" }, true)
      const first = "2024-03"
      const told = `, or reopen the closed months, the last first, back to ${first}.`
      expect(yield* refusal(byLots)).toContain(told)
      expect(yield* refusal({ ...asClosed, baseCurrency: "GBP" })).toContain(told)
      const winter = { kind: "range", from: "2024-12-01", to: "2025-01-31" } as const
      yield* committed(winter, true, ["intacct"])
      expect(yield* messageOf(committed(winter, true, ["intacct"]))).toContain("--again writes it again")
      yield* archiving(2024)
      const reaches = "2024-12-01_2025-01-31 of ORG reaches into what is archived, through 2024-12-31"
      expect(yield* messageOf(committed(winter, true, ["intacct"]))).toContain(reaches)
      const archived = `: ${first} is archived and stays closed.`
      const method = yield* refusal(byLots)
      expect(method).toContain(archived)
      expect(yield* finding).toBe(method)
      expect(yield* refusal({ ...asClosed, baseCurrency: "GBP" })).toContain(archived)
      expect(yield* messageOf(reopening("2024-12"))).toContain("2024-12 is archived and stays closed: of ORG")
      const rate = { from: "USD", to: "EUR", rate: "0.5", source: "correction" }
      const version = yield* addRates(["2024-12-30", "2025-01-15"].map((date) => ({ ...rate, date })))
      expect(yield* kept(version, asClosed)).toEqual([
        { book: "ORG", months: ["2024-12", "2025-01"], archived: ["2024-12"] },
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
)
