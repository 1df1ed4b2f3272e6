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
import { canonical, converted } from "./Convert/Canonical.ts"
import { temporaryFolder } from "./Folders.ts"

const names = ["xero", "qbo", "netsuite", "intacct", "sage50", "business-central", "datev"] as const

layer(TestDatabase.layer, { excludeTestServices: true })("the sandbox's books", (it) => {
  it.scoped("come back from every format as they went, in detail and in summary", () =>
    Effect.gen(function* () {
      const sandbox = yield* Effect.acquireRelease(
        Effect.promise(() => startSandbox({ entries: 600 })),
        (started) => Effect.promise(() => started.close()),
      )
      yield* sync(sandbox.url)
      for (const mode of ["detail", "summary"] as const) {
        for (const name of names) {
          // What these two take has two decimals.
          const leaveOut = name === "netsuite" || name === "datev" ? ["USDT", "USDC"] : []
          const settings = decodeSync(Content)({
            formats: { leaveOut, datev: { consultant: 1001, client: 1 } },
          }).formats
          const { batches } = yield* Export.run({
            formats: ["journal", name],
            scope: { kind: "all" },
            connection: Option.none(),
            book: Option.none(),
            out: temporaryFolder(),
            mode,
            tables: { settings, baseCurrency: "EUR" },
          })
          const { folder, manifest } = batches[0] ?? (yield* Effect.dieMessage("no batch"))
          const found = converted(folder, manifest, name)
          const by = name === "qbo" ? "account_name" : "account_code"
          expect([name, mode, found]).toEqual([name, mode, canonical(folder, by, leaveOut)])
          expect(found.length).toBeGreaterThan(5)
          expect((yield* Verify.run(folder)).problems).toEqual([])
        }
      }
    }),
  )
})
