/** Worker processes beside this one, for as long as it needs them. */
import { type ChildProcess, spawn } from "node:child_process"
import { Effect, type Scope } from "effect"
import { NoWorkers } from "./Boss.ts"

/** How long a worker may take to end what it is at. Milliseconds. */
const patience = 15_000

const begun = (args: ReadonlyArray<string>): ChildProcess => {
  const [program = ""] = process.argv.slice(1)
  // Its input ends with this process, however that ends.
  return spawn(process.execPath, [...process.execArgv, program, ...args], {
    stdio: ["pipe", "ignore", "inherit"],
  })
}

const ended = (child: ChildProcess): Promise<void> =>
  new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once("exit", () => resolve())
    child.once("error", () => resolve())
  })

const stop = async (child: ChildProcess): Promise<void> => {
  child.stdin?.end()
  const killing = setTimeout(() => child.kill("SIGKILL"), patience)
  await ended(child)
  clearTimeout(killing)
}

/** Starts so many workers; answers an effect that fails when none of them is left. They end with the scope. */
export const workers = (
  count: number,
  args: ReadonlyArray<string>,
): Effect.Effect<Effect.Effect<never, NoWorkers>, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.sync(() => Array.from({ length: count }, () => begun(args))),
      (children) => Effect.promise(() => Promise.all(children.map(stop))),
    ),
    (children) =>
      Effect.zipRight(
        Effect.promise(() => Promise.all(children.map(ended))),
        new NoWorkers({
          message:
            "All workers have ended; their messages above say why. Nothing is half-written: run it again.",
        }),
      ),
  )
