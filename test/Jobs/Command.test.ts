/** What `--workers` and `tieout worker` refuse, before they open anything. */
import { existsSync, readdirSync } from "node:fs"
import { Effect } from "effect"
import { describe, expect, it } from "vitest"
import { runsWorkers } from "../../src/Jobs/Boss.ts"
import { program } from "../support/Program.ts"

const { cwd, run } = Effect.runSync(program)

const tieout = (args: ReadonlyArray<string>) =>
  Effect.runPromise(
    run(args, {
      TIEOUT_BASE_URL: "http://127.0.0.1:9/api/v1",
      TIEOUT_CLIENT_ID: "a",
      TIEOUT_CLIENT_SECRET: "b",
      TIEOUT_SCOPE: "c",
    }),
  )

describe("workers", () => {
  it
    .skipIf(runsWorkers(process.versions.node))
    .each([
      [["sync", "--workers", "2"]],
      [["backfill", "--period", "2026-10", "--workers", "2"]],
      [["worker"]],
      [["serve", "--hand-out"]],
    ])("are refused where Node is too old, and nothing is begun: %s", async (args) => {
    const { code, error } = await tieout(args)
    expect([code, error]).toEqual([2, expect.stringContaining("Workers need Node 22.12 or newer")])
    expect([existsSync(cwd), readdirSync(cwd)]).toEqual([true, []])
  })

  it.skipIf(!runsWorkers(process.versions.node)).each([
    [["sync", "--workers", "65"], "--workers: found 65"],
    [["backfill", "--period", "2026-10", "--workers", "-1"], "--workers"],
    [["worker", "--jobs", "0"], "--jobs: found 0"],
  ])("are at most as many as make sense: %s", async (args, message) => {
    const { code, error } = await tieout(args)
    expect([code, error]).toEqual([2, expect.stringContaining(message)])
  })
})
