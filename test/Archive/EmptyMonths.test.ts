import { expect, it } from "@effect/vitest"
import { Effect } from "effect"
import { describe } from "vitest"
import { proof } from "../Proof/Filled.ts"
import { sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { archiving, closeAll, committed, rates, threeYears } from "./Years.ts"

describe("a year of a book that is valued in the base currency", () => {
  it.scopedLive(
    "can be archived where a month was closed before its first entry: there is nothing to value",
    () =>
      Effect.gen(function* () {
        const { service } = yield* threeYears
        yield* sync(service.url)
        yield* closeAll(["2024-01", "2024-03", "2024-04", "2024-06", "2024-12"])
        yield* rates
        yield* committed({ kind: "period", period: "2024-06" }, true)
        const early = yield* archiving(2024, { dryRun: true })
        expect(early.books[0]?.refusals).toEqual(
          ["07", "08", "09", "10", "11", "12"].map(
            (month) => `has 2024-${month} closed, but not valued in the base currency as it was closed`,
          ),
        )
        yield* committed({ kind: "period", period: "2024-12" }, true)
        expect((yield* archiving(2024)).books).toMatchObject([{ state: "archived", refusals: [] }])
        expect(yield* proof).toMatchObject({ wrong: [] })
      }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("is not told that its months are closed while none is", () =>
    Effect.gen(function* () {
      const { service } = yield* threeYears
      yield* sync(service.url)
      yield* rates
      yield* committed({ kind: "period", period: "2024-03" }, true)
      expect((yield* archiving(2024, { dryRun: true })).books[0]?.refusals).toEqual([
        "is closed through no month, not 2024-12",
        "has 2024-03 open",
        "has 2024-06 open",
        "has 2024-12 open",
      ])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
