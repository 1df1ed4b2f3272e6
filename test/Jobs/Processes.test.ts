/** Worker processes beside this one: replaced when they end, given up where they cannot start, and ended when they are not needed. */
import { mkdtempSync, readdirSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, Exit } from "effect"
import { expect, it, vi } from "vitest"
import { workers } from "../../src/Jobs/WorkerProcesses.ts"

const node = (code: string): ReadonlyArray<string> => [process.execPath, "--eval", code]

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

/** A process that writes a file named by its number, and lives until its input ends. */
const living = (folder: string) =>
  node(
    `require("node:fs").writeFileSync(${JSON.stringify(folder)} + "/" + process.pid, ""); process.stdin.on("end", () => process.exit(0)).resume()`,
  )

it("replaces one that was killed, and ends all when they are not needed", async () => {
  const folder = mkdtempSync(join(tmpdir(), "tieout-workers-"))
  const begun = () => readdirSync(folder).map(Number)
  const until = (count: number) =>
    Effect.repeat(Effect.delay(Effect.sync(begun), "20 millis"), { until: (all) => all.length === count })
  const seen = await Effect.runPromise(
    Effect.scoped(
      Effect.gen(function* () {
        yield* workers(2, living(folder))
        const [first = 0] = yield* until(2)
        yield* Effect.sync(() => process.kill(first, "SIGKILL"))
        const all = yield* until(3)
        return { all, alive: all.filter(isAlive).length }
      }),
    ),
  )
  expect(seen.alive).toBe(2)
  expect(seen.all.filter(isAlive)).toEqual([])
})

it.each([
  ["what it starts ends at once, again and again", "false"],
  ["the system refuses to start it, by an error that Node throws", join(import.meta.filename, "tieout")],
])("gives up where %s", async (_, program) => {
  // The pauses between two starts pass at once; the processes are real.
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] })
  try {
    let exit: Exit.Exit<never, unknown> | undefined
    const watched = Effect.runPromiseExit(
      Effect.scoped(Effect.flatMap(workers(1, [program]), ({ gone }) => gone)),
    ).then((ended) => {
      exit = ended
    })
    while (exit === undefined) {
      vi.advanceTimersByTime(500)
      await new Promise((resolve) => setImmediate(resolve))
    }
    await watched
    expect(Exit.isFailure(exit) ? String(exit.cause) : "").toContain("All workers have ended")
  } finally {
    vi.useRealTimers()
  }
})
