/** The sandbox's data through every accounting system's format and back, against the canonical journal beside it. */
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { sync } from "../Sync/Runs.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { roundTrip } from "./RoundTrip.ts"

layer(TestDatabase.layer, { excludeTestServices: true })("the sandbox's books", (it) => {
  it.scoped("are the same when read back from every format, in detail and in summary", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries: 600 })
      yield* sync(sandbox.url)
      const scopes = [{ kind: "all" }, { kind: "period", period: "2026-09" }] as const
      const styles = [
        ["detail"],
        ["summary", { by: "day", net: false }],
        ["summary", { by: "day", net: true }],
        ["summary", { by: "month", net: false }],
        ["summary", { by: "month", net: true }],
      ] as const
      for (const [mode, style] of styles) {
        for (const scope of scopes) {
          for (const { manifest } of yield* roundTrip(scope, mode, style)) {
            const spans = manifest.statements ?? []
            expect(spans.every(({ gaps, outside }) => gaps === 0 && /^0[.0]*$/.test(outside))).toBe(true)
          }
        }
      }
    }),
  )
})
