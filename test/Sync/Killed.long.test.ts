/** Rule 2: a run can be killed anywhere and started again; the journal is the same as after an uninterrupted run. */
import { spawn } from "node:child_process"
import { expect, layer } from "@effect/vitest"
import { Effect } from "effect"
import { compiled } from "../support/Compiled.ts"
import { runningSandbox } from "../support/RunningSandbox.ts"
import { TestDatabase } from "../support/TestDatabase.ts"
import { journal, rows, sync, variablesFor } from "./Runs.ts"

const entries = 900

/** Runs a sync as a process and kills it once more than `after` entries are committed. Answers whether it was killed. */
const runAndKill = (sandboxUrl: string, databaseUrl: string, after: number) =>
  Effect.gen(function* () {
    const child = spawn(process.execPath, [compiled("test/support/syncProcess.mjs")], {
      env: { ...process.env, ...variablesFor(sandboxUrl), DATABASE_URL: databaseUrl },
      stdio: ["ignore", "ignore", "pipe"],
    })
    let errors = ""
    child.stderr.on("data", (text: Buffer) => {
      errors += text.toString()
    })
    const ended = new Promise<{ code: number | null }>((resolve) =>
      child.once("exit", (code) => resolve({ code })),
    )
    const committed = rows("select count(*)::integer as n from mirror.statement_entries").pipe(
      Effect.map(([row]) => Number(row?.n)),
    )
    // Entries of earlier runs do not count: the process must have begun a run of its own before it is killed.
    const before = yield* committed
    const reached = committed.pipe(
      Effect.delay("5 millis"),
      Effect.repeat({ until: (count) => count > before + after }),
      Effect.as("reached" as const),
    )
    const outcome = yield* Effect.raceFirst(
      reached,
      Effect.promise(() => ended),
    )
    if (outcome === "reached") {
      child.kill("SIGKILL")
      yield* Effect.promise(() => ended)
      return true
    }
    expect(errors).toBe("")
    expect(outcome.code).toBe(0)
    return false
  })

layer(TestDatabase.layer, { excludeTestServices: true })("kill -9", (it) => {
  it.scoped("in the middle of a run, again and again, leaves the journal of an uninterrupted run [S1]", () =>
    Effect.gen(function* () {
      const sandbox = yield* runningSandbox({ entries, seed: 3 })
      const { url } = yield* TestDatabase
      let kills = 0
      for (const after of [0, 100, 200, 200]) {
        if (yield* runAndKill(sandbox.url, url, after)) kills += 1
      }
      expect(kills).toBeGreaterThan(1)
      expect(yield* runAndKill(sandbox.url, url, Number.POSITIVE_INFINITY)).toBe(false)
      const killed = yield* journal
      const whole = yield* Effect.zipRight(sync(sandbox.url), journal).pipe(
        Effect.provide(TestDatabase.layer),
      )
      expect(killed).toEqual(whole)
      // The runs that were killed are marked as abandoned.
      expect(
        yield* rows("select state, count(*)::integer as n from sync.runs group by 1 order by 1"),
      ).toEqual([
        { state: "abandoned", n: kills },
        { state: "done", n: 1 },
      ])
    }),
  )
})
