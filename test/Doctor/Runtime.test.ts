import { expect, it } from "vitest"
import { runtimeWarning } from "../../src/Doctor/Runtime.ts"

it("a Node past its end of life is named; one that is supported or unknown is not", () => {
  expect(runtimeWarning("v20.19.0", "2026-05-01")).toBe(
    "Node 20.19.0 got its last corrections on 2026-04-30: Tieout runs on it, but use Node 22 or 24.",
  )
  expect(runtimeWarning("v20.19.0", "2026-04-30")).toBeNull()
  expect(runtimeWarning("v22.1.0", "2026-11-22")).toBeNull()
  expect(runtimeWarning("v24.1.0", "2026-11-22")).toBeNull()
  expect(runtimeWarning("v26.0.0", "2026-11-22")).toBeNull()
})
