/** Every accounting system's format of a scope, written beside the journal and read back by `verify`. */
import { expect } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import type { ExportScope } from "../../src/Export/Request/ExportScope.ts"
import * as Export from "../../src/Export.ts"
import type { SummaryStyle } from "../../src/Format/Table/SummaryJournals.ts"
import { Content } from "../../src/Settings/Content.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

/** Every currency of these books. */
const currencies = ["CHF", "EUR", "GBP", "JPY", "USD", "USDC", "USDT"]

/** The currencies that systems accept: all, all but stablecoins, or the base currency alone. */
const kinds = [
  {
    formats: ["business-central", "gl-detail"],
    leaveOut: [],
    beside: ["chart-of-accounts", "period-balances"],
  },
  { formats: ["xero-statement", "qbo", "netsuite", "datev"], leaveOut: ["USDT", "USDC"], beside: [] },
  {
    formats: ["xero", "intacct", "sage50", "fec"],
    leaveOut: currencies.filter((currency) => currency !== "EUR"),
    beside: [],
  },
]

export const roundTrip = Effect.fn("Test.roundTrip")(function* (
  scope: ExportScope,
  mode: "detail" | "summary",
  summary: SummaryStyle = { by: "day", net: false },
) {
  return yield* Effect.forEach(kinds, ({ beside, formats, leaveOut }) =>
    Effect.gen(function* () {
      const settings = decodeUnknownSync(Content)({
        formats: { leaveOut, datev: { consultant: 1001, client: 1 }, fec: { siren: "732829320" } },
      }).formats
      const { batches } = yield* Export.run({
        formats: ["journal", "trial-balance", ...formats],
        scope,
        connection: Option.none(),
        book: Option.none(),
        out: temporaryFolder(),
        ...{ mode, summary },
        again: true,
        tables: { settings, baseCurrency: "EUR" },
      })
      const { folder, manifest } = batches[0] ?? (yield* Effect.dieMessage("no batch"))
      const { problems } = yield* Verify.run(folder)
      expect([mode, summary, scope, problems]).toEqual([mode, summary, scope, []])
      expect(new Set(manifest.files.map(({ format }) => format))).toEqual(
        new Set([
          "journal",
          "trial-balance",
          "statement",
          ...formats,
          ...beside,
          ...(mode === "summary" ? ["summary-entries"] : []),
        ]),
      )
      expect(manifest.statements?.length).toBeGreaterThan(3)
      return { folder, manifest }
    }),
  )
})
