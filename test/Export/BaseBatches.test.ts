/** Batches of the base-currency journal of a small book: none is imported twice, and none stays current unnoticed. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { decodeSync } from "effect/Schema"
import type * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/RateStore.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook } from "./Books.ts"
import { all, client, deposit, exporting, october, range, states } from "./Exporting.ts"
import { temporaryFolder } from "./Folders.ts"

const { accounting, chart } = decodeSync(Content)({})
const base = { baseCurrency: "EUR", settings: accounting.valuation, chart }

const september = { kind: "period", period: "2026-09" } as const

/** Exports of one book in EUR, into one folder. */
const inBase =
  (code: string, out = temporaryFolder()) =>
  (...[scope, formats, more]: Parameters<ReturnType<typeof exporting>>) =>
    exporting(code, out)(scope, formats, { ...more, base })

const rate = (date: string, price: string) => ({ date, from: "USD", to: "EUR", rate: price, source: "ECB" })

/** Why it is refused. */
const refusal = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.flip(Effect.asVoid(effect))

const numbersOf = ({ batches }: Export.ExportSummary) =>
  batches.flatMap(({ manifest }) => manifest.periods.map(({ entries, first }) => `${first} ${entries}`))

layer(TestDatabase.layer, { excludeTestServices: true })("batches in the base currency", (it) => {
  it.effect("are refused where the days meet, whether or not the books have entries of their own then", () =>
    Effect.gen(function* () {
      yield* addRates([
        rate("2026-09-10", "0.90"),
        rate("2026-09-30", "0.95"),
        rate("2026-10-05", "0.91"),
        rate("2026-10-31", "0.92"),
      ])
      const bookId = yield* openBook("QUIET", client(1))
      yield* deposit(bookId, "2026-09-10", "1000.00")
      const run = inBase("QUIET")
      const first = yield* run(october, ["qbo"])
      // The reversals of September, and the revaluations of October; no entry of the books.
      expect(numbersOf(first)).toEqual(["QUIET-FX-2026-10-000001 4"])
      const twice = yield* refusal(run(october, ["qbo"]))
      expect(twice).toMatchObject({ reason: "Usage" })
      expect(twice.message).toContain("Batch 1 has days of 2026-10 for qbo in EUR already.")
      expect(numbersOf(yield* run(october, ["qbo"], { again: true }))).toEqual(numbersOf(first))
      expect(yield* states(bookId)).toEqual(["1 superseded", "2 committed"])

      yield* run(range("2026-09-30", "2026-09-30"), ["qbo"])
      expect((yield* refusal(run(september, ["qbo"]))).message).toContain("Batch 3 has")
      expect((yield* refusal(run(all, ["qbo"]))).message).toContain("Batch 2, 3 has")
      // Another format has had nothing yet, and days that no batch has are as good as ever.
      expect((yield* run(september, ["sage50"])).batches[0]?.manifest.lineage?.supersedes).toEqual([])
      expect((yield* run(range("2026-09-01", "2026-09-29"), ["qbo"])).batches).toHaveLength(1)
      yield* run(all, ["qbo", "sage50"], { again: true })
      expect(yield* states(bookId)).toEqual([
        ...[1, 2, 3, 4, 5].map((batch) => `${batch} superseded`),
        "6 committed",
      ])
      expect((yield* refusal(run(range("2030-01-01", "2030-01-31"), ["qbo"]))).message).toContain(
        "Batch 6 has",
      )
    }),
  )
})
