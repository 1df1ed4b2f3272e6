/** Every accounting system's format of a scope, written beside the journal and read back by `verify`. */
import { expect } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeUnknownSync } from "effect/Schema"
import type { ExportScope } from "../../src/Export/Request/Scope.ts"
import * as Export from "../../src/Export.ts"
import { Content } from "../../src/Settings/Content.ts"
import * as Verify from "../../src/Verify.ts"
import { temporaryFolder } from "../support/TemporaryFolder.ts"

const precise = ["xero", "qbo", "intacct", "sage50", "business-central", "gl-detail"]
/** What these take has two decimals. */
const twoDecimals = ["xero-statement", "netsuite", "datev"]

export const roundTrip = Effect.fn("Test.roundTrip")(function* (
  scope: ExportScope,
  mode: "detail" | "summary",
) {
  return yield* Effect.forEach([precise, twoDecimals], (formats) =>
    Effect.gen(function* () {
      const leaveOut = formats === precise ? [] : ["USDT", "USDC"]
      const settings = decodeUnknownSync(Content)({
        formats: { leaveOut, datev: { consultant: 1001, client: 1 } },
      }).formats
      const { batches } = yield* Export.run({
        formats: ["journal", "trial-balance", ...formats],
        scope,
        connection: Option.none(),
        book: Option.none(),
        out: temporaryFolder(),
        mode,
        again: true,
        tables: { settings, baseCurrency: "EUR" },
      })
      const { folder, manifest } = batches[0] ?? (yield* Effect.dieMessage("no batch"))
      const { problems } = yield* Verify.run(folder)
      expect([mode, scope, problems]).toEqual([mode, scope, []])
      expect(new Set(manifest.files.map(({ format }) => format))).toEqual(
        new Set(["journal", "trial-balance", "statement", ...formats]),
      )
      expect(manifest.statements?.length).toBeGreaterThan(3)
      return { folder, manifest }
    }),
  )
})
