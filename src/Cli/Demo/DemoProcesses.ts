/** The processes of the demo: the sandbox, and a command at a time, as a person would type it. */
import { type ChildProcess, spawn } from "node:child_process"
import { resolve } from "node:path"
import { Data, Effect, type Scope } from "effect"
import { exitCodes } from "../ExitCode.ts"

export class DemoError extends Data.TaggedError("DemoError")<{
  readonly reason: "Step" | "Sandbox"
  readonly message: string
}> {}

export interface Finished {
  readonly code: number
  readonly stdout: string
}

/** What names a person's own database or settings. A secret may stand in a file (`DATABASE_URL_FILE`). */
const ofPerson = /^(?:DATABASE_URL(?:_FILE)?$|TIEOUT_(?!LOG))/

/** The demo's variables: without the person's own settings, credentials or database. */
export const demoVariables = (
  settingsFile: string,
  extra: Readonly<Record<string, string>>,
): NodeJS.ProcessEnv => {
  const own = Object.entries(process.env).filter(([name]) => !ofPerson.test(name))
  return { ...Object.fromEntries(own), TIEOUT_CONFIG: resolve(settingsFile), ...extra }
}

/** `tied`: it learns that this process is gone, however it went. */
const start = (
  args: ReadonlyArray<string>,
  variables: NodeJS.ProcessEnv,
  stdout: "inherit" | "pipe",
  tied: boolean,
): ChildProcess =>
  spawn(process.execPath, [...process.execArgv, process.argv[1] ?? "", ...args], {
    env: variables,
    stdio: ["ignore", stdout, "inherit", ...(tied ? (["ipc"] as const) : [])],
  })

/** Runs a process to its end; passes an interrupt on to it and waits for its end. */
export const run = (args: ReadonlyArray<string>, variables: NodeJS.ProcessEnv, stdout: "inherit" | "pipe") =>
  Effect.async<Finished, DemoError>((resume) => {
    const child = start(args, variables, stdout, false)
    let text = ""
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk
    })
    child.once("error", (cause) =>
      resume(
        new DemoError({
          reason: "Step",
          message: `tieout ${args.join(" ")} did not start: ${cause.message}`,
        }),
      ),
    )
    child.once("close", (code) => resume(Effect.succeed({ code: code ?? exitCodes.failed, stdout: text })))
    return stop(child)
  })

const stop = (child: ChildProcess): Effect.Effect<void> =>
  Effect.async<void>((resume) => {
    if (child.exitCode !== null || child.signalCode !== null) return resume(Effect.void)
    child.once("close", () => resume(Effect.void))
    child.kill("SIGTERM")
  })

const isVariables = (value: unknown): value is Record<string, string> =>
  typeof value === "object" &&
  value !== null &&
  Object.values(value).every((text) => typeof text === "string")

/** Starts the sandbox, which prints its document once it listens, and runs until the scope closes. */
export const startSandbox = (
  variables: NodeJS.ProcessEnv,
): Effect.Effect<Record<string, string>, DemoError, Scope.Scope> =>
  Effect.gen(function* () {
    const child = yield* Effect.acquireRelease(
      Effect.sync(() => start(["sandbox", "--json", "--entries", "2000"], variables, "pipe", true)),
      stop,
    )
    return yield* Effect.async<Record<string, string>, DemoError>((resume) => {
      let text = ""
      child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk
        if (!text.endsWith("}\n")) return
        const document: unknown = JSON.parse(text)
        const variables =
          typeof document === "object" && document !== null ? Reflect.get(document, "variables") : null
        if (isVariables(variables)) resume(Effect.succeed(variables))
      })
      child.once("close", (code) =>
        resume(
          new DemoError({ reason: "Sandbox", message: `The sandbox ended with ${code} before it listened.` }),
        ),
      )
    })
  })
