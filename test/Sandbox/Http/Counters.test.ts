import { afterEach, expect, it, vi } from "vitest"
import { Counters } from "../../../src/Sandbox/Http/Control.ts"

afterEach(() => void vi.restoreAllMocks())

it("what a sandbox counts does not grow with the months that it runs", () => {
  const now = vi.spyOn(performance, "now").mockReturnValue(0)
  const counters = new Counters()
  now.mockReturnValue(250)
  counters.request("accounts")
  now.mockReturnValue(3 * 86_400_000)
  counters.request("accounts")
  expect(counters.tenths).toHaveLength(3)
  expect(counters.tenths[2]).toBe(1)
  expect(counters.requests).toEqual({ accounts: 2 })
  counters.reset()
  counters.request("accounts")
  expect(counters.tenths).toEqual([1])
})
