import { afterEach, expect, it, vi } from "vitest"
import { demoVariables } from "../../src/Cli/Demo/DemoProcesses.ts"

afterEach(() => {
  vi.unstubAllEnvs()
})

it("the demo's commands know nothing of the person's own database and service, however they are named", () => {
  for (const name of [
    ...["DATABASE_URL", "DATABASE_URL_FILE", "TIEOUT_CLIENT_SECRET", "TIEOUT_CLIENT_SECRET_FILE"],
    ...["TIEOUT_DATA_DIR", "TIEOUT_CONNECTIONS"],
  ]) {
    vi.stubEnv(name, "mine")
  }
  const found = demoVariables("data/demo/config/tieout.yaml", {})
  expect(Object.entries(found).filter(([, text]) => text === "mine")).toEqual([])
  expect(found.TIEOUT_CONFIG).toMatch(/data\/demo\/config\/tieout\.yaml$/)
})
