/** The program as a person runs it: compiled, each command a process with nothing but given variables. */
import { type ChildProcess, spawn } from "node:child_process"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Effect, type Scope } from "effect"
import { commonVariables, compiled } from "../support/Compiled.ts"

export interface Finished {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

export interface Program {
  /** Where the commands run: a folder of their own. */
  readonly cwd: string
  /** What to start node with. */
  readonly main: string
  /** `began` gets the process while it runs. */
  readonly run: (
    args: ReadonlyArray<string>,
    variables?: Readonly<Record<string, string>>,
    began?: (child: ChildProcess) => void,
  ) => Effect.Effect<Finished>
}

const command = (cwd: string, main: string): Program["run"] => {
  return (args, variables = {}, began = () => {}) =>
    Effect.async<Finished>((resume) => {
      const child = spawn(process.execPath, [main, ...args], {
        cwd,
        env: { ...commonVariables(), ...variables },
        stdio: ["ignore", "pipe", "pipe"],
      })
      let out = ""
      let error = ""
      child.stdout.setEncoding("utf8").on("data", (text: string) => {
        out += text
      })
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        error += text
      })
      child.once("close", (code) => resume(Effect.succeed({ code, out, error })))
      began(child)
      return Effect.sync(() => child.kill("SIGKILL"))
    })
}

export const program: Effect.Effect<Program, never, Scope.Scope> = Effect.gen(function* () {
  const cwd = yield* Effect.acquireRelease(
    Effect.promise(() => mkdtemp(join(tmpdir(), "tieout-program-"))),
    (made) => Effect.promise(() => rm(made, { recursive: true, force: true })),
  )
  const main = compiled("bin/tieout.js")
  return { cwd, main, run: command(cwd, main) }
})
