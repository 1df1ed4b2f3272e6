/** The sandbox's data through every accounting system's format and back, against the canonical journal beside it. */
import { expect, layer } from "@effect/vitest"
import { Effect, Option } from "effect"
import { decodeSync } from "effect/Schema"
import * as Export from "../../src/Export.ts"
import { startSandbox } from "../../src/Sandbox.ts"
import { Content } from "../../src/Settings/Content.ts"
import * as Verify from "../../src/Verify.ts"
import { sync } from "../Sync/Runs.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { temporaryFolder } from "./Folders.ts"

const precise = ["xero", "qbo", "intacct", "sage50", "business-central", "gl-detail"]
const twoDecimals = ["xero-statement", "netsuite", "datev"]

layer(TestDatabase.layer, { excludeTestServices: true })("the sandbox's books", (it) => {
  it.scoped("come back from every format as they went, in detail and in summary", () =>
    Effect.gen(function* () {
      const sandbox = yield* Effect.acquireRelease(
        Effect.promise(() => startSandbox({ entries: 600 })),
        (started) => Effect.promise(() => started.close()),
      )
      yield* sync(sandbox.url)
      const scopes = [{ kind: "all" }, { kind: "period", period: "2026-09" }] as const
      for (const mode of ["detail", "summary"] as const) {
        for (const formats of [precise, twoDecimals]) {
          for (const scope of scopes) {
            const leaveOut = formats === precise ? [] : ["USDT", "USDC"]
            const settings = decodeSync(Content)({
              formats: { leaveOut, datev: { consultant: 1001, client: 1 } },
            }).formats
            const { batches } = yield* Export.run({
              formats: ["journal", ...formats],
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
              new Set(["journal", "statement", ...formats]),
            )
            expect(manifest.statements?.length).toBeGreaterThan(3)
            expect(
              manifest.statements?.every(({ gaps, outside }) => gaps === 0 && /^0[.0]*$/.test(outside)),
            ).toBe(true)
          }
        }
      }
    }),
  )
})
