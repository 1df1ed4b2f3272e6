/** One command exports formats in the base currency together with bank statements, which are in their accounts' own currencies. */
import { readdirSync } from "node:fs"
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import type { ExportScope } from "../../src/Export/Request/ExportScope.ts"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import { addRates } from "../../src/Valuation/Rates/RateStore.ts"
import * as Verify from "../../src/Verify.ts"
import { sync } from "../Sync/Runs.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { openBook, postMonths } from "./Books.ts"
import { base } from "./Exporting.ts"

const { formats } = decodeUnknownSync(Content)({})

const rates = Array.from({ length: 61 }, (_, day) =>
  ["USD", "JPY", "GBP", "USDT", "USDC"].map((from) => ({
    date: new Date(Date.UTC(2026, 8, 1 + day)).toISOString().slice(0, 10),
    ...{ from, to: "EUR", rate: from === "JPY" ? "0.0061" : "0.92", source: "test" },
  })),
).flat()

const exporting = (
  names: ReadonlyArray<string>,
  leaveOut: ReadonlyArray<string>,
  more: {
    readonly out?: string
    readonly rated?: boolean
    readonly book?: string
    readonly scope?: ExportScope
  } = {},
) => {
  const { book = "ORG", out = temporaryFolder(), rated = false } = more
  const { scope = { kind: "period", period: "2026-10" } } = more
  return Export.run({
    ...{ formats: names, scope, out, base, rated, perFormat: true },
    ...{ connection: Option.none(), book: Option.some(book) },
    tables: { settings: { ...formats, leaveOut }, baseCurrency: "EUR" },
  })
}

layer(TestDatabase.layer, { excludeTestServices: true })("an export of both kinds of formats", (it) => {
  it.effect("makes a batch of each, in the currency that each is in", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 400 })
      yield* sync(sandbox.url)
      yield* addRates(rates)
      const out = temporaryFolder()
      const refused = yield* Effect.flip(exporting(["xero", "camt.053"], [], { out }))
      expect(refused.message).toContain("camt.053 has currencies of three letters only")
      // The base-currency batch was written first; it was removed and took no number.
      expect(readdirSync(out)).toEqual([])

      const { batches } = yield* exporting(
        ["xero", "camt.053", "xero-statement", "gl-detail"],
        ["USDT", "USDC"],
        { out },
      )
      expect(
        batches.map(({ manifest }) => [manifest.batch, ...manifest.formats, manifest.lineage?.currencyBasis]),
      ).toEqual([
        [1, "gl-detail", "EUR"],
        [2, "xero", "EUR"],
        [3, "camt.053", "native"],
        [4, "xero-statement", "native"],
      ])
      for (const { folder } of batches) expect((yield* Verify.run(folder)).problems).toEqual([])
      const [, ofBase, ofBank] = batches.map(({ manifest }) => manifest)
      expect(ofBase?.currencies.map(({ currency }) => currency)).toEqual(["EUR"])
      expect(ofBank?.bankStatements?.map(({ currency }) => currency)).toContain("USD")
      expect(ofBank?.lineage?.previous?.batch).toBe(2)
    }).pipe(Effect.scoped),
  )

  it.effect("does so beside journals with rates", () =>
    Effect.gen(function* () {
      const { batches } = yield* exporting(["netsuite", "camt.053"], ["USDT", "USDC"], { rated: true })
      expect(batches.map(({ manifest }) => [...manifest.formats, manifest.tables?.rated])).toEqual([
        ["netsuite", true],
        ["camt.053", undefined],
      ])
    }),
  )

  it.effect("is refused where every format is a bank statement", () =>
    Effect.gen(function* () {
      const { message } = yield* Effect.flip(exporting(["camt.053", "xero-statement"], []))
      expect(message).toBe(
        "--base and camt.053, xero-statement do not go together: a bank statement is in its account's own currency. Leave out --base.",
      )
    }),
  )

  it.effect("leaves out the statements of days on which a book has no entries", () =>
    Effect.gen(function* () {
      yield* postMonths(yield* openBook("QUIET", "00000000-0000-4000-8000-000000000042"))
      // Because of another rate at the month's end, the base-currency journal has a revaluation while the book has no entry.
      yield* addRates([{ date: "2026-10-31", from: "USD", to: "EUR", rate: "0.95", source: "test" }])
      const days = { kind: "range", from: "2026-10-30", to: "2026-10-31" } as const
      const { batches } = yield* exporting(["gl-detail", "camt.053"], [], { book: "QUIET", scope: days })
      expect(batches.map(({ manifest }) => manifest.formats)).toEqual([["gl-detail"]])
    }),
  )
})
