/** A batch that has entries of an archived year beside later ones: nothing here can write those again. */
import { expect, it } from "@effect/vitest"
import { Effect, Logger, Option } from "effect"
import { decodeSync } from "effect/Schema"
import { describe } from "vitest"
import * as Batches from "../../src/Export/Batches.ts"
import type { ExportScope } from "../../src/Export/Request/ExportScope.ts"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { base } from "../Export/Exporting.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { archiving, closedYears, rates } from "./Years.ts"

const { formats: settings } = decodeSync(Content)({})

const exporting =
  (out: string, inBase = false) =>
  (scope: ExportScope, again = false, preview = false) =>
    Export.run({
      formats: ["qbo"],
      scope,
      connection: Option.none(),
      book: Option.none(),
      out,
      again,
      preview,
      tables: { settings, baseCurrency: "EUR" },
      ...(inBase ? { base } : {}),
    })

const range = (from: string, to: string): ExportScope => ({ kind: "range", from, to })
const january: ExportScope = { kind: "period", period: "2025-01" }

/** What was logged of a batch that has more. */
const toldIn = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const lines: Array<string> = []
    const logger = Logger.make(({ message }) => void lines.push(String(message)))
    yield* effect.pipe(Effect.provide(Logger.replace(Logger.defaultLogger, logger)))
    return lines.filter((line) => line.includes("has entries for"))
  })

const lost = (batch: string) =>
  expect.stringMatching(
    new RegExp(
      `^${batch} has entries for qbo of archived months, through 2024-12-31: tieout-2024\\.gz .*\\. Where it is superseded they stand in no batch, and nothing here can export them again: leave them in the accounting system\\.$`,
    ),
  )

describe("a batch that has entries of an archived year", () => {
  it.scopedLive("is not superseded without a word, in the books' own currencies", () =>
    Effect.gen(function* () {
      yield* closedYears
      const run = exporting(temporaryFolder())
      yield* run(range("2024-06-01", "2025-01-10"))
      yield* run(range("2025-01-11", "2026-02-28"))
      yield* archiving(2024)
      expect(yield* toldIn(run(january, true))).toEqual([lost("ORG/1"), expect.stringContaining("ORG/2")])
      // Those of Batch 2 that are not written stand here: they can be exported.
      expect(yield* toldIn(run(range("2025-06-01", "2026-02-28")))).toEqual([])
      expect(yield* toldIn(run(january, true))).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("is not superseded without a word, in the base currency", () =>
    Effect.gen(function* () {
      yield* closedYears
      yield* rates
      const run = exporting(temporaryFolder(), true)
      yield* run(range("2024-03-01", "2025-01-31"))
      yield* archiving(2024, { neverValued: false })
      expect(yield* toldIn(run(january, true))).toEqual([lost("ORG/1")])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("is not superseded by a preview of before without a word", () =>
    Effect.gen(function* () {
      yield* closedYears
      const out = temporaryFolder()
      const run = exporting(out)
      yield* run(range("2024-06-01", "2025-01-31"))
      yield* run(january, true, true)
      yield* archiving(2024)
      expect(yield* toldIn(Batches.commit("ORG/2", out, "owner", false, base))).toEqual([lost("ORG/1")])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )

  it.scopedLive("is not superseded by hand without a word", () =>
    Effect.gen(function* () {
      yield* closedYears
      const run = exporting(temporaryFolder())
      yield* run(range("2024-06-01", "2024-12-31"))
      yield* run(january)
      yield* archiving(2024)
      expect(yield* toldIn(Batches.supersede("ORG/1", "owner", "wrong accounts"))).toEqual([lost("ORG/1")])
      expect(yield* toldIn(Batches.supersede("ORG/2", "owner", "wrong accounts"))).toEqual([])
    }).pipe(Effect.provide(TestDatabase.layer)),
  )
})
