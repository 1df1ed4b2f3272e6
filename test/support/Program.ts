/** The program as a person runs it: compiled, in a folder of its own, each command with only the given variables. */
import { type ChildProcess, spawn } from "node:child_process"
import { openSync } from "node:fs"
import { Context, Effect, Layer } from "effect"
import { commonVariables, compiled } from "./Compiled.ts"
import type { Answered, Asked } from "./commandHost.ts"
import { statementVariables } from "./statementFolder.ts"
import { temporaryFolder } from "./TemporaryFolder.ts"

export interface Finished {
  readonly code: number | null
  readonly out: string
  readonly error: string
}

type Variables = Readonly<Record<string, string>>

export interface Program {
  /** Where the commands run. */
  readonly cwd: string
  /** The file with which to start node. */
  readonly main: string
  /** Runs a command in the process that runs all commands of these tests, one after another. */
  readonly run: (args: ReadonlyArray<string>, variables?: Variables) => Effect.Effect<Finished>
  /** The same in another folder. */
  readonly runIn: (cwd: string, args: ReadonlyArray<string>, variables?: Variables) => Effect.Effect<Finished>
  /** Runs a command as a process of its own, to test signals, streams or its end. `began` gets the process while it runs. */
  readonly start: (
    args: ReadonlyArray<string>,
    variables?: Variables,
    began?: (child: ChildProcess) => void,
    /** A file that gets standard output in place of `out`. */
    outTo?: string,
  ) => Effect.Effect<Finished>
}

const asProcess =
  (cwd: string, main: string): Program["start"] =>
  (args, variables = {}, began = () => {}, outTo) =>
    Effect.async<Finished>((resume) => {
      const child = spawn(process.execPath, [main, ...args], {
        cwd,
        env: { ...commonVariables(), ...variables },
        stdio: ["ignore", outTo === undefined ? "pipe" : openSync(outTo, "w"), "pipe"],
      })
      let out = ""
      let error = ""
      child.stdout?.setEncoding("utf8").on("data", (text: string) => {
        out += text
      })
      child.stderr?.setEncoding("utf8").on("data", (text: string) => {
        error += text
      })
      child.once("close", (code) => resume(Effect.succeed({ code, out, error })))
      began(child)
      return Effect.sync(() => child.kill("SIGKILL"))
    })

/** The process that runs commands, and the callers that wait for answers. */
interface Host {
  readonly child: ChildProcess
  readonly waiting: Map<number, (answer: Finished) => void>
}

let present: Host | undefined
let asked = 0

const startHost = (): Host => {
  const child = spawn(process.execPath, [compiled("test/support/commandHost.mjs")], {
    env: { ...commonVariables(), ...statementVariables() },
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  })
  const host: Host = { child, waiting: new Map() }
  child.on("message", ({ id, ...finished }: Answered) => {
    host.waiting.get(id)?.(finished)
    host.waiting.delete(id)
    if (host.waiting.size === 0) child.channel?.unref()
  })
  child.once("exit", (code) => {
    if (present === host) present = undefined
    for (const answer of host.waiting.values())
      answer({ code, out: "", error: "The process that runs commands has ended." })
  })
  child.unref()
  return host
}

const inHost: Program["runIn"] = (cwd, args, variables = {}) =>
  Effect.async<Finished>((resume) => {
    const host = present ?? startHost()
    present = host
    const id = ++asked
    host.waiting.set(id, (answer) => resume(Effect.succeed(answer)))
    host.child.channel?.ref()
    const message: Asked = { id, args, cwd, variables: { ...commonVariables(), ...variables } }
    host.child.send(message)
    // A command that nobody waits for any more would hold up the next one.
    return Effect.sync(() => {
      if (present === host) present = undefined
      host.child.kill("SIGKILL")
    })
  })

/** Started when first asked for; it ends with the process of the tests. */
export const program: Effect.Effect<Program> = Effect.sync(() => {
  const cwd = temporaryFolder()
  const main = compiled("bin/tieout.js")
  return {
    cwd,
    main,
    run: (args, variables) => inHost(cwd, args, variables),
    runIn: inHost,
    start: asProcess(cwd, main),
  }
})

/** The program as a service, for tests that start it once in their layer. */
export class Tool extends Context.Tag("Tool")<Tool, Program>() {
  static readonly layer = Layer.effect(Tool, program)
}

export interface Running {
  readonly child: ChildProcess
  /** What it has logged so far. */
  readonly log: () => string
  /** Its exit code, once it has ended. */
  readonly ended: Promise<number | null>
}

/** Starts a command that goes on by itself, such as `serve`, as a process that ends with the scope. */
export const running = (cwd: string, args: ReadonlyArray<string>, variables: Variables) =>
  Effect.acquireRelease(
    Effect.sync((): Running => {
      const child = spawn(process.execPath, [compiled("bin/tieout.js"), ...args], {
        cwd,
        env: { ...commonVariables(), ...variables },
        stdio: ["ignore", "ignore", "pipe"],
      })
      let log = ""
      child.stderr.setEncoding("utf8").on("data", (text: string) => {
        log += text
      })
      const ended = new Promise<number | null>((resolve) => child.once("close", resolve))
      return { child, ended, log: () => log }
    }),
    ({ child }) => Effect.sync(() => child.kill("SIGKILL")),
  )
